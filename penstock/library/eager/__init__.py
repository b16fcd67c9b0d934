"""Eager execution: operations run as they are called, and tapes differentiate what ran."""

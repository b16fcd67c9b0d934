"""Strings, element by element."""

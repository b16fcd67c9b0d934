"""Checkpoints: savers, the state file, readers, initialization from files, object-based ones."""

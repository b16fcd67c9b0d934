"""Sessions that train: supervised, hooked, and replaced when a task is lost."""

"""The ``penstock`` command: look at, convert, freeze and explain models and their files."""

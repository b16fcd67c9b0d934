"""The ``penstock`` command: models and their files, and programs run as clusters of tasks."""

"""Where data comes from and waits: files, parsers, queues, tables, datasets."""

"""Variables: the classes, scopes and stores that share them, partitions, initial values."""

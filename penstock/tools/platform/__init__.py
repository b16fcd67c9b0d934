"""The frame of a program: its start, flags and log, its files, versions, and Python 2's strings."""

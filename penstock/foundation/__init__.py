"""What everything stands on: types and errors, the machine, bytes, ops defined, graphs.

In: names, numbers, bytes of files and messages.  Out: op definitions and graphs of them.
"""

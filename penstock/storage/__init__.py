"""What outlives a process: checkpoints, exported graphs and models, summaries.

In: graphs and the values of their variables.  Out: files, and from files the same again.
"""

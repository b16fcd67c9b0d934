"""From a graph to the text of a program: rewritten, placed, partitioned, written.

In: a graph with feeds and fetches.  Out: source text and what it is to be linked to.
"""

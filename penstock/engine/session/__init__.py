"""Sessions: the pipeline from a graph to a running program, and everything around one run."""

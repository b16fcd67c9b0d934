"""AutoGraph: Python's control flow over tensors becomes that of graphs, by rewriting the source."""

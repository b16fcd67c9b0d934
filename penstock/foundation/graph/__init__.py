"""The dataflow graph: nodes, tensors, scopes, and everything that reads or rebuilds them.

Nodes are never mutated once made (the few exceptions that TF's API demands bump
``Graph.mutation_version``); passes rebuild.
"""

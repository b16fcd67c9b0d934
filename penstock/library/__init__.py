"""What graphs are built with above single ops: variables, control flow, gradients, networks.

In: tensors of a graph.  Out: more nodes of it.
"""

"""Datasets at run time: what the variants of dataset nodes are, and the iterators over them."""

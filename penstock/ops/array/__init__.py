"""Tensors made, cast, joined, cut, gathered, reshaped and reordered."""

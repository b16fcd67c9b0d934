"""Ragged tensors: the class, its values and spec, and what functions do with them."""

"""Ragged tensors: rows of different lengths, as values and where the rows begin.

The class has its operators and its spec from the start, whoever loads it.
"""

from penstock.library.ragged_tensors import operators as operators, spec as spec

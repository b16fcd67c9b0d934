"""Arithmetic, comparison, reductions and functions of numbers."""

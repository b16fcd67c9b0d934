"""Small modules that TF1 programs import by path."""

from penstock.python.util import compat, nest

__all__ = ["compat", "nest"]

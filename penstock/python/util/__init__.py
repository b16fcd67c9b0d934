"""Small modules that TF1 programs import by path."""

from penstock.python.util import compat as compat, nest as nest

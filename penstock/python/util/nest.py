"""``from penstock.python.util import nest``."""

from penstock.graph.nest import *  # noqa: F403
from penstock.graph.nest import __all__  # noqa: F401

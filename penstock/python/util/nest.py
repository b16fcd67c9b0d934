"""``from penstock.python.util import nest``."""

from penstock.graph.nest import *  # noqa: F403
from penstock.graph.nest import __all__ as _nest
from penstock.graph.nest_paths import *  # noqa: F403
from penstock.graph.nest_paths import __all__ as _paths

__all__ = [*_nest, *_paths]  # noqa: PLE0604

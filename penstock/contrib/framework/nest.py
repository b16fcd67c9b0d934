"""``tf.contrib.framework.nest``: nestings."""

from penstock.foundation.graph.nest import *  # noqa: F403
from penstock.foundation.graph.nest import __all__ as _nest
from penstock.foundation.graph.nest_paths import *  # noqa: F403
from penstock.foundation.graph.nest_paths import __all__ as _paths

__all__ = [*_nest, *_paths]  # noqa: PLE0604

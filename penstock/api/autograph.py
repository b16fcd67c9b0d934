"""``tf.autograph``: Python's control flow over tensors; explicit re-exports, no logic."""

from penstock.api import autograph_experimental as experimental
from penstock.library.autograph.public import (
    set_verbosity as set_verbosity,
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)

__all__ = ["experimental", "set_verbosity", "to_code", "to_graph", "trace"]

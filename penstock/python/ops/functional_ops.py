"""``from penstock.python.ops import functional_ops``."""

from penstock.control_flow.functional import foldl, foldr, map_fn, scan

__all__ = ["foldl", "foldr", "map_fn", "scan"]

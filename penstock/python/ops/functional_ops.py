"""``from penstock.python.ops import functional_ops``."""

from penstock.control_flow.functional import (
    foldl as foldl,
    foldr as foldr,
    map_fn as map_fn,
    scan as scan,
)

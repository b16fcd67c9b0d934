"""``state_ops.init_variable``: what gave variables their first value before initializers did."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes


def init_variable(v: Any, init: Any, name: str = "init") -> Any:
    """The operation that gives a variable its first value.

    Args:
      v: a variable.
      init: the value, or a function that makes it from ``shape`` and ``dtype``, as initializers do.
      name: of the node, in a scope named like the variable's node.
    """
    with scopes.name_scope(None, f"{v.op.name}/", [v, init]), scopes.name_scope(name) as scope:
        with scopes.colocate_with(v):
            value = init(v.get_shape().as_list(), v.dtype.base_dtype) if callable(init) else init
            return v.assign(value, name=scope)

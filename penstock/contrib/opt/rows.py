"""Updates of some rows of a variable, be it a reference or a resource."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.scopes import control_dependencies
from penstock.library.variables.resource_variable import ResourceVariable


def scatter(kind: str, var: Any, indices: Any, rows: Any, use_locking: bool = False) -> Any:
    """Changes rows of a variable and returns its new value.

    Args:
      kind: ``"Add"``, ``"Sub"`` or ``"Update"``.
      var: the variable.
      indices: which rows.
      rows: what they are changed by.
      use_locking: whether the update takes the variable's lock.
    """
    if isinstance(var, ResourceVariable):
        with control_dependencies([make(f"ResourceScatter{kind}", var, indices, rows)]):
            return var.value()
    return make(f"Scatter{kind}", var, indices, rows, use_locking=use_locking)

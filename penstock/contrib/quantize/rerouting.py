"""Giving the consumers of a tensor another, and the count of steps of fake quantization."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.scopes import get_default_graph, name_scope
from penstock.library.variables.getting import get_variable
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.ops.control.control import identity

_STEP = "fake_quantization_step"


def reroute(new: Any, old: Any, consumers: Collection[Any] | None = None) -> int:
    """Puts ``new`` where ``old`` is an input.

    Args:
      new, old: tensors.
      consumers: the ops that may change; default all.

    Returns:
      How many inputs have changed.

    Raises:
      InvalidArgumentError: the shapes do not go together.
    """
    if not new.get_shape().is_compatible_with(old.get_shape()):
        raise errors.InvalidArgumentError(
            None, None,
            f"Cannot update edge, incompatible shapes: {new.get_shape()} and {old.get_shape()}.",
        )  # fmt: skip
    changed = 0
    for op in old.consumers():
        if consumers is not None and op not in consumers:
            continue
        for index, tensor in enumerate(op.inputs):
            if tensor is old:
                op._update_input(index, new)
                changed += 1
    return changed


def quantization_step() -> Any:
    """The number of this step, counted by reading it; made once a graph."""
    graph = get_default_graph()
    try:
        return graph.get_tensor_by_name(f"{_STEP}/Identity:0")
    except KeyError:
        pass
    with name_scope(None):
        with variable_scope(get_variable_scope(), reuse=False, auxiliary_name_scope=False):
            step = get_variable(
                _STEP, [], dtypes.int64, zeros_initializer(), trainable=False
            )  # fmt: skip
        with name_scope(f"{_STEP}/"):
            return identity(step.assign_add(1))

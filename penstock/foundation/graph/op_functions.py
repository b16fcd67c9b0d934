"""An op type as a function: its inputs in their order, then the attrs not determined by them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.opdef.opdef import REQUIRED, OpDef
from penstock.foundation.opdef.registry import all_ops

# Where TensorFlow's function has an argument by another name than the op.
_RENAMED: dict[str, dict[str, str]] = {
    **dict.fromkeys(
        ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum"),
        {"reduction_indices": "axis"},
    ),
    "ExpandDims": {"dim": "axis"},
    "Select": {"t": "x", "e": "y"},
    "Split": {"split_dim": "axis"},
    "SplitV": {"split_dim": "axis"},
    "Squeeze": {"squeeze_dims": "axis"},
    "Where": {"input": "condition"},
}


def _signature(op: OpDef) -> Signature:
    """Attrs that have a default stand behind the others."""
    renamed = _RENAMED.get(op.name, {})
    either = Parameter.POSITIONAL_OR_KEYWORD
    free = [a for a in op.attrs.values() if a.name not in op.inferred_attrs]
    needed = [a.name for a in free if a.default is REQUIRED]
    inputs = [each.name for each in op.inputs]
    return Signature([
        *(Parameter(renamed.get(name, name), either) for name in [*inputs, *needed]),
        *(
            Parameter(renamed.get(a.name, a.name), either, default=a.default)
            for a in free
            if a.default is not REQUIRED
        ),
        Parameter("name", either, default=None),
    ])  # fmt: skip


@cache
def op_function(op_type: str, name: str) -> Callable[..., Any]:
    """The function that adds a node of an op type.

    Args:
      op_type: a registered op type.
      name: what the function is called.
    """
    op = all_ops()[op_type]
    signature = _signature(op)
    own = {new: old for old, new in _RENAMED.get(op_type, {}).items()}

    def function(*args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs).arguments
        given = {own.get(name, name): value for name, value in bound.items()}
        inputs = [given.pop(each.name) for each in op.inputs]
        attrs = {name: value for name, value in given.items() if value is not None}
        return make(op_type, *inputs, **attrs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Adds a node of the op type {op_type}."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function

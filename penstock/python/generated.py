"""A function for every op type, named like TensorFlow's: ``gen_nn_ops.max_pool_grad``.

The op's definition is the function: its inputs in their order, then the attrs that the inputs do
not determine, those that have a default behind the others. One module serves all the paths of
``gen_*_ops``; names that began with an underscore in older versions are found with and without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from penstock.foundation.base.missing import close_to, missing_attribute
from penstock.foundation.graph.build import make
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.registry import all_ops
from penstock.foundation.opdef.signature import REQUIRED

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])")


def _snake(op_type: str) -> str:
    """``max_pool3d_grad`` of ``MaxPool3DGrad``."""
    return _WORDS.sub("_", op_type).lower()


@cache
def _types() -> dict[str, str]:
    """From functions' names to op types."""
    return {_snake(name): name for name, op in all_ops().items() if not op.internal}


def _signature(op: OpDef) -> Signature:
    either = Parameter.POSITIONAL_OR_KEYWORD
    free = [a for a in op.attrs.values() if a.name not in op.inferred_attrs]
    needed = [a.name for a in free if a.default is REQUIRED]
    return Signature([
        *(Parameter(name, either) for name in [*(i.name for i in op.inputs), *needed]),
        *(Parameter(a.name, either, default=a.default) for a in free if a.default is not REQUIRED),
        Parameter("name", either, default=None),
    ])  # fmt: skip


@cache
def _function(op_type: str) -> Callable[..., Any]:
    op = all_ops()[op_type]
    signature = _signature(op)

    def function(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        inputs = [given.pop(each.name) for each in op.inputs]
        attrs = {name: value for name, value in given.items() if value is not None}
        return make(op_type, *inputs, **attrs)

    function.__name__ = function.__qualname__ = _snake(op_type)
    function.__doc__ = f"Adds a node of the op type {op_type}."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


def __getattr__(name: str) -> Any:
    found = _types().get(name) or _types().get(name.removeprefix("_"))
    if found is None or name.startswith("__"):
        near = close_to(name, _types())
        hint = f"; the nearest names are {', '.join(near)}" if near else ""
        raise missing_attribute(f"no op type has a function {name!r}{hint}")
    return _function(found)


def __dir__() -> list[str]:
    return sorted(_types())

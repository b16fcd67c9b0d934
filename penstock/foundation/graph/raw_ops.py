"""``tf.raw_ops``: each op type as a function of its name, which takes keywords only."""

from __future__ import annotations

import typing as _typing  # ``Any`` is an op type
from collections.abc import Callable
from functools import cache

from penstock.foundation.base.missing import close_to, missing_attribute
from penstock.foundation.graph.op_functions import op_function
from penstock.foundation.opdef.registry import all_ops


@cache
def _by_keywords(op_type: str) -> Callable[..., _typing.Any]:
    function = op_function(op_type, op_type)
    signature = function.__signature__  # type: ignore[attr-defined]

    def raw(*args: _typing.Any, **kwargs: _typing.Any) -> _typing.Any:
        if args:
            raise TypeError(
                f"{op_type} only takes keyword args (possible keys: {list(signature.parameters)})."
                " Please pass these args as kwargs instead."
            )
        return function(**kwargs)

    raw.__name__ = raw.__qualname__ = op_type
    raw.__doc__ = function.__doc__
    raw.__signature__ = signature  # type: ignore[attr-defined]
    return raw


def _public() -> set[str]:
    return {n for n, op in all_ops().items() if not op.internal and not n.startswith("_")}


def __getattr__(name: str) -> _typing.Any:
    if name.startswith("_") or name not in _public():
        near = close_to(name, __dir__())
        hint = f"; the nearest names are {', '.join(near)}" if near else ""
        raise missing_attribute(f"module 'raw_ops' has no op type {name!r}{hint}")
    return _by_keywords(name)


def __dir__() -> list[str]:
    return sorted(_public())

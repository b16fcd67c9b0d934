"""A function for every op type, named like TensorFlow's: ``gen_nn_ops.max_pool_grad``.

The op's definition is the function: its inputs in their order, then the attrs that the inputs do
not determine, those that have a default behind the others. One module serves all the paths of
``gen_*_ops``; names that began with an underscore in older versions are found with and without it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from penstock.foundation.base.missing import close_to, missing_attribute
from penstock.foundation.graph.op_functions import op_function
from penstock.foundation.opdef.registry import all_ops

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<!^)(?=[A-Z][a-z])")


def _snake(op_type: str) -> str:
    """``max_pool3d_grad`` of ``MaxPool3DGrad``."""
    return _WORDS.sub("_", op_type).lower()


@cache
def _types() -> dict[str, str]:
    """From functions' names to op types."""
    return {_snake(name): name for name, op in all_ops().items() if not op.internal}


def __getattr__(name: str) -> Any:
    found = _types().get(name) or _types().get(name.removeprefix("_"))
    if found is None or name.startswith("__"):
        near = close_to(name, _types())
        hint = f"; the nearest names are {', '.join(near)}" if near else ""
        raise missing_attribute(f"no op type has a function {name!r}{hint}")
    return op_function(found, _snake(found))


def __dir__() -> list[str]:
    return sorted(_types())

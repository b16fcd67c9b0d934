"""Functions that datasets call: traced once, over the components of an element.

Python's control flow over tensors in them is converted (``tf.autograph``), as in TensorFlow.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from penstock.foundation.graph.function import FunctionGraph, trace
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autograph.operators import attempt
from penstock.training.data import specs


class Mapped:
    """A Python function as a node of a dataset takes it.

    Args:
      function: of the element (of its parts, where it is a tuple).
      structure: nesting of specs of what it takes.
      asker: the transformation, for names and messages: ``"Dataset.map()"``.
      several: the arguments' structures stand side by side, as of ``reduce``: (state, element).

    State: ``graph`` its body; ``structure`` of what it returns; ``captured`` the outer tensors to
    pass after the components.
    """

    def __init__(
        self, function: Callable[..., Any], structure: Any, asker: str, several: bool = False
    ) -> None:
        if not callable(function):
            raise TypeError(f"{asker} takes a function; found {function!r}")
        converted = attempt(function)
        parts = structure if several or _spreads(structure) else (structure,)
        types = []
        for number, part in enumerate(parts):
            for dtype, shape in zip(specs.flat_types(part), specs.flat_shapes(part), strict=True):
                types.append((dtype, shape.sizes, f"args_{number}"))
        self.structure: Any = None

        def body(arguments: list[Tensor]) -> list[Tensor]:
            whole = specs.from_flat(tuple(parts), arguments)
            returned = converted(*whole)
            if isinstance(returned, list):
                # What a py_func of several outputs gives: parts, not one tensor.
                returned = tuple(returned)
            value = _converted(returned, asker)
            self.structure = specs.spec_of(value)
            return specs.to_flat(self.structure, value)

        self.graph: FunctionGraph = trace(_name(function, asker), types, body)
        self.captured = self.graph.captured_outer


def _spreads(structure: Any) -> bool:
    return isinstance(structure, tuple) and not hasattr(structure, "_fields")


def _name(function: Callable[..., Any], asker: str) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    own = getattr(function, "__name__", type(function).__name__)
    return re.sub(r"[^A-Za-z0-9_<>]", "_", f"__inference_{asker.removesuffix('()')}_{own}")


def _converted(value: Any, asker: str) -> Any:
    flat = specs.flatten(value)
    try:
        return specs.pack(value, [specs.leaf(v, "Const") for v in flat])
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Unsupported return value from function passed to {asker}: {value!r}. {error}"
        ) from error

"""What objects of a SavedModel are once they are loaded: plain objects with their attributes.

A loaded function picks, among the concrete functions that were saved, the one that the arguments
of a call fit.  Nothing of the file is code: the functions are graphs.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.keys import GraphKeys
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.eager.concrete import ConcreteFunction
from penstock.library.variables.auto_trackable import AutoTrackable
from penstock.library.variables.variable import Variable

_PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class UserObject(AutoTrackable):
    """An object of a class that is not known here, with its variables, functions and parts."""


class CallableObject(UserObject):
    """A ``UserObject`` that can be called, by the function ``__call__`` that was saved with it."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function ``__call__``."""
        return vars(self)["__call__"](*args, **kwargs)


class RestoredResource(UserObject):
    """A table or its like, made by the functions that were saved with it."""

    def __init__(self) -> None:
        self.resource_handle: Any = None

    def create(self, body: FunctionGraph) -> None:
        """Makes the resource as a function's graph makes it."""
        (result,) = body.outputs
        while result.op.op_def.role == "identity":
            result = result.op.inputs[0]
        made = result.op
        if made.op_def.state is None:
            raise ValueError(f"function {body.name!r} makes no resource")
        attrs = {name: made.attrs[name] for name in made.op_def.attrs if name in made.attrs}
        self.resource_handle = make(made.type, name=made.name, **attrs)

    def initialize(self) -> None:
        """Fills it; in graph mode the table's initializer does."""
        done = vars(self)["_initialize"]()
        graph = get_default_graph()
        if not graph.executes:
            graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, done.op)


class RestoredFunction:
    """A function of a SavedModel.

    Args:
      name: for errors.
      concrete: the concrete functions that it has.
      signature: what the Python function took, without its object.
      input_signature: what it was declared with, or None.
    """

    ag__left = True

    def __init__(
        self,
        name: str,
        concrete: Sequence[ConcreteFunction],
        signature: inspect.Signature,
        input_signature: Any = None,
    ) -> None:
        self.__name__ = name
        self._concrete, self._signature = list(concrete), signature
        self.input_signature = input_signature

    def concrete_functions(self) -> list[ConcreteFunction]:
        """The concrete functions that it has."""
        return list(self._concrete)

    def python_signature(self) -> inspect.Signature:
        """What the Python function took."""
        return self._signature

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the concrete function that the arguments fit.

        Raises:
          TypeError: the function takes other arguments.
          ValueError: no concrete function fits.
        """
        given = self._canonical(args, kwargs)
        found, flat = self._fitting(given)
        return found.call_flat(flat)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The concrete function that the arguments, or specs in their places, fit.

        Raises:
          ValueError: none fits.
        """
        if not args and not kwargs and self.input_signature is not None:
            return self._concrete[0]
        return self._fitting(self._canonical(args, kwargs))[0]

    def _canonical(self, args: Any, kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        placed: list[Any] = []
        named: dict[str, Any] = {}
        for name, parameter in self._signature.parameters.items():
            value = bound.arguments[name]
            if parameter.kind in _PLACES:
                placed.append(value)
            elif parameter.kind is parameter.VAR_POSITIONAL:
                placed += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                named |= value
            else:
                named[name] = value
        return tuple(placed), named

    def _fitting(self, given: Any) -> tuple[ConcreteFunction, list[Any]]:
        for convert in (False, True):
            for concrete in self._concrete:
                flat = _tensors(concrete.structured_input_signature, given, convert)
                if flat is not None:
                    return concrete, flat
        options = "\n\n".join(
            f"Option {i + 1}:\n  {c.structured_input_signature}"
            for i, c in enumerate(self._concrete)
        )
        raise ValueError(
            "Could not find matching function to call loaded from the SavedModel. Got:\n"
            f"  Positional arguments ({len(given[0])} total): {given[0]}\n"
            f"  Keyword arguments: {given[1]}\n\nExpected these arguments to match one of the"
            f" following {len(self._concrete)} option(s):\n\n{options}"
        )


def _tensors(wanted: Any, given: Any, convert: bool) -> list[Any] | None:
    """The tensors among arguments that fit a signature; None where they do not."""
    found: list[Any] = []
    return found if _fits(wanted, given, convert, found) else None


def _fits(wanted: Any, given: Any, convert: bool, found: list[Any]) -> bool:
    if isinstance(wanted, TensorSpec):
        tensor = _as_tensor(given, wanted, convert)
        found.append(tensor)
        return tensor is not None
    if isinstance(wanted, dict):
        if not isinstance(given, dict) or sorted(wanted) != sorted(given):
            return False
        return all(_fits(wanted[k], given[k], convert, found) for k in sorted(wanted))
    if isinstance(wanted, list | tuple):
        if not isinstance(given, list | tuple) or len(wanted) != len(given):
            return False
        return all(_fits(w, g, convert, found) for w, g in zip(wanted, given, strict=True))
    if isinstance(given, Tensor | np.ndarray) or nest.is_nested(given):
        return False
    return type(given) is type(wanted) and bool(given == wanted)


def _as_tensor(value: Any, spec: Any, convert: bool) -> Any:
    if isinstance(value, TensorSpec):
        fits = value.dtype is spec.dtype and spec.shape.is_compatible_with(value.shape)
        return value if fits else None
    if not isinstance(value, Tensor):
        if not convert and not isinstance(value, np.ndarray | Variable):
            return None
        if value is None or isinstance(value, bool) != (spec.dtype.name == "bool"):
            return None
        try:
            value = convert_to_tensor(value, None if isinstance(value, Variable) else spec.dtype)
        except (TypeError, ValueError):
            return None
    if value.dtype.base_dtype is not spec.dtype:
        return None
    return value if spec.shape.is_compatible_with(value.shape) else None

"""``input_signature``: what a traced function takes, whatever it is called with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.type_spec import TensorSpec


class Signature:
    """The tensors that a function takes.

    Args:
      specs: a nesting of ``TensorSpec``, one each argument.
      function: the function.

    Raises:
      TypeError: something else than ``TensorSpec`` is among the specs.
      ValueError: the function takes keyword arguments that cannot be given by place.
    """

    def __init__(self, specs: Sequence[Any], function: Callable[..., Any]) -> None:
        if not isinstance(specs, list | tuple):
            raise TypeError(
                "input_signature must be either a tuple or a list, received " + str(type(specs))
            )
        self.specs: list[TensorSpec] = nest.flatten(list(specs))
        for spec in self.specs:
            if not isinstance(spec, TensorSpec):
                raise TypeError(
                    "Invalid input_signature "
                    f"{specs}; input_signature must be a possibly nested sequence of TensorSpec"
                    f" objects; found {spec!r}"
                )
        self._nested, self._function = list(specs), function
        self._names = list(inspect.signature(function).parameters)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call by place, as tensors.

        Raises:
          TypeError: there are others than the signature has.
          ValueError: one does not fit its spec.
        """
        given = [*args, *(kwargs[n] for n in self._names[len(args) :] if n in kwargs)]
        if len(given) != len(self._nested):
            raise TypeError(
                f"{getattr(self._function, '__name__', 'function')} takes {len(self._nested)}"
                f" positional arguments (as specified by the input_signature) but {len(given)}"
                " were given"
            )
        flat = _flat_like(self._nested, given)
        if len(flat) != len(self.specs):
            raise ValueError(
                "Structure of Python function inputs does not match input_signature: inputs"
                f" {given}, signature {self._nested}"
            )
        tensors = [self._fitted(v, spec) for v, spec in zip(flat, self.specs, strict=True)]
        return tuple(nest.pack_sequence_as(self._nested, tensors))

    def specified(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The specs of the arguments, nested; what is given besides must fit them.

        Raises:
          ValueError: an argument does not fit its spec.
        """
        given = [*args, *(kwargs[n] for n in self._names[len(args) :] if n in kwargs)]
        for value, spec in zip(_flat_like(self._nested, given), self.specs, strict=False):
            if not spec.is_compatible_with(value):
                raise ValueError(
                    "Structure of Python function inputs does not match input_signature: inputs"
                    f" {given}, signature {self._nested}"
                )
        return tuple(self._nested)

    def _fitted(self, value: Any, spec: TensorSpec) -> Any:
        tensor = convert_to_tensor(value, spec.dtype if not hasattr(value, "dtype") else None)
        if not spec.is_compatible_with(tensor):
            raise ValueError(
                "Python inputs incompatible with input_signature: "
                f"inputs: {tensor!r}, input_signature: {spec!r}"
            )
        return tensor


def _flat_like(nested: Any, given: Any) -> list[Any]:
    """The values in the places of the specs; a list where a spec stands is one value."""
    if isinstance(nested, TensorSpec):
        return [given]
    if isinstance(nested, dict) and isinstance(given, dict):
        return [v for k in sorted(nested) for v in _flat_like(nested[k], given.get(k))]
    if isinstance(nested, list | tuple) and isinstance(given, list | tuple):
        pairs = zip(nested, given, strict=False) if len(nested) == len(given) else ()
        return [v for one, value in pairs for v in _flat_like(one, value)]
    return []

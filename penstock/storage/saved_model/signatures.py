"""The signatures of an object that is saved: functions from named tensors to named tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.graph.type_spec import TensorSpec
from penstock.library.eager.concrete import ConcreteFunction, concrete
from penstock.storage.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY


class SignatureMap(Mapping[str, Any]):
    """The signatures of an object, by their keys; read only."""

    def __init__(self, signatures: Mapping[str, Any] | None = None) -> None:
        self._signatures = dict(signatures or {})

    @property
    def _checkpoint_dependencies(self) -> list[tuple[str, Any]]:
        return []

    def fill(self, signatures: Mapping[str, Any]) -> None:
        """Gives a map that was just made its signatures."""
        self._signatures.update(signatures)

    def __getitem__(self, key: str) -> Any:
        return self._signatures[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._signatures)

    def __len__(self) -> int:
        return len(self._signatures)

    def __repr__(self) -> str:
        return f"_SignatureMap({self._signatures})"


def default_signature(functions: Mapping[str, Any]) -> Any:
    """The function that is the signature where none is given: the only one that can be."""
    if "_default_save_signature" in functions:
        return functions["_default_save_signature"]
    possible = [f for f in functions.values() if _usable(f)]
    return possible[0] if len(possible) == 1 else None


def _usable(function: Any) -> bool:
    found = _concrete_of(function)
    if found is None:
        return False
    try:
        _named_results(found.structured_outputs, found.label, "default")
    except ValueError:
        return False
    return True


def _concrete_of(function: Any) -> ConcreteFunction | None:
    """The only concrete function that a function is, or has by its input signature."""
    if isinstance(function, ConcreteFunction):
        return function
    if getattr(function, "input_signature", None) is None:
        return None
    found: ConcreteFunction = function.get_concrete_function()
    return found


def canonical_signatures(signatures: Any) -> dict[str, ConcreteFunction]:
    """What a caller gives as signatures: for each key, a function of named tensors.

    Raises:
      ValueError: a signature is no function of tensors, has no input signature, or gives something
        else than tensors.
    """
    if signatures is None:
        return {}
    if not isinstance(signatures, Mapping):
        signatures = {DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    return {key: _wrapped(key, signatures[key]) for key in sorted(signatures)}


def _wrapped(key: str, function: Any) -> ConcreteFunction:
    found = _concrete_of(function) if _is_function(function) else None
    if found is None:
        raise ValueError(
            f"Expected a TensorFlow function to generate a signature for, but got {function}. Only"
            " `tf.functions` with an input signature or concrete functions can be used as a"
            " signature."
        )
    used = found
    specs = dict(zip(used.argument_names, _specs(used), strict=True))
    signature = {
        name: TensorSpec(specs[name].shape, specs[name].dtype, name) for name in sorted(specs)
    }

    def signature_wrapper(**inputs: Any) -> dict[str, Any]:
        return _named_results(
            used.call_flat([inputs[n] for n in used.argument_names]), used.label, key
        )

    return concrete(
        "signature_wrapper", signature_wrapper, ((), signature), list(signature),
        len(signature) if len(signature) == 1 else 0,
    )  # fmt: skip


def _is_function(function: Any) -> bool:
    return isinstance(function, ConcreteFunction) or hasattr(function, "get_concrete_function")


def _specs(function: ConcreteFunction) -> list[Any]:
    flat = nest.flatten(function.structured_input_signature)
    return [part for part in flat if isinstance(part, TensorSpec)]


def _named_results(results: Any, name: str, key: str) -> dict[str, Any]:
    """The results of a signature by name.

    Raises:
      ValueError: they are no flat dict of tensors, nor tensors.
    """
    if isinstance(results, Mapping):
        wrong = [each for each in results if not isinstance(each, str)]
        if wrong:
            raise ValueError(
                f"Got non-string key {wrong[0]!r} in the outputs of the function {name!r} used to"
                f" generate the SavedModel signature {key!r}"
            )
        named = dict(results)
    else:
        named = {f"output_{i}": each for i, each in enumerate(nest.flatten([results]))}
    for output, value in named.items():
        if not isinstance(value, Tensor):
            raise ValueError(
                f"Got a non-Tensor value {value!r} for key {output!r} in the output of the"
                f" function {name} used to generate the SavedModel signature {key!r}. Outputs for"
                " functions used as signatures must be a single Tensor, a sequence of Tensors, or"
                " a dictionary from string to Tensor."
            )
    return named

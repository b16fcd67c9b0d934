"""Nests of fetches: sequences, mappings, objects with attrs, what stands for several tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

Assemble = Callable[[Sequence[Any]], Any]


class Nests:
    """What is fetched in sequences, mappings and composites; a base class of ``FetchPlan``."""

    _path: list[str]

    if TYPE_CHECKING:

        def _handler(self, fetch: Any) -> Assemble: ...

    def _was_run(self, fetch: Any) -> str:
        """What has gone wrong where a value stands in the place of its tensor."""
        if not isinstance(fetch, np.ndarray | np.generic | int | float):
            return ""
        return (
            f"; {''.join(self._path)} is a value, as a run returns it: after `loss ="
            " sess.run(loss)` the name stands for the number, no longer for the tensor"
        )

    def _part(self, key: Any, fetch: Any) -> Assemble:
        """What is at a place of a sequence or mapping."""
        self._path.append(key if isinstance(key, str) else f"[{key}]")
        part = self._handler(fetch)
        self._path.pop()
        return part

    def _sequence(self, fetch: Any) -> Assemble:
        parts = [self._part(index, item) for index, item in enumerate(fetch)]
        if hasattr(fetch, "_fields"):
            kind = type(fetch)
            return lambda values: kind(*[part(values) for part in parts])
        if isinstance(fetch, tuple):
            return lambda values: tuple([part(values) for part in parts])
        return lambda values: [part(values) for part in parts]

    def _mapping(self, fetch: Mapping[Any, Any]) -> Assemble:
        parts = {key: self._part(f"[{key!r}]", item) for key, item in fetch.items()}
        kind = type(fetch)
        if kind is dict:
            return lambda values: {key: part(values) for key, part in parts.items()}

        def assemble(values: Sequence[Any]) -> Any:
            result: Any = kind()
            for key, part in parts.items():
                result[key] = part(values)
            return result

        return assemble

    def _attrs(self, fetch: Any) -> Assemble:
        names = [a.name for a in type(fetch).__attrs_attrs__]
        parts = [self._part(f".{name}", getattr(fetch, name)) for name in names]
        kind = type(fetch)
        return lambda values: kind(*[part(values) for part in parts])

    def _expanded(self, fetch: Any, expand: Callable[[Any], Any]) -> Assemble:
        elements, contract = expand(fetch)
        parts = [self._handler(element) for element in elements]
        return lambda values: contract([part(values) for part in parts])

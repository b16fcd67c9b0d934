"""``tensor[...]`` of integers and slices: the bounds and masks of each key are worked out once.

State: of keys that were used, the constants and masks of their ``StridedSlice``.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import get_default_graph
from penstock.foundation.graph.tensor import Tensor
from penstock.library.eager.tensor import EagerTensor

_MOST_KEYS = 1 << 12
_known: dict[Any, tuple[tuple[Any, Any, Any], dict[str, int]]] = {}


def getitem(tensor: Any, key: Any) -> Any:
    """The part of a tensor that a key names; see ``ops.array.slicing.getitem``."""
    graph: Any = get_default_graph()
    if not graph.executes:
        return _usual(tensor, key)
    text = _key_of(key)
    if text is None:
        return _usual(tensor, key)
    found = _known.get(text)
    if found is None:
        if len(_known) > _MOST_KEYS:
            _known.clear()
        found = _known[text] = _bounds(text)
    begin_end_strides, masks = found
    return graph.execute("StridedSlice", (tensor, *begin_end_strides), None, masks)


def _usual(tensor: Any, key: Any) -> Any:
    return Tensor.__getitem__(tensor, key)


def _key_of(key: Any) -> Any:
    """A key of integers and slices of integers as what can be looked up; else None."""
    if type(key) is int:
        return (key,)
    terms = key if type(key) is tuple else (key,)
    if not terms:
        return None
    found: list[Any] = []
    for term in terms:
        if type(term) is int:
            found.append(term)
        elif type(term) is slice:
            parts = (term.start, term.stop, term.step)
            if any(p is not None and type(p) is not int for p in parts):
                return None
            found.append(parts)
        else:
            return None
    return tuple(found)


def _bounds(terms: tuple[Any, ...]) -> tuple[tuple[Any, Any, Any], dict[str, int]]:
    masks = dict.fromkeys(
        ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
    )
    rows: list[tuple[int, int, int]] = []
    for index, term in enumerate(terms):
        bit = 1 << index
        if type(term) is int:
            masks["shrink_axis_mask"] |= bit
            rows.append((term, term + 1, 1))
            continue
        start, stop, step = term
        masks["begin_mask"] |= bit if start is None else 0
        masks["end_mask"] |= bit if stop is None else 0
        rows.append((start or 0, stop or 0, 1 if step is None else step))
    columns = [convert_to_tensor(list(c), dtypes.int32) for c in zip(*rows, strict=True)]
    return (columns[0], columns[1], columns[2]), masks


def install() -> None:
    """Puts it on the class."""
    EagerTensor.__getitem__ = getitem  # type: ignore[method-assign]

"""Which of a stretch's numbers are indices, and what they must be less than.

A native call cannot say that an index is out of range: it has no lines, and no C++ may raise in a
loop that threads share.  So what is an index is looked at before the call.  While a stretch is
traced, each tensor of whole numbers that only moves what the stretch is given (a view, a part, a
copy, several in a row) is known as that.  What picks or sets by such an index is compiled, and the
limit is noted for what was given; by any other it stays a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from penstock.engine.native.tracing import INDEXING, Refused

# Operators whose results consist of numbers of their arguments.
_MOVES = frozenset("""
    alias as_strided cat clone detach expand flip lift_fresh_copy permute repeat reshape roll select
    slice split split_with_sizes squeeze stack t transpose unbind unsqueeze view _reshape_alias
    _to_copy _unsafe_view
""".split())  # fmt: skip
_WHOLE = (torch.int32, torch.int64)


class Indices(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees by which tensors operators pick rows and elements.

    Args:
      given: what the stretch is given, and constants, by name.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        # Tensors, which have to live for their ids to be theirs, and whose numbers they have.
        self._known: dict[int, tuple[Any, frozenset[str]]] = {}
        for name, tensor in given.items():
            if tensor.dtype in _WHOLE:
                self._known[id(tensor)] = tensor, frozenset([name])
        # What the numbers of what is given must be less than, by name.
        self.limits: dict[str, int] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        whole, _, overload = func.name().partition(".")
        name = whole.partition("::")[2]
        if name in INDEXING:
            self._note(func, INDEXING[name](args))
        result = func(*args, **(kwargs or {}))
        if torch._C._get_schema(whole, overload).is_mutable:
            self._forget(args[0])
        elif name in _MOVES:
            sources = [self._known.get(id(tensor)) for tensor in _tensors(args)]
            if all(sources):
                names = frozenset().union(*(each[1] for each in sources if each))
                for tensor in _tensors((result,)):
                    if tensor.dtype in _WHOLE:
                        self._known[id(tensor)] = tensor, names
        return result

    def _note(self, func: Any, asked: tuple[Any, int]) -> None:
        index, limit = asked
        if not index.numel():
            return
        _, names = self._known.get(id(index), (None, ()))
        if not names:
            raise Refused(f"{func} by an index that is computed")
        for name in names:
            self.limits[name] = min(limit, self.limits.get(name, limit))

    def _forget(self, written: Any) -> None:
        """What lies in memory that is written may have any numbers from now on."""
        for key, (tensor, _) in list(self._known.items()):
            if torch._C._is_alias_of(tensor, written):  # type: ignore[attr-defined]
                del self._known[key]


def _tensors(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors(value)

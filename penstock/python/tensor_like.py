"""``ops._TensorLike``, of which packages ask whether something stands for a tensor's values."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.tensor import Tensor

_KINDS = (Tensor, SparseTensor, IndexedSlices)


class _Asked(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, _KINDS)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return subclass is cls or issubclass(subclass, _KINDS)


class TensorLike(metaclass=_Asked):
    """The tensors of a graph: dense, sparse, or some rows."""

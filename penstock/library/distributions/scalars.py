"""Families of scalars: the batch has the shape that two parameters broadcast to."""

from __future__ import annotations

from typing import Any, ClassVar

from penstock.foundation.base import shapes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.distribution import Distribution
from penstock.ops.array import broadcast_to, constant, shape


class Elementwise(Distribution):
    """A family of scalars whose parameters, of which ``_elementwise`` has the names, broadcast."""

    _elementwise: ClassVar[tuple[str, ...]]

    def _given(self) -> list[Tensor]:
        return [getattr(self, name) for name in self._elementwise]

    def _batch_shape_tensor(self) -> Any:
        *others, dims = [shape.shape(each) for each in self._given()]
        for other in reversed(others):
            dims = broadcast_to.broadcast_dynamic_shape(other, dims)
        return dims

    def _batch_shape(self) -> Any:
        first, *others = self._given()
        known = first.shape
        for other in others:
            known = broadcast_to.broadcast_static_shape(known, other.shape)
        return known

    def _event_shape_tensor(self) -> Any:
        return constant.constant([], dtype="int32")

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

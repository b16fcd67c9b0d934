"""Specs of tensors whose values lie in a range."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.graph.type_spec import TensorSpec as TensorSpec


class BoundedTensorSpec(TensorSpec):
    """Shape, dtype and range of a tensor.

    Args:
      shape: anything that makes a TensorShape.
      dtype: element type.
      minimum, maximum: least and greatest value, of a shape that broadcasts to ``shape``.
      name: a name, or None.

    Raises:
      ValueError: a bound is missing, or its shape does not broadcast.
    """

    __slots__ = ("_minimum", "_maximum")

    def __init__(
        self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, what: str, value: Any) -> np.ndarray:
        if value is None:
            raise ValueError(f"{what} can not be None; it is the bound of {self.dtype.name} values")
        array = np.array(value, self.dtype.as_numpy_dtype)
        try:
            np.broadcast_shapes(array.shape, tuple(d or 1 for d in self.shape.as_list()))
        except ValueError as error:
            raise ValueError(
                f"{what} is not compatible with shape. Message: {self.shape} and {array.shape}"
            ) from error
        array.setflags(write=False)
        return array

    @classmethod
    def from_spec(cls, spec: Any) -> BoundedTensorSpec:  # type: ignore[override]
        """A copy; a spec without a range gets that of its type."""
        low = getattr(spec, "minimum", spec.dtype.min)
        high = getattr(spec, "maximum", spec.dtype.max)
        return cls(spec.shape, spec.dtype, low, high, spec.name)

    @property
    def minimum(self) -> np.ndarray:
        """The least values."""
        return self._minimum

    @property
    def maximum(self) -> np.ndarray:
        """The greatest values."""
        return self._maximum

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundedTensorSpec):
            return NotImplemented
        same = np.allclose(self.minimum, other.minimum)
        same = same and np.allclose(self.maximum, other.maximum)
        return bool(same) and super().__eq__(other)

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r},"
            f" minimum={self.minimum!r}, maximum={self.maximum!r})"
        )

"""What queues and staging areas hold: tuples, whose components have types, shapes and names."""

from __future__ import annotations

from penstock.foundation.base import dtypes, shapes


class HoldsTuples:
    """Tells of the components of an element."""

    _dtypes: list[dtypes.DType]
    _shapes: list[shapes.TensorShape]
    _names: list[str] | None

    @property
    def dtypes(self) -> list[dtypes.DType]:
        """Types of an element's components."""
        return self._dtypes

    @property
    def shapes(self) -> list[shapes.TensorShape]:
        """Shapes of an element's components."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """Names of an element's components, or None."""
        return self._names

"""The signatures of families of functions that one function makes, for who checks types.

A function that is made by another one has no signature that a checker sees unless its maker says
it.  So ``tf.reduce_mean(x, axes=0)`` is found wrong before it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from penstock.foundation.graph.operation import Operation
    from penstock.foundation.graph.tensor import Tensor


class OfOne(Protocol):
    """Element by element, of one tensor."""

    def __call__(self, x: Any, name: str | None = None) -> Any: ...


class OfTwo(Protocol):
    """Element by element, of two tensors."""

    def __call__(self, x: Any, y: Any, name: str | None = None) -> Any: ...


class Reduction(Protocol):
    """Along axes of a tensor."""

    def __call__(
        self,
        input_tensor: Any,
        axis: Any = None,
        keepdims: Any = None,
        name: str | None = None,
        reduction_indices: Any = None,
        keep_dims: Any = None,
    ) -> Tensor: ...


class SparseReduction(Protocol):
    """Along axes of a sparse tensor."""

    def __call__(
        self,
        sp_input: Any,
        axis: Any = None,
        keepdims: Any = None,
        reduction_axes: Any = None,
        keep_dims: Any = None,
    ) -> Any: ...


class Draw(Protocol):
    """Random numbers around a mean."""

    def __call__(
        self,
        shape: Any,
        mean: Any = 0.0,
        stddev: Any = 1.0,
        dtype: Any = ...,
        seed: int | None = None,
        name: str | None = None,
    ) -> Tensor: ...


class Segments(Protocol):
    """Of the rows of each segment."""

    def __call__(self, data: Any, segment_ids: Any, name: str | None = None) -> Any: ...


class UnsortedSegments(Protocol):
    """Of the rows of each segment, whose ids are in any order."""

    def __call__(
        self, data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
    ) -> Any: ...


class SparseSegments(Protocol):
    """Of chosen rows of each segment."""

    def __call__(
        self,
        data: Any,
        indices: Any,
        segment_ids: Any,
        name: str | None = None,
        num_segments: Any = None,
    ) -> Any: ...


class Resize(Protocol):
    """Images of another size."""

    def __call__(
        self,
        images: Any,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Tensor: ...


class Pool(Protocol):
    """Windows of images."""

    def __call__(
        self,
        value: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: str | None = "NHWC",
        name: str | None = None,
        input: Any = None,
    ) -> Tensor: ...


class PoolOfAny(Protocol):
    """Windows of rows or volumes, or of both and images."""

    def __call__(
        self,
        input: Any,
        ksize: Any,
        strides: Any,
        padding: str,
        data_format: Any = ...,
        name: str | None = None,
    ) -> Tensor: ...


class Transform(Protocol):
    """A Fourier transform."""

    def __call__(self, input: Any, name: str | None = None) -> Any: ...


class RealTransform(Protocol):
    """A Fourier transform of or to real numbers."""

    def __call__(
        self, input_tensor: Any, fft_length: Any = None, name: str | None = None
    ) -> Any: ...


class Scatter(Protocol):
    """An update of rows of a variable."""

    def __call__(
        self, ref: Any, indices: Any, updates: Any, use_locking: bool = ..., name: Any = None
    ) -> Any: ...


class Check(Protocol):
    """An assertion about the elements of a tensor."""

    def __call__(
        self,
        x: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation: ...


class Comparison(Protocol):
    """An assertion about the elements of two tensors."""

    def __call__(
        self,
        x: Any,
        y: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation: ...


class Metric(Protocol):
    """A measure of labels and predictions over many batches: its value, and its update."""

    def __call__(
        self,
        labels: Any,
        predictions: Any,
        weights: Any = None,
        metrics_collections: Any = None,
        updates_collections: Any = None,
        name: str | None = None,
    ) -> tuple[Any, Any]: ...


class Lister(Protocol):
    """The variables of a collection."""

    def __call__(self, scope: str | None = None) -> list[Any]: ...

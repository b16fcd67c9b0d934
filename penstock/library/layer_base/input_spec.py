"""``InputSpec``: what a layer says of its inputs, and the check of them."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dimension, dtypes, shapes
from penstock.foundation.graph import nest


class InputSpec:
    """Rank, dims and dtype that an input of a layer must have; None where all are allowed.

    Args:
      dtype: element type.
      shape: dims, None where open; says the rank as well.
      ndim: rank.
      max_ndim, min_ndim: bounds of the rank.
      axes: from an axis to the size that it must have.

    Example:
      >>> import penstock as tf
      >>> tf.layers.InputSpec(min_ndim=2, axes={-1: 3})
      InputSpec(min_ndim=2, axes={-1: 3})
    """

    def __init__(
        self,
        dtype: Any = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: dict[Any, Any] | None = None,
    ) -> None:
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape = shape
        self.ndim = ndim if shape is None else len(shape)
        self.max_ndim, self.min_ndim = max_ndim, min_ndim
        self.axes = {int(axis): size for axis, size in (axes or {}).items()}
        self._check_axes()

    def _check_axes(self) -> None:
        if not self.axes or (self.ndim is None and self.max_ndim is None):
            return
        rank = self.max_ndim if self.ndim is None else self.ndim
        assert rank is not None
        if max(self.axes) > rank - 1:
            raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value:"
                             f" {rank - 1}")  # fmt: skip

    def __repr__(self) -> str:
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        found = {name: getattr(self, name) for name in names}
        said = [f"{name}={value}" for name, value in found.items() if value]
        return f"InputSpec({', '.join(said)})"

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this spec again."""
        names = ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The spec that ``get_config`` describes."""
        return cls(**config)


def check_inputs(spec: Any, inputs: Any, layer_name: str) -> None:
    """Refuses inputs that a layer's spec does not allow.

    Args:
      spec: an InputSpec, a nesting of such, or None.
      inputs: a tensor, or a nesting of tensors.
      layer_name: for the error.

    Raises:
      ValueError: naming the input, what is expected and what was found.
    """
    if not spec:
        return
    specs, tensors = nest.flatten(spec), nest.flatten(inputs)
    for one in tensors:
        if not hasattr(one, "shape"):
            raise TypeError(f"Inputs to a layer should be tensors. Got: {one}")
    if len(tensors) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(tensors)} input"
            f" tensors. Inputs received: {inputs}"
        )
    for index, (one, tensor) in enumerate(zip(specs, tensors, strict=True)):
        wrong = None if one is None else _mismatch(one, tensor)
        if wrong is not None:
            raise ValueError(
                f"Input {index} of layer {layer_name} is incompatible with the layer: {wrong}"
            )


def _mismatch(spec: InputSpec, tensor: Any) -> str | None:
    """What of a tensor its spec does not allow."""
    shape = shapes.as_shape(tensor.shape)
    rank = shape.ndims
    if rank is None:
        asked = (spec.ndim, spec.max_ndim, spec.min_ndim)
        if any(one is not None for one in asked):
            return "its rank is undefined, but the layer requires a defined rank."
        return None if spec.dtype is None else _wrong_dtype(spec, tensor)
    dims = shape.as_list()
    if spec.ndim is not None and rank != spec.ndim:
        return f"expected ndim={spec.ndim}, found ndim={rank}. Full shape received: {dims}"
    if spec.max_ndim is not None and rank > spec.max_ndim:
        return f"expected max_ndim={spec.max_ndim}, found ndim={rank}"
    if spec.min_ndim is not None and rank < spec.min_ndim:
        return (
            f": expected min_ndim={spec.min_ndim}, found ndim={rank}. Full shape received: {dims}"
        )
    if spec.dtype is not None and (wrong := _wrong_dtype(spec, tensor)):
        return wrong
    for axis, size in spec.axes.items():
        wanted = dimension.dimension_value(size)
        if wanted is not None and dims[axis] not in (wanted, None):
            return (
                f"expected axis {axis} of input shape to have value {wanted} but received input"
                f" with shape {dims}"
            )
    for wanted, found in zip(spec.shape or (), dims, strict=False):
        if wanted is not None and found is not None and wanted != found:
            return f"expected shape={tuple(spec.shape)}, found shape={dims}"
    return None


def _wrong_dtype(spec: InputSpec, tensor: Any) -> str | None:
    found = tensor.dtype.base_dtype.name
    return None if found == spec.dtype else f"expected dtype={spec.dtype}, found dtype={found}"

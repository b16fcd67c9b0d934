"""Layers of several inputs: sums, products, extrema, joins and dot products."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.library.layer_base.layer import Layer
from penstock.library.nn import normalization
from penstock.ops.array import cast, join, nodes, reshape, squeeze, transpose
from penstock.ops.linalg import matmul
from penstock.ops.math import binary, reduction, reductions


class _Merge(Layer):
    """Element by element, with missing dims of size 1 after the batch; subclasses say how.

    Args:
      **kwargs: as of a layer.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs: Any) -> Any:
        raise NotImplementedError

    def build(self, input_shape: Any) -> None:
        """Checks that the inputs go together.

        Raises:
          ValueError: there are too few, or their batches or shapes differ.
        """
        if not isinstance(input_shape, list):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if len(input_shape) < 2:
            raise ValueError(
                "A merge layer should be called on a list of at least 2 inputs. Got"
                f" {len(input_shape)} inputs."
            )
        known = [shapes.as_shape(s) for s in input_shape]
        batches = {s.as_list()[0] for s in known if s.ndims is not None} - {None}
        if len(batches) > 1:
            raise ValueError(
                "Can not merge tensors with different batch sizes. Got tensors with shapes :"
                f" {[tuple(s.as_list()) for s in known]}"
            )
        if all(s.ndims is not None for s in known):
            merged = known[0].as_list()[1:]
            for other in known[1:]:
                merged = _broadcast(merged, other.as_list()[1:])
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The merged inputs."""
        if not isinstance(inputs, list | tuple):
            raise ValueError("A merge layer should be called on a list of inputs.")
        ranks = [one.shape.ndims for one in inputs]
        if len(set(ranks)) > 1 and None not in ranks:
            highest = max(ranks)
            inputs = [_widened(one, highest) for one in inputs]
        return self._merge_function(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for those of the inputs."""
        known = [shapes.as_shape(s).as_list() for s in input_shape]
        merged = known[0][1:]
        for other in known[1:]:
            merged = _broadcast(merged, other[1:])
        batches = {dims[0] for dims in known} - {None}
        return shapes.TensorShape([batches.pop() if len(batches) == 1 else None, *merged])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """True where all inputs count."""
        if mask is None or all(one is None for one in mask):
            return None
        wide = [reshape.expand_dims(one, 0) for one in mask if one is not None]
        return reductions.reduce_all(join.concat(wide, 0), axis=0, keepdims=False)


def _broadcast(first: list[Any], second: list[Any]) -> list[Any]:
    if len(first) < len(second):
        first, second = second, first
    made = first[: len(first) - len(second)]
    for a, b in zip(first[len(made) :], second, strict=True):
        if None in (a, b):
            made.append(None)
        elif 1 in (a, b) or a == b:
            made.append(b if a == 1 else a)
        else:
            raise ValueError(
                f"Operands could not be broadcast together with shapes {tuple(first)}"
                f" {tuple(second)}"
            )
    return made


def _widened(tensor: Any, rank: int) -> Any:
    for _ in range(rank - tensor.shape.ndims):
        tensor = reshape.expand_dims(tensor, 1)
    return tensor


class Add(_Merge):
    """The sum of several inputs.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.keras.layers.Add()([tf.ones([2, 3]), tf.ones([2, 3])]).name
      'add/add:0'
    """

    def _merge_function(self, inputs: Any) -> Any:
        output = inputs[0]
        for other in inputs[1:]:
            output = output + other
        return output


class Subtract(_Merge):
    """The first of two inputs less the second."""

    def build(self, input_shape: Any) -> None:
        """Checks that there are two inputs that go together."""
        super().build(input_shape)
        _expect_two(self, input_shape)

    def _merge_function(self, inputs: Any) -> Any:
        _expect_two(self, inputs)
        return inputs[0] - inputs[1]


def _expect_two(layer: Any, inputs: Any) -> None:
    if len(inputs) != 2:
        raise ValueError(f"A `{type(layer).__name__}` layer should be called on exactly 2 inputs")


class Multiply(_Merge):
    """The product of several inputs."""

    def _merge_function(self, inputs: Any) -> Any:
        output = inputs[0]
        for other in inputs[1:]:
            output = output * other
        return output


class Average(_Merge):
    """The mean of several inputs."""

    def _merge_function(self, inputs: Any) -> Any:
        output = inputs[0]
        for other in inputs[1:]:
            output = output + other
        return output / len(inputs)


class Maximum(_Merge):
    """The greatest of several inputs."""

    def _merge_function(self, inputs: Any) -> Any:
        output = inputs[0]
        for other in inputs[1:]:
            output = binary.maximum(output, other)
        return output


class Minimum(_Merge):
    """The least of several inputs."""

    def _merge_function(self, inputs: Any) -> Any:
        output = inputs[0]
        for other in inputs[1:]:
            output = binary.minimum(output, other)
        return output


class Concatenate(_Merge):
    """Several inputs joined along an axis.

    Args:
      axis: the axis.
      **kwargs: as of a layer.
    """

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape: Any) -> None:
        """Checks that the inputs differ in that axis alone."""
        if not isinstance(input_shape, list) or len(input_shape) < 2:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of at least 2 inputs"
            )
        known = [shapes.as_shape(s) for s in input_shape]
        if any(s.ndims is None for s in known):
            return
        others = set()
        for one in known:
            dims = one.as_list()
            del dims[self.axis]
            others.add(tuple(dims))
        if len(others) > 1:
            raise ValueError(
                "A `Concatenate` layer requires inputs with matching shapes except for the concat"
                f" axis. Got inputs shapes: {[tuple(s.as_list()) for s in known]}"
            )
        self.built = True

    def call(self, inputs: Any) -> Any:
        """The joined inputs."""
        return self._merge_function(inputs)

    def _merge_function(self, inputs: Any) -> Any:
        axis = self.axis
        if axis < 0:
            rank = inputs[0].shape.ndims
            axis = axis % rank if rank else 0
        return join.concat(list(inputs), axis)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for those of the inputs."""
        known = [shapes.as_shape(s).as_list() for s in input_shape]
        made = list(known[0])
        sizes: list[Any] = [dims[self.axis] for dims in known]
        made[self.axis] = None if None in sizes else sum(sizes)
        return shapes.TensorShape(made)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The joined masks; True where an input has none."""
        if mask is None or all(one is None for one in mask):
            return None
        made = []
        for one, its in zip(inputs, mask, strict=True):
            if its is None:
                made.append(cast.cast(nodes.ones_like(one), dtypes.bool))
            elif its.shape.ndims < one.shape.ndims:
                made.append(reshape.expand_dims(its, -1))
            else:
                made.append(its)
        joined = join.concat(made, self.axis)
        return reductions.reduce_all(joined, axis=-1, keepdims=False)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"axis": self.axis}


class Dot(_Merge):
    """The dot product of two inputs, for each example.

    Args:
      axes: the axis of both, or one of each.
      normalize: whether vectors are brought to length 1 first.
      **kwargs: as of a layer.
    """

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        pair = isinstance(axes, list | tuple)
        if not isinstance(axes, int) and not pair:
            raise TypeError("Invalid type for `axes` - should be a list or an int.")
        if pair and len(axes) != 2:
            raise ValueError("Invalid format for `axes` - should contain two elements.")
        self.axes, self.normalize = axes, normalize

    def build(self, input_shape: Any) -> None:
        """Checks that the summed dims are equal."""
        if not isinstance(input_shape, list) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        first, second = (shapes.as_shape(s).as_list() for s in input_shape)
        a, b = self._resolved(len(first), len(second))
        if first[a] != second[b]:
            raise ValueError(
                f"Dimension incompatibility {first[a]} != {second[b]}. Layer shapes:"
                f" {tuple(first)}, {tuple(second)}"
            )
        self.built = True

    def _resolved(self, first: int, second: int) -> list[int]:
        if isinstance(self.axes, int):
            return [self.axes % first, self.axes % second]
        return [axis % rank for axis, rank in zip(self.axes, (first, second), strict=True)]

    def _merge_function(self, inputs: Any) -> Any:
        _expect_two(self, inputs)
        x, y = inputs
        axes = self._resolved(x.shape.ndims, y.shape.ndims)
        if self.normalize:
            x = normalization.l2_normalize(x, axis=axes[0])
            y = normalization.l2_normalize(y, axis=axes[1])
        return batch_dot(x, y, axes)

    def call(self, inputs: Any) -> Any:
        """The products."""
        return self._merge_function(inputs)

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the output for those of the inputs."""
        first, second = (shapes.as_shape(s).as_list() for s in input_shape)
        a, b = self._resolved(len(first), len(second))
        del first[a]
        del second[b]
        made = [*first, *second[1:]]
        return shapes.TensorShape([*made, 1] if len(made) == 1 else made)

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Sums have no mask."""
        return None

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"axes": self.axes, "normalize": self.normalize}


def batch_dot(x: Any, y: Any, axes: Any = None) -> Any:
    """The dot product over an axis of each of two tensors, for each example of the batch.

    Args:
      x, y: of rank 2 or more.
      axes: the axis of both, or one of each.
    """
    axes = (axes, axes) if isinstance(axes, int) else axes
    ranks = [x.shape.ndims, y.shape.ndims]
    axes = [ranks[0] - 1, ranks[1] - 2] if axes is None else list(axes)
    difference = ranks[0] - ranks[1]
    if difference > 0:
        tail = nodes.concat([nodes.shape(y), [1] * difference], 0)
        y = reshape.reshape(y, tail)
    elif difference < 0:
        tail = nodes.concat([nodes.shape(x), [1] * -difference], 0)
        x = reshape.reshape(x, tail)
    if ranks == [2, 2]:
        if axes[0] == axes[1]:
            made = reduction.reduce_sum(make("Mul", x, y), axes[0])
        else:
            made = reduction.reduce_sum(make("Mul", transpose.transpose(x, [1, 0]), y), axes[1])
    else:
        made = matmul.matmul(
            x, y, adjoint_a=axes[0] != x.shape.ndims - 1, adjoint_b=axes[1] == y.shape.ndims - 1
        )
    if difference:
        start = ranks[0] + ranks[1] - 3 if difference > 0 else ranks[0] - 1
        made = squeeze.squeeze(made, list(range(start, start + abs(difference))))
    return reshape.expand_dims(made, 1) if made.shape.ndims == 1 else made


def add(inputs: Any, **kwargs: Any) -> Any:
    """An ``Add`` layer called once."""
    return Add(**kwargs)(inputs)


def subtract(inputs: Any, **kwargs: Any) -> Any:
    """A ``Subtract`` layer called once."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs: Any, **kwargs: Any) -> Any:
    """A ``Multiply`` layer called once."""
    return Multiply(**kwargs)(inputs)


def average(inputs: Any, **kwargs: Any) -> Any:
    """An ``Average`` layer called once."""
    return Average(**kwargs)(inputs)


def maximum(inputs: Any, **kwargs: Any) -> Any:
    """A ``Maximum`` layer called once."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs: Any, **kwargs: Any) -> Any:
    """A ``Minimum`` layer called once."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """A ``Concatenate`` layer called once."""
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs: Any, axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """A ``Dot`` layer called once."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)

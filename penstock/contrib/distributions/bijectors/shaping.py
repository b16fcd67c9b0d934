"""Bijectors that move the numbers of an event: ``Permute``, ``Reshape``."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.contrib.distributions.bijectors.bijector import Bijector
from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import (
    constant,
    fill,
    gather,
    join,
    ranges,
    ranks,
    reshape,
    shape,
    sorting,
    transpose,
)
from penstock.ops.control import check, control
from penstock.ops.math import comparison


class Permute(Bijector):
    """``y[..., i] = x[..., permutation[i]]``.

    Args:
      permutation: an integer vector with each of 0 to k - 1 once.
      validate_args: whether that is checked in every step, where it is not known before.
      name: name of the scope of the methods.

    Raises:
      TypeError: ``permutation`` is not of integers.
      ValueError: it is known and no permutation.

    Example:
      >>> import penstock as tf
      >>> permute = tf.contrib.distributions.bijectors.Permute([2, 0, 1])
      >>> tf.Session().run(permute.forward([5., 6., 7.])).tolist()
      [7.0, 5.0, 6.0]
    """

    def __init__(
        self, permutation: Any, validate_args: bool = False, name: str | None = None
    ) -> None:
        with name_scope(name, "permute", [permutation]):
            self._permutation: Any = convert_to_tensor(permutation, name="permutation")
            kind = self._permutation.dtype
            if not kind.is_integer:
                raise TypeError(f"permutation.dtype ({kind.name}) should be `int`-like.")
            known = static.constant_value(self._permutation)
            if known is not None:
                if not np.array_equal(np.sort(known), np.arange(np.size(known))):
                    raise ValueError(
                        "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
                    )
            elif validate_args:
                ordered = sorting.sort(self._permutation)
                every = ranges.range_(ranks.size(self._permutation, out_type=kind), dtype=kind)
                text = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
                found = check.assert_equal(ordered, every, message=text)
                self._permutation = control.with_dependencies([found], self._permutation)
        super().__init__(
            forward_min_event_ndims=1,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "permute",
        )

    @property
    def permutation(self) -> Tensor:
        """Which number of x is each of y."""
        found: Tensor = self._permutation
        return found

    def _forward(self, x: Any) -> Any:
        return gather.gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather.gather(y, transpose.invert_permutation(self.permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant.constant(0.0, dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant.constant(0.0, dtype=x.dtype.base_dtype)


class Reshape(Bijector):
    """Events of another shape.

    Args:
      event_shape_out: the shape of an event y, an integer vector; one size may be -1.
      event_shape_in: the shape of an event x, likewise; a vector by default.
      validate_args: whether both are checked to have as many numbers.
      name: name of the scope of the methods.

    Raises:
      TypeError: a shape is not of integers.
      ValueError: a shape is no vector, or known to be none of a tensor; of the methods, an event
        of another shape than was said.

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.bijectors.Reshape([2, 2], event_shape_in=[4])
      >>> tf.Session().run(made.forward([1., 2., 3., 4.])).tolist()
      [[1.0, 2.0], [3.0, 4.0]]
    """

    def __init__(
        self,
        event_shape_out: Any,
        event_shape_in: Any = (-1,),
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        with name_scope(name, "reshape", [event_shape_out, event_shape_in]):
            out = _sizes(event_shape_out, "event_shape_out", validate_args)
            into = _sizes(event_shape_in, "event_shape_in", validate_args)
        self._event_shape_out, self._event_shape_in = out, into
        super().__init__(
            forward_min_event_ndims=0,
            is_constant_jacobian=True,
            validate_args=validate_args,
            name=name or "reshape",
        )

    def _reshaped(self, x: Any, known: shapes.TensorShape, before: Any, after: Any) -> Any:
        """``x`` with its events, of the shape ``before``, in the shape ``after``."""
        rank = _rank(before)
        self._check_event(x, before, rank)
        dims: Any = shape.shape(x)
        if self.validate_args:
            event = dims[ranks.size(dims) - rank :]
            text = "Input `event_shape` does not match `event_shape_in`."
            same = comparison.logical_or(comparison.equal(before, event), before < 0)
            x = control.with_dependencies([check.assert_equal(same, True, message=text)], x)
        batch = dims[: ranks.size(dims) - rank] if rank else dims
        y = reshape.reshape(x, join.concat([batch, after], 0))
        if x.shape.ndims is not None:
            y.set_shape(x.shape[: x.shape.ndims - rank].concatenate(known))
        return y

    def _check_event(self, x: Any, before: Any, rank: int) -> None:
        known = static.constant_value(before)
        if known is None or x.shape.ndims is None:
            return
        event = x.shape.as_list()[x.shape.ndims - rank :] if rank else []
        if any(w != -1 and s is not None and w != s for s, w in zip(event, known, strict=False)):
            raise ValueError(
                "Input `event_shape` does not match `event_shape_in` "
                f"({np.array(event)} vs {np.array(known)})."
            )

    def _forward(self, x: Any) -> Any:
        rank = _rank(self._event_shape_in)
        event = _tail(x.shape, rank)
        known = self.forward_event_shape(event)
        return self._reshaped(x, known, self._event_shape_in, self._event_shape_out)

    def _inverse(self, y: Any) -> Any:
        rank = _rank(self._event_shape_out)
        event = _tail(y.shape, rank)
        known = self.inverse_event_shape(event)
        return self._reshaped(y, known, self._event_shape_out, self._event_shape_in)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return constant.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return constant.constant(0.0, dtype=x.dtype)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return _known_event(input_shape, self._event_shape_in, self._event_shape_out)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return _known_event(output_shape, self._event_shape_out, self._event_shape_in)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return _event(input_shape, self._event_shape_in, self._event_shape_out)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return _event(output_shape, self._event_shape_out, self._event_shape_in)


def _sizes(given: Any, name: str, validate_args: bool) -> Any:
    """A shape as an int32 vector, checked as far as it is known."""
    sizes = convert_to_tensor(given, name=name, preferred_dtype=dtypes.int32)
    if not sizes.dtype.is_integer:
        raise TypeError(f"{sizes} dtype ({sizes.dtype.name}) should be `int`-like.")
    if sizes.shape.ndims is not None and sizes.shape.ndims > 1:
        raise ValueError(f"{sizes} rank should be <= 1.")
    if sizes.shape.ndims is None or sizes.shape.as_list()[0] is None:
        raise NotImplementedError(f"{name}: how many dims it has must be known")
    known = static.constant_value(sizes)
    if known is not None and validate_args:
        if sum(known == -1) > 1:
            raise ValueError(f"{sizes} must have at most one `-1` (given {known})")
        if np.any(known < -1):
            raise ValueError(f"{sizes} elements must be either positive integers or `-1`.")
    if known is not None or not validate_args:
        return sizes
    text = "elements must be either positive integers or `-1`."
    return control.with_dependencies([check.assert_greater_equal(sizes, -1, message=text)], sizes)


def _rank(sizes: Tensor) -> int:
    """How many dims an event of these sizes has."""
    size: Any = sizes.shape.as_list()[0]
    return int(size)


def _tail(known: shapes.TensorShape, rank: int) -> shapes.TensorShape:
    if known.ndims is None:
        return shapes.TensorShape(None)
    return shapes.TensorShape(known.as_list()[known.ndims - rank :])


def _known_event(before: shapes.TensorShape, old: Tensor, new: Tensor) -> Any:
    """The static shape of a reshaped event."""
    sizes = static.constant_value(new)
    rank = _rank(new)
    if sizes is None:
        return shapes.TensorShape([None] * rank)
    found = [None if size == -1 else int(size) for size in sizes]
    if None in found and before.is_fully_defined():
        known: Any = before.as_list()
        count = int(np.prod(known))
        rest = int(np.prod([size for size in found if size is not None]))
        found = [count // rest if size is None else size for size in found]
    return shapes.TensorShape(found)


def _event(before: Any, old: Tensor, new: Tensor) -> Any:
    """The shape of a reshaped event."""
    known = static.constant_value(new)
    if known is not None and -1 not in known:
        return new
    return shape.shape(reshape.reshape(fill.zeros(before, dtype=dtypes.int32), new))

"""Distributions of one event alone: ``Deterministic``, ``VectorDeterministic``."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.distributions.distribution import NOT_REPARAMETERIZED, Distribution
from penstock.ops.array import broadcast_to, cast, constant, fill, join, shape
from penstock.ops.control import check, control
from penstock.ops.math import comparison, elementwise, reductions


class _OneEvent(Distribution):
    """All probability at ``loc``, or within ``atol + rtol |loc|`` of it."""

    def __init__(
        self, loc: Any, atol: Any, rtol: Any, is_vector: bool, validate_args: bool,
        allow_nan_stats: bool, name: str, parameters: dict[str, Any],
    ) -> None:  # fmt: skip
        with name_scope(name, values=[loc, atol, rtol]) as name:
            loc_: Any = convert_to_tensor(loc, name="loc")
            if is_vector and validate_args:
                text = "Argument loc must be at least rank 1."
                if loc_.shape.ndims is not None:
                    if loc_.shape.ndims < 1:
                        raise ValueError(text)
                else:
                    found = check.assert_rank_at_least(loc_, 1, message=text)
                    loc_ = control.with_dependencies([found], loc_)
            self._loc: Tensor = loc_
            self._atol = _tolerance(atol, self._loc.dtype, "atol", validate_args)
            self._rtol = _tolerance(rtol, self._loc.dtype, "rtol", validate_args)
            # No slack at all is made no nodes of.
            if rtol is None:
                self._slack: Any = self._atol
            else:
                self._slack = self._atol + self._rtol * elementwise.abs_(self._loc)
        super().__init__(
            dtype=self._loc.dtype,
            reparameterization_type=NOT_REPARAMETERIZED,
            validate_args=validate_args,
            allow_nan_stats=allow_nan_stats,
            parameters=parameters,
            graph_parents=[self._loc],
            name=name,
        )

    @property
    def loc(self) -> Tensor:
        """The event."""
        return self._loc

    @property
    def atol(self) -> Any:
        """How far from it a value may be."""
        return self._atol

    @property
    def rtol(self) -> Any:
        """How far from it a value may be, by its own size."""
        return self._rtol

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        dims = join.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        return broadcast_to.broadcast_to(self.loc, dims)

    def _entropy(self) -> Any:
        return fill.zeros(self.batch_shape_tensor(), dtype=self.dtype)

    def _mean(self) -> Any:
        return control.identity(self.loc)

    def _variance(self) -> Any:
        return elementwise.zeros_like(self.loc)

    def _mode(self) -> Any:
        return self.mean()

    def _is_near(self, x: Tensor) -> Any:
        return comparison.less_equal(elementwise.abs_(x - self.loc), self._slack)


def _tolerance(value: Any, dtype: Any, name: str, validate_args: bool) -> Any:
    found: Any = convert_to_tensor(0 if value is None else value, dtype=dtype, name=name)
    if not validate_args:
        return found
    text = f"Argument '{name}' must be non-negative"
    return control.with_dependencies([check.assert_non_negative(found, message=text)], found)


class Deterministic(_OneEvent):
    """The distribution of one number alone.

    Args:
      loc: the number.
      atol: how far from it a value may be; 0 by default.
      rtol: how far from it a value may be, by its own size; 0 by default.
      validate_args: whether the tolerances are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Example:
      >>> import penstock as tf
      >>> tf.Session().run(tf.contrib.distributions.Deterministic(2.).prob([2., 3.])).tolist()
      [1.0, 0.0]
    """

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        parameters = dict(locals())
        super().__init__(loc, atol, rtol, False, validate_args, allow_nan_stats, name, parameters)

    def _batch_shape_tensor(self) -> Any:
        return shape.shape(self.loc)

    def _batch_shape(self) -> Any:
        return self.loc.shape

    def _event_shape_tensor(self) -> Any:
        return constant.constant([], dtype="int32")

    def _event_shape(self) -> Any:
        return shapes.TensorShape([])

    def _prob(self, x: Tensor) -> Any:
        return cast.cast(self._is_near(x), self.dtype)

    def _cdf(self, x: Tensor) -> Any:
        loc: Any = self.loc
        return cast.cast(comparison.greater_equal(x, loc - self._slack), self.dtype)


class VectorDeterministic(_OneEvent):
    """The distribution of one vector alone.

    Args:
      loc: the vector, ``[..., k]``.
      atol: how far from its numbers those of a value may be; 0 by default.
      rtol: how far from them, by their own size; 0 by default.
      validate_args: whether the tolerances are checked in every step.
      allow_nan_stats: whether an undefined statistic is NaN; else it is an error.

    Raises:
      ValueError: ``loc`` is a scalar (``validate_args``).

    Example:
      >>> import penstock as tf
      >>> made = tf.contrib.distributions.VectorDeterministic([2., 3.])
      >>> tf.Session().run(made.prob([2., 3.])).item()
      1.0
    """

    def __init__(
        self,
        loc: Any,
        atol: Any = None,
        rtol: Any = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ) -> None:
        parameters = dict(locals())
        super().__init__(loc, atol, rtol, True, validate_args, allow_nan_stats, name, parameters)

    def _batch_shape_tensor(self) -> Any:
        dims: Any = shape.shape(self.loc)
        return dims[:-1]

    def _batch_shape(self) -> Any:
        return self.loc.shape[:-1]

    def _event_shape_tensor(self) -> Any:
        dims: Any = shape.shape(self.loc)
        return dims[-1:]

    def _event_shape(self) -> Any:
        return self.loc.shape[-1:]

    def _prob(self, x: Tensor) -> Any:
        if self.validate_args:
            found = [
                check.assert_rank_at_least(x, 1),
                check.assert_equal(
                    self.event_shape_tensor(),
                    shape.shape(x)[-1:],
                    message="Argument x not defined in the same space R^k as this distribution",
                ),
            ]
            x = control.with_dependencies(found, x)
        return cast.cast(reductions.reduce_all(self._is_near(x), axis=-1), self.dtype)

"""Bijectors made of others, or of functions: ``Chain``, ``Invert``, ``Inline``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.contrib.distributions.bijectors.bijector import Bijector, is_injective
from penstock.ops.array import constant, ranks, shape


class Chain(Bijector):
    """Bijectors one after another, the last first: ``Chain([f, g]).forward(x)`` is ``f(g(x))``.

    Args:
      bijectors: the bijectors; the identity where there are none.
      validate_args: whether arguments are checked in every step.
      name: name of the scope of the methods; by default made from theirs.

    Raises:
      ValueError: bijectors of two dtypes.

    Example:
      >>> import penstock as tf
      >>> bijectors = tf.contrib.distributions.bijectors
      >>> chain = bijectors.Chain([bijectors.Exp(), bijectors.AffineScalar(shift=1.0)])
      >>> tf.Session().run(chain.forward(-1.0)).item()
      1.0
    """

    def __init__(
        self,
        bijectors: Sequence[Any] | None = None,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        bijectors = tuple(bijectors or ())
        for one in bijectors:
            if not is_injective(one):
                raise NotImplementedError(
                    f"Invert is not implemented for non-injective bijector ({one.name})"
                )
        self._bijectors = bijectors
        kinds = {one.dtype for one in bijectors if one.dtype is not None}
        if len(kinds) > 1:
            raise ValueError(f"incompatible dtypes: {sorted(str(kind) for kind in kinds)}")
        if name is None:
            name = "_of_".join(["chain", *(b.name for b in bijectors)]) if bijectors else "identity"
        forward, inverse = _least_event_ndims(bijectors)
        super().__init__(
            graph_parents=[parent for one in bijectors for parent in one.graph_parents],
            forward_min_event_ndims=forward,
            inverse_min_event_ndims=inverse,
            is_constant_jacobian=all(one.is_constant_jacobian for one in bijectors),
            validate_args=validate_args,
            dtype=next(iter(kinds), None),
            name=name,
        )

    @property
    def bijectors(self) -> tuple[Any, ...]:
        """The bijectors, the last of which is applied first."""
        return self._bijectors

    def _forward_event_shape(self, input_shape: Any) -> Any:
        for one in reversed(self.bijectors):
            input_shape = one.forward_event_shape(input_shape)
        return input_shape

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        for one in reversed(self.bijectors):
            input_shape = one.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        for one in self.bijectors:
            output_shape = one.inverse_event_shape(output_shape)
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        for one in self.bijectors:
            output_shape = one.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        for one in reversed(self.bijectors):
            x = one.forward(x, **kwargs.get(one.name, {}))
        return x

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        for one in self.bijectors:
            y = one.inverse(y, **kwargs.get(one.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        total: Any = constant.constant(0.0, dtype=y.dtype, name="inverse_log_det_jacobian")
        ndims: Any = self.inverse_min_event_ndims
        for one in self.bijectors:
            given = kwargs.get(one.name, {})
            total = total + one.inverse_log_det_jacobian(y, event_ndims=ndims, **given)
            ndims = _event_ndims(y, ndims, one.inverse_event_shape, one.inverse_event_shape_tensor)
            y = one.inverse(y, **given)
        return total

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        total: Any = constant.constant(0.0, dtype=x.dtype, name="forward_log_det_jacobian")
        ndims: Any = self.forward_min_event_ndims
        for one in reversed(self.bijectors):
            given = kwargs.get(one.name, {})
            total = total + one.forward_log_det_jacobian(x, event_ndims=ndims, **given)
            ndims = _event_ndims(x, ndims, one.forward_event_shape, one.forward_event_shape_tensor)
            x = one.forward(x, **given)
        return total


def _least_event_ndims(bijectors: Sequence[Any]) -> tuple[int, int]:
    """The least numbers of dims of an x and of a y that every part of a chain can work on."""
    below, now = 0, 0
    # From y to x: what each part needs of its y, as dims more than the chain's y has.
    for one in bijectors:
        below = max(below, one.inverse_min_event_ndims - now)
        now += one.forward_min_event_ndims - one.inverse_min_event_ndims
    inverse = below
    return inverse + now, inverse


def _event_ndims(
    value: Any, ndims: Any, known: Callable[[Any], Any], dims: Callable[[Any], Any]
) -> Any:
    """How many dims an event of ``value`` has behind a bijector."""
    if value.shape.ndims is not None and isinstance(ndims, int):
        event = value.shape[value.shape.ndims - ndims :]
        found = known(event)
        if found.ndims is not None:
            return found.ndims
    sizes: Any = shape.shape(value)
    return ranks.size(dims(sizes[ranks.rank(value) - ndims :]))


class Invert(Bijector):
    """The inverse of a bijector: its ``forward`` is the other's ``inverse``.

    Args:
      bijector: the bijector.
      validate_args: whether arguments are checked in every step.
      name: name of the scope of the methods; by default made from the bijector's.

    Raises:
      NotImplementedError: the bijector is not injective.

    Example:
      >>> import penstock as tf
      >>> bijectors = tf.contrib.distributions.bijectors
      >>> tf.Session().run(bijectors.Invert(bijectors.Exp()).forward(1.0)).item()
      0.0
    """

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None) -> None:
        if not is_injective(bijector):
            raise NotImplementedError(
                f"Invert is not implemented for non-injective bijectors; found {bijector.name}"
            )
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents,
            forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian,
            validate_args=validate_args,
            dtype=bijector.dtype,
            name=name or "_".join(["invert", bijector.name]),
        )

    @property
    def bijector(self) -> Any:
        """The bijector of which this is the inverse."""
        return self._bijector

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector.inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector.inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector.forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector.forward_event_shape_tensor(output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector.inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector.forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        least = self.bijector.forward_min_event_ndims
        return self.bijector.forward_log_det_jacobian(y, event_ndims=least, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        least = self.bijector.inverse_min_event_ndims
        return self.bijector.inverse_log_det_jacobian(x, event_ndims=least, **kwargs)


class Inline(Bijector):
    """A bijector made of functions.

    Args:
      forward_fn: y by x.
      inverse_fn: x by y.
      inverse_log_det_jacobian_fn, forward_log_det_jacobian_fn: the log-determinants.
      forward_event_shape_fn, forward_event_shape_tensor_fn, inverse_event_shape_fn,
        inverse_event_shape_tensor_fn: shapes of events; by default those given.
      is_constant_jacobian: whether the log-determinant does not depend on the value.
      validate_args: whether arguments are checked in every step.
      forward_min_event_ndims, inverse_min_event_ndims: least numbers of dims of an event.

    Example:
      >>> import penstock as tf
      >>> exp = tf.contrib.distributions.bijectors.Inline(
      ...     forward_fn=tf.exp, inverse_fn=tf.log, forward_min_event_ndims=0)
      >>> tf.Session().run(exp.inverse(1.0)).item()
      0.0
    """

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._functions = {
            "forward": forward_fn,
            "inverse": inverse_fn,
            "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn,
        }
        self._shapes = {
            "forward": forward_event_shape_fn,
            "forward_tensor": forward_event_shape_tensor_fn,
            "inverse": inverse_event_shape_fn,
            "inverse_tensor": inverse_event_shape_tensor_fn,
        }

    def _called(self, part: str, value: Any, kwargs: dict[str, Any]) -> Any:
        function = self._functions[part]
        if function is None:
            raise NotImplementedError(f"{part}_fn is not a callable function.")
        return function(value, **kwargs)

    def _shape_of(self, part: str, sizes: Any) -> Any:
        function = self._shapes[part]
        return sizes if function is None else function(sizes)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._shape_of("forward", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape_of("forward_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._shape_of("inverse", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape_of("inverse_tensor", output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._called("forward", x, kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._called("inverse", y, kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._called("inverse_log_det_jacobian", y, kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._called("forward_log_det_jacobian", x, kwargs)

"""``Bijector``: what every change of variables does, derived from what its class gives.

A class gives ``_forward``, ``_inverse`` and one of ``_forward_log_det_jacobian`` and
``_inverse_log_det_jacobian`` for the least number of event dims that it works on; the public
methods open the scope, remember what maps to what, so that the inverse of a forward value is the
value itself, and sum a log-determinant over further event dims.
"""

from __future__ import annotations

import abc
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import fill, ranges, ranks, shape
from penstock.ops.control import check, control
from penstock.ops.math import reduction


class _Mapped:
    """A pair x, y that the bijector maps to one another, and what is known of it."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y
        self.ildj: dict[int, Any] = {}


class Bijector(metaclass=abc.ABCMeta):
    """A differentiable, invertible function ``y = forward(x)`` of random variables.

    Args:
      graph_parents: tensors that the bijector is made of.
      is_constant_jacobian: whether the log-determinant does not depend on the value.
      validate_args: whether arguments are checked in every step.
      dtype: dtype of the values; any where None.
      forward_min_event_ndims: least number of dims of an event x.
      inverse_min_event_ndims: least number of dims of an event y; both are alike by default.
      name: name of the scope of the methods; made from that of the class by default.

    Raises:
      ValueError: neither number of event dims is given, or one is negative.

    Example:
      >>> import penstock as tf
      >>> class Doubled(tf.contrib.distributions.bijectors.Bijector):
      ...     def __init__(self):
      ...         super().__init__(forward_min_event_ndims=0)
      ...     def _forward(self, x):
      ...         return 2.0 * x
      >>> tf.Session().run(Doubled().forward(3.0)).item()
      6.0
    """

    @abc.abstractmethod
    def __init__(
        self,
        graph_parents: Any = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: Any = None,
        inverse_min_event_ndims: Any = None,
        name: str | None = None,
    ) -> None:
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError(
                "Must specify at least one of `forward_min_event_ndims` and "
                "`inverse_min_event_ndims`."
            )
        if forward_min_event_ndims is None:
            forward_min_event_ndims = inverse_min_event_ndims
        if inverse_min_event_ndims is None:
            inverse_min_event_ndims = forward_min_event_ndims
        _check_least("forward_min_event_ndims", forward_min_event_ndims)
        _check_least("inverse_min_event_ndims", inverse_min_event_ndims)
        for i, parent in enumerate(graph_parents or ()):
            if not isinstance(parent, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {parent}.")
        self._graph_parents = list(graph_parents or ())
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._forward_min_event_ndims = forward_min_event_ndims
        self._inverse_min_event_ndims = inverse_min_event_ndims
        self._name = name or _snake_case(type(self).__name__.lstrip("_"))
        self._constant_ildj: dict[int, Any] = {}
        self._by_x: dict[Any, _Mapped] = {}
        self._by_y: dict[Any, _Mapped] = {}

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that the bijector is made of."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        """The least number of dims of an event x."""
        return int(self._forward_min_event_ndims)

    @property
    def inverse_min_event_ndims(self) -> int:
        """The least number of dims of an event y."""
        return int(self._inverse_min_event_ndims)

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the log-determinant does not depend on the value."""
        return self._is_constant_jacobian

    @property
    def _is_injective(self) -> bool:
        """Whether one x belongs to a y; else ``inverse`` gives a tuple of all."""
        return True

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked in every step."""
        return self._validate_args

    @property
    def dtype(self) -> Any:
        """The dtype of the values; None where it may be any."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of the scope of the methods."""
        return self._name

    @contextmanager
    def _name_scope(
        self, name: str | None = None, values: list[Any] | None = None
    ) -> Iterator[str]:
        inputs = [*(values or ()), *self._graph_parents]
        with name_scope(self.name), name_scope(name, values=inputs) as scope:
            yield scope

    # ---- shapes --------------------------------------------------------------------------------

    def _forward_event_shape_tensor(self, input_shape: Tensor) -> Any:
        return input_shape

    def _forward_event_shape(self, input_shape: shapes.TensorShape) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Tensor) -> Any:
        return output_shape

    def _inverse_event_shape(self, output_shape: shapes.TensorShape) -> Any:
        return output_shape

    def forward_event_shape_tensor(
        self, input_shape: Any, name: str = "forward_event_shape_tensor"
    ) -> Tensor:
        """The shape of an event y, as an int32 vector, by that of x."""
        with self._name_scope(name, [input_shape]):
            sizes = convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
            found: Tensor = self._forward_event_shape_tensor(sizes)
            return found

    def forward_event_shape(self, input_shape: Any) -> shapes.TensorShape:
        """The static shape of an event y by that of x."""
        return shapes.as_shape(self._forward_event_shape(shapes.as_shape(input_shape)))

    def inverse_event_shape_tensor(
        self, output_shape: Any, name: str = "inverse_event_shape_tensor"
    ) -> Tensor:
        """The shape of an event x, as an int32 vector, by that of y."""
        with self._name_scope(name, [output_shape]):
            sizes = convert_to_tensor(output_shape, dtype=dtypes.int32, name="output_shape")
            found: Tensor = self._inverse_event_shape_tensor(sizes)
            return found

    def inverse_event_shape(self, output_shape: Any) -> shapes.TensorShape:
        """The static shape of an event x by that of y."""
        return shapes.as_shape(self._inverse_event_shape(shapes.as_shape(output_shape)))

    # ---- values --------------------------------------------------------------------------------

    def _forward(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def _forward_log_det_jacobian(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def _inverse_log_det_jacobian(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _value(self, value: Any, name: str) -> Tensor:
        found = convert_to_tensor(value, name=name)
        if self.dtype is not None:
            wanted = dtypes.as_dtype(self.dtype).base_dtype
            if found.dtype.base_dtype != wanted:
                raise TypeError(f"Input had dtype {found.dtype} but expected {wanted}.")
        return found

    def _remember(self, x: Any, y: Any, kwargs: dict[str, Any]) -> _Mapped:
        given = _key(kwargs)
        found = self._by_x.get((x, given)) or self._by_y.get((y, given)) or _Mapped(x, y)
        found.x = x if found.x is None else found.x
        found.y = y if found.y is None else found.y
        if found.x is not None:
            self._by_x[found.x, given] = found
        if found.y is not None:
            self._by_y[found.y, given] = found
        return found

    def forward(self, x: Any, name: str = "forward") -> Any:
        """The value y of x.

        Args:
          x: events, of a shape ``[..., *event]``.

        Returns:
          A tensor of the shape ``[..., *forward_event_shape(event)]``.

        Raises:
          TypeError: ``x`` is not of the bijector's dtype.
        """
        return self._call_forward(x, name)

    def _call_forward(self, x: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [x]):
            x = self._value(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            known = self._by_x.get((x, _key(kwargs)))
            if known is not None and known.y is not None:
                return known.y
            return self._remember(x, self._forward(x, **kwargs), kwargs).y

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """The value x of which y is the forward value; see ``forward``.

        Returns:
          A tensor; a tuple of all such values where the bijector is not injective.
        """
        return self._call_inverse(y, name)

    def _call_inverse(self, y: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y]):
            y = self._value(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            known = self._by_y.get((y, _key(kwargs)))
            if known is not None and known.x is not None:
                return known.x
            return self._remember(self._inverse(y, **kwargs), y, kwargs).x

    # ---- log-determinants ----------------------------------------------------------------------

    def inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian"
    ) -> Any:
        """The logarithm of the absolute determinant of the Jacobian of ``inverse``.

        Args:
          y: events.
          event_ndims: an int32 scalar: how many last dims of ``y`` are of an event.

        Returns:
          A tensor of ``y``'s shape less its last ``event_ndims`` dims; a tuple, one for each x,
          where the bijector is not injective.

        Raises:
          ValueError: ``event_ndims`` is less than ``inverse_min_event_ndims``.
        """
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def _call_inverse_log_det_jacobian(
        self, y: Any, event_ndims: Any, name: str, **kwargs: Any
    ) -> Any:
        with self._name_scope(name, [y]):
            ndims = _number(event_ndims)
            if ndims in self._constant_ildj:
                return self._constant_ildj[ndims]
            y = self._value(y, "y")
            checks = self._check_event_ndims(self.inverse_min_event_ndims, event_ndims)
            with_checks = control.with_dependencies(checks, y) if checks else y
            if not self._is_injective:
                each = self._inverse_log_det_jacobian(with_checks, **kwargs)
                least = self.inverse_min_event_ndims
                return tuple(self._over_event(y, one, least, event_ndims) for one in each)
            mapped = self._by_y.get((y, _key(kwargs))) or _Mapped(None, y)
            if ndims is not None and ndims in mapped.ildj:
                return mapped.ildj[ndims]
            found, mapped = self._ildj(with_checks, y, mapped, event_ndims, kwargs)
            return self._kept(found, mapped, ndims)

    def _ildj(
        self, checked: Any, y: Any, mapped: _Mapped, event_ndims: Any, kwargs: dict[str, Any]
    ) -> tuple[Any, _Mapped]:
        try:
            mapped = self._remember(mapped.x, y, kwargs)
            one = self._inverse_log_det_jacobian(checked, **kwargs)
            return self._over_event(y, one, self.inverse_min_event_ndims, event_ndims), mapped
        except NotImplementedError as missing:
            x = mapped.x if mapped.x is not None else self._inverse(checked, **kwargs)
            mapped = self._remember(x, y, kwargs)
            one = self._other(self._forward_log_det_jacobian, x, missing, kwargs)
            return -self._over_event(x, one, self.forward_min_event_ndims, event_ndims), mapped

    def forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian"
    ) -> Any:
        """The logarithm of the absolute determinant of the Jacobian of ``forward``.

        Args:
          x: events.
          event_ndims: an int32 scalar: how many last dims of ``x`` are of an event.

        Returns:
          A tensor of ``x``'s shape less its last ``event_ndims`` dims.

        Raises:
          NotImplementedError: the bijector is not injective.
          ValueError: ``event_ndims`` is less than ``forward_min_event_ndims``.
        """
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def _call_forward_log_det_jacobian(
        self, x: Any, event_ndims: Any, name: str, **kwargs: Any
    ) -> Any:
        if not self._is_injective:
            raise NotImplementedError(
                "forward_log_det_jacobian cannot be implemented for non-injective transforms."
            )
        with self._name_scope(name, [x]):
            ndims = _number(event_ndims)
            if ndims in self._constant_ildj:
                return -1.0 * self._constant_ildj[ndims]
            x = self._value(x, "x")
            checks = self._check_event_ndims(self.forward_min_event_ndims, event_ndims)
            checked = control.with_dependencies(checks, x) if checks else x
            mapped = self._by_x.get((x, _key(kwargs))) or _Mapped(x, None)
            if ndims is not None and ndims in mapped.ildj:
                return -mapped.ildj[ndims]
            try:
                mapped = self._remember(x, mapped.y, kwargs)
                one = self._forward_log_det_jacobian(checked, **kwargs)
                found = self._over_event(x, one, self.forward_min_event_ndims, event_ndims)
                self._kept(-found, mapped, ndims)
                return found
            except NotImplementedError as missing:
                y = mapped.y if mapped.y is not None else self._forward(checked, **kwargs)
                mapped = self._remember(x, y, kwargs)
                one = self._other(self._inverse_log_det_jacobian, y, missing, kwargs)
                ildj = self._over_event(y, one, self.inverse_min_event_ndims, event_ndims)
                return -self._kept(ildj, mapped, ndims)

    def _other(
        self, way: Callable[..., Any], value: Any, missing: Exception, kwargs: dict[str, Any]
    ) -> Any:
        try:
            return way(value, **kwargs)
        except NotImplementedError:
            raise missing from None

    def _kept(self, ildj: Any, mapped: _Mapped, ndims: int | None) -> Any:
        """``ildj``, remembered for the next call where the number of event dims is known."""
        if ndims is not None:
            if self.is_constant_jacobian:
                self._constant_ildj[ndims] = ildj
            else:
                mapped.ildj[ndims] = ildj
        return ildj

    def _check_event_ndims(self, least: int, event_ndims: Any) -> list[Any]:
        """Checks of ``event_ndims`` in the step, where it is not known before."""
        given = convert_to_tensor(event_ndims, name="event_ndims")
        if not given.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {given.dtype}")
        if given.shape.ndims not in (None, 0):
            raise ValueError(f"Expected scalar event_ndims, got shape {given.shape}")
        ndims = _number(event_ndims)
        if ndims is not None:
            if ndims < least:
                raise ValueError(
                    f"event_ndims ({ndims}) must be larger than min_event_ndims ({least})"
                )
            return []
        if not self.validate_args:
            return []
        return [check.assert_greater_equal(given, least)]

    def _over_event(self, value: Any, ldj: Any, least: int, event_ndims: Any) -> Any:
        """``ldj`` of events of ``least`` dims, summed over those of ``event_ndims``."""
        ndims = _number(event_ndims)
        if ndims is None:
            axes: Any = ranges.range_(least - event_ndims, 0)
        elif ndims == least:
            axes = []
        else:
            axes = list(range(least - ndims, 0))
        rank: Any = value.shape.ndims if value.shape.ndims is not None else ranks.rank(value)
        dims: Any = shape.shape(value)
        ones = fill.ones(dims[rank - event_ndims : rank - least], dtype=ldj.dtype)
        return reduction.reduce_sum(ones * ldj, axis=axes)


def is_injective(bijector: Any) -> bool:
    """Whether one x belongs to a y of a bijector."""
    return bool(bijector._is_injective)


def _check_least(name: str, ndims: Any) -> None:
    if not isinstance(ndims, int):
        raise TypeError(f"Expected {name} to be of type int, got {type(ndims).__name__}")
    if ndims < 0:
        raise ValueError(f"{name} must be a non-negative integer.")


def _number(event_ndims: Any) -> int | None:
    """``event_ndims`` where it is known while the graph is built."""
    if isinstance(event_ndims, Tensor):
        known = static.constant_value(event_ndims)
        return None if known is None or known.ndim else int(known)
    return int(event_ndims) if isinstance(event_ndims, (int, np.integer)) else None


def _key(kwargs: dict[str, Any]) -> Any:
    """What the memory of pairs tells arguments apart by: tensors and structures by identity."""
    return tuple(sorted((name, id(value)) for name, value in kwargs.items()))


def _snake_case(name: str) -> str:
    spaced = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


class ConditionalBijector(Bijector):
    """A bijector the methods of which take further arguments, ``condition_kwargs``.

    Args:
      graph_parents, is_constant_jacobian, validate_args, dtype, forward_min_event_ndims,
        inverse_min_event_ndims: as of ``Bijector``.
      name: name of the scope of the methods.

    Example:
      >>> import penstock as tf
      >>> class Times(tf.contrib.distributions.bijectors.ConditionalBijector):
      ...     def __init__(self):
      ...         super().__init__(forward_min_event_ndims=0)
      ...     def _forward(self, x, by):
      ...         return x * by
      >>> tf.Session().run(Times().forward(3.0, by=2.0)).item()
      6.0
    """

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> Any:
        """``Bijector.forward`` with further arguments for ``_forward``."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """``Bijector.inverse`` with further arguments for ``_inverse``."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(
        self,
        y: Any,
        event_ndims: Any,
        name: str = "inverse_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> Any:
        """``Bijector.inverse_log_det_jacobian`` with further arguments."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(
        self,
        x: Any,
        event_ndims: Any,
        name: str = "forward_log_det_jacobian",
        **condition_kwargs: Any,
    ) -> Any:
        """``Bijector.forward_log_det_jacobian`` with further arguments."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)

"""Kullback-Leibler divergences: which function computes that of two classes, and cross entropies.

A function is found by the classes of both distributions and their bases: the pair that is nearest
to them, by the steps up both lines of inheritance together.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.control import control, debug
from penstock.ops.math import elementwise, reductions

_FUNCTIONS: dict[tuple[type, type], Callable[..., Any]] = {}


def _registered(kind_a: type, kind_b: type) -> Callable[..., Any] | None:
    """The function of the nearest pair of classes."""
    found = [
        (up_a + up_b, _FUNCTIONS[a, b])
        for up_a, a in enumerate(inspect.getmro(kind_a))
        for up_b, b in enumerate(inspect.getmro(kind_b))
        if (a, b) in _FUNCTIONS
    ]
    return min(found, key=lambda each: each[0])[1] if found else None


class RegisterKL:
    """A decorator that registers a function as the divergence of two classes.

    Args:
      dist_cls_a, dist_cls_b: the classes; of subclasses it is the divergence too, unless these have
        one of their own.

    Raises:
      TypeError: of the decorator, where it is given what cannot be called.
      ValueError: of the decorator, where the two classes have a function.

    Example:
      >>> import penstock as tf
      >>> class Point(tf.distributions.Distribution):
      ...     pass
      >>> @tf.distributions.RegisterKL(Point, Point)
      ... def divergence(a, b, name=None):
      ...     return tf.zeros([], name=name)
    """

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise TypeError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _FUNCTIONS:
            a, b = self._key
            raise ValueError(
                f"KL({a.__name__} || {b.__name__}) has already been registered to: "
                f"{_FUNCTIONS[self._key]}"
            )
        _FUNCTIONS[self._key] = kl_fn
        return kl_fn


def kl_divergence(
    distribution_a: Any, distribution_b: Any, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """The Kullback-Leibler divergence ``KL(a || b)``: the mean of ``log(p(x) / q(x))`` over ``a``.

    Args:
      distribution_a, distribution_b: distributions for whose classes a function is registered.
      allow_nan_stats: whether NaN is a value; else a step in which it is one fails.

    Returns:
      A tensor of the batch shapes of both, broadcast.

    Raises:
      NotImplementedError: no function is registered for the classes.

    Example:
      >>> import penstock as tf
      >>> a, b = tf.distributions.Normal(0., 1.), tf.distributions.Normal(1., 1.)
      >>> tf.Session().run(tf.distributions.kl_divergence(a, b)).item()
      0.5
    """
    function = _registered(type(distribution_a), type(distribution_b))
    if function is None:
        raise NotImplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type "
            f"{type(distribution_b).__name__}"
        )
    with name_scope("KullbackLeibler"):
        found: Tensor = function(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return found
        found = control.identity(found, name="kl")
        text = (
            f"KL calculation between {distribution_a.name} and {distribution_b.name} returned NaN "
            "values (and was called with allow_nan_stats=False). Values:"
        )
        is_number = elementwise.logical_not(reductions.reduce_any(elementwise.is_nan(found)))
        with control_dependencies([debug.Assert(is_number, [text, found])]):
            found = control.identity(found, name="checked_kl")
            return found


def cross_entropy(ref: Any, other: Any, allow_nan_stats: bool = True) -> Any:
    """The mean of ``-log(q(x))`` over ``ref``, where q is the density of ``other``."""
    with name_scope("cross_entropy"):
        return ref.entropy() + kl_divergence(ref, other, allow_nan_stats=allow_nan_stats)

"""Batch renormalization: corrections that make a batch's moments those of many batches.

Source: Ioffe, Batch Renormalization, 2017.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.control_flow.cond import smart_cond
from penstock.ops.array import nodes
from penstock.ops.control import control
from penstock.ops.math import binary, elementwise
from penstock.ops.nn import activation
from penstock.ops.state import state


class Renormalization:
    """What ``BatchNormalization`` does besides with ``renorm``."""

    epsilon: float
    renorm_clipping: dict[str, Any]
    renorm_momentum: float
    momentum: float
    moving_mean: Any
    moving_variance: Any
    moving_mean_initializer: Callable[..., Any]
    moving_variance_initializer: Callable[..., Any]
    _average: Callable[..., Any]
    _move: Callable[..., Any]

    def _add_renorm(self, shape: Any) -> None:
        """Averages of the standard deviation for inference, and of both moments for training."""

        def stddev_initializer(*args: Any, **kwargs: Any) -> Any:
            return elementwise.sqrt(self.moving_variance_initializer(*args, **kwargs))

        with scopes.colocate_with(self.moving_variance.op):
            self.moving_stddev = self._average("moving_stddev", shape, stddev_initializer)
        with scopes.colocate_with(self.moving_mean.op):
            self.renorm_mean = self._average("renorm_mean", shape, self.moving_mean_initializer)
        with scopes.colocate_with(self.moving_stddev.op):
            self.renorm_stddev = self._average("renorm_stddev", shape, stddev_initializer)

    def _corrections(self, mean: Any, variance: Any, training: Any) -> tuple[Any, Any, Any, Any]:
        """Factor, offset, and the moments after the averages of training were updated."""
        stddev = elementwise.sqrt(variance + self.epsilon)
        least = elementwise.sqrt(self.epsilon)
        renorm_stddev = binary.maximum(self.renorm_stddev, least)
        r = stddev / renorm_stddev
        d = (mean - self.renorm_mean) / renorm_stddev
        with scopes.control_dependencies([r, d]):
            mean = control.identity(mean)
            stddev = control.identity(stddev)
        r, d = self._clipped(r, d)
        r = smart_cond(training, lambda: r, lambda: nodes.ones_like(r))
        d = smart_cond(training, lambda: d, lambda: nodes.zeros_like(d))
        updates = [
            self._renorm_update(self.renorm_mean, mean, training),
            self._renorm_update(self.renorm_stddev, stddev, training),
        ]
        with scopes.control_dependencies(updates):
            mean, variance = control.identity(mean), control.identity(variance)
        # In training x becomes (x * r + d) * gamma + beta.
        return (
            control.stop_gradient(r, name="renorm_r"), control.stop_gradient(d, name="renorm_d"),
            mean, variance,
        )  # fmt: skip

    def _clipped(self, r: Any, d: Any) -> tuple[Any, Any]:
        low, high, most = (self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax"))
        if low is not None:
            r = binary.maximum(r, low)
        if high is not None:
            r = binary.minimum(r, high)
        if most is not None:
            d = binary.maximum(d, -most)
            d = binary.minimum(d, most)
        return r, d

    def _renorm_update(self, variable: Any, value: Any, training: Any) -> Any:
        value = control.identity(value)
        return smart_cond(
            training,
            lambda: self._move(variable, value, self.renorm_momentum),
            lambda: control.identity(variable),
        )

    def _renorm_variance_update(self, variance: Any, training: Any) -> Any:
        """Updates the moving variance by way of the standard deviation."""

        def moved() -> Any:
            stddev = elementwise.sqrt(variance + self.epsilon)
            stddev = self._move(self.moving_stddev, stddev, self.momentum)
            value = activation.relu(stddev * stddev - self.epsilon)
            with scopes.name_scope("AssignNewValue") as scope:
                with scopes.colocate_with(self.moving_variance):
                    return state.assign(self.moving_variance, value, name=scope)

        return smart_cond(training, moved, lambda: self.moving_variance)

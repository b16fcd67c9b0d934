"""``tf.keras.optimizers.schedules``: learning rates that an optimizer asks for at each step.

The formulas are those of ``tf.train``'s functions of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.library.layer_base import configs
from penstock.training.train import learning_rate as rates


class LearningRateSchedule:
    """Base of schedules: a call with the step gives the rate."""

    def __call__(self, step: Any) -> Any:
        """The rate at a step, a scalar tensor or number."""
        raise NotImplementedError("Learning rate schedule must override __call__")

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a schedule like this one."""
        raise NotImplementedError("Learning rate schedule must override get_config")

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """The schedule that ``get_config`` describes."""
        return cls(**config)


class _Decay(LearningRateSchedule):
    """A function of ``tf.train`` with all its arguments but the step."""

    _function: Callable[..., Any]
    _names: tuple[str, ...]
    _defaults: dict[str, Any] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip((*self._names, "name"), args, strict=False))
        twice = given.keys() & kwargs.keys()
        unknown = kwargs.keys() - {*self._names, "name"}
        if len(args) > len(self._names) + 1 or twice or unknown:
            raise TypeError(
                f"{type(self).__name__} takes {', '.join(self._names)} and name, each once; found"
                f" {len(args)} by place and {', '.join(kwargs) or 'none'} by name"
            )
        given = {**self._defaults, **given, **kwargs}
        lacking = [name for name in self._names if name not in given]
        if lacking:
            raise TypeError(f"{type(self).__name__} needs {', '.join(lacking)}")
        self.name = given.pop("name", None)
        self.__dict__.update(given)

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        given = [getattr(self, name) for name in self._names]
        function = type(self)._function
        found = function(given[0], step, *given[1:], name=self.name or type(self).__name__)
        # Where operations run as they are called, the functions of tf.train give a function.
        return found() if callable(found) else found

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a schedule like this one."""
        return {**{name: getattr(self, name) for name in self._names}, "name": self.name}


class ExponentialDecay(_Decay):
    """``initial_learning_rate * decay_rate ** (step / decay_steps)``.

    Args:
      initial_learning_rate, decay_steps, decay_rate: numbers or scalar tensors.
      staircase: whether the exponent is rounded down.
      name: of its nodes.

    Example:
      >>> import penstock as tf
      >>> schedule = tf.keras.optimizers.schedules.ExponentialDecay(1.0, 10, 0.5)
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(schedule(tf.constant(20)))
      np.float32(0.25)
    """

    _function = staticmethod(rates.exponential_decay)
    _names = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase")
    _defaults = {"staircase": False}


class InverseTimeDecay(_Decay):
    """``initial_learning_rate / (1 + decay_rate * step / decay_steps)``.

    Args:
      initial_learning_rate, decay_steps, decay_rate, staircase, name: as of ``ExponentialDecay``.
    """

    _function = staticmethod(rates.inverse_time_decay)
    _names = ("initial_learning_rate", "decay_steps", "decay_rate", "staircase")
    _defaults = {"staircase": False}


class PolynomialDecay(_Decay):
    """From one rate to another along a power of the steps.

    Args:
      initial_learning_rate, end_learning_rate: the rates.
      decay_steps: how many steps it takes.
      power: of the part that is left.
      cycle: whether it begins anew, with more steps.
      name: of its nodes.
    """

    _function = staticmethod(rates.polynomial_decay)
    _names = ("initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle")
    _defaults = {"end_learning_rate": 0.0001, "power": 1.0, "cycle": False}


class CosineDecay(_Decay):
    """From one rate to ``alpha`` times it along half a cosine.

    Args:
      initial_learning_rate, decay_steps, alpha, name: as of ``tf.train.cosine_decay``.
    """

    _function = staticmethod(rates.cosine_decay)
    _names = ("initial_learning_rate", "decay_steps", "alpha")
    _defaults = {"alpha": 0.0}


class CosineDecayRestarts(_Decay):
    """Half cosines, each longer and lower than the one before.

    Args:
      initial_learning_rate, first_decay_steps, t_mul, m_mul, alpha, name: as of
        ``tf.train.cosine_decay_restarts``.
    """

    _function = staticmethod(rates.cosine_decay_restarts)
    _names = ("initial_learning_rate", "first_decay_steps", "t_mul", "m_mul", "alpha")
    _defaults = {"t_mul": 2.0, "m_mul": 1.0, "alpha": 0.0}


class LinearCosineDecay(_Decay):
    """A cosine on a line that falls.

    Args:
      initial_learning_rate, decay_steps, num_periods, alpha, beta, name: as of
        ``tf.train.linear_cosine_decay``.
    """

    _function = staticmethod(rates.linear_cosine_decay)
    _names = ("initial_learning_rate", "decay_steps", "num_periods", "alpha", "beta")
    _defaults = {"num_periods": 0.5, "alpha": 0.0, "beta": 0.001}


class NoisyLinearCosineDecay(_Decay):
    """A cosine on a line that falls, with noise.

    Args:
      initial_learning_rate, decay_steps, initial_variance, variance_decay, num_periods, alpha,
        beta, name: as of ``tf.train.noisy_linear_cosine_decay``.
    """

    _function = staticmethod(rates.noisy_linear_cosine_decay)
    _names = (
        "initial_learning_rate", "decay_steps", "initial_variance", "variance_decay",
        "num_periods", "alpha", "beta",
    )  # fmt: skip
    _defaults = {
        "initial_variance": 1.0, "variance_decay": 0.55, "num_periods": 0.5, "alpha": 0.0,
        "beta": 0.001,
    }  # fmt: skip


class PiecewiseConstantDecay(LearningRateSchedule):
    """One rate between two steps and the next.

    Args:
      boundaries: steps, rising; the rate of a piece holds up to and with its boundary.
      values: one rate more than boundaries.
      name: of its nodes.

    Raises:
      ValueError: another number of rates.
    """

    def __init__(self, boundaries: Any, values: Any, name: str | None = None) -> None:
        if len(boundaries) != len(values) - 1:
            raise ValueError(
                "The length of boundaries should be 1 less than the length of values; found"
                f" {len(boundaries)} and {len(values)}"
            )
        self.boundaries, self.values, self.name = boundaries, values, name

    def __call__(self, step: Any) -> Any:
        """The rate at a step."""
        boundaries = [type(value)(value) for value in self.boundaries]
        if getattr(getattr(step, "dtype", None), "is_floating", False):
            boundaries = [float(value) for value in boundaries]
        name = self.name or "PiecewiseConstant"
        return rates.piecewise_constant(step, boundaries, list(self.values), name=name)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a schedule like this one."""
        return {"boundaries": self.boundaries, "values": self.values, "name": self.name}


_KNOWN: dict[str, Any] = {
    one.__name__: one
    for one in (
        ExponentialDecay, InverseTimeDecay, PolynomialDecay, PiecewiseConstantDecay, CosineDecay,
        CosineDecayRestarts, LinearCosineDecay, NoisyLinearCosineDecay,
    )
}  # fmt: skip


def serialize(learning_rate_schedule: Any) -> Any:
    """A schedule as a configuration."""
    return configs.serialized(learning_rate_schedule)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The schedule of a configuration."""
    return configs.made_from(config, _KNOWN, "decay", custom_objects)

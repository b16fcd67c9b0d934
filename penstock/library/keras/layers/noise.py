"""Noise that is added or multiplied while training."""

from __future__ import annotations

import math
from typing import Any

from penstock.foundation.base import dtypes
from penstock.library.control_flow.cond import smart_cond
from penstock.library.layer_base import phase
from penstock.library.layer_base.layer import Layer
from penstock.ops.array import cast, nodes
from penstock.ops.control import control
from penstock.ops.random import random

_ALPHA, _SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


class _Noise(Layer):
    """What these share: the input as it is, unless ``training``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def _noised(self, inputs: Any) -> Any:
        raise NotImplementedError

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The input, with noise where ``training``; default the learning phase."""
        if training is None:
            training = phase.learning_phase()
        return smart_cond(training, lambda: self._noised(inputs), lambda: control.identity(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the input."""
        return input_shape


def _normal(shape: Any, mean: float, stddev: float, kind: Any) -> Any:
    # Keras draws a seed of NumPy's where none is given; the graph's is used here.
    return random.random_normal(shape, mean=mean, stddev=stddev, dtype=kind)


class GaussianNoise(_Noise):
    """Adds normally distributed noise while training.

    Args:
      stddev: of the noise.
      **kwargs: as of a layer.
    """

    def __init__(self, stddev: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.stddev = stddev

    def _noised(self, inputs: Any) -> Any:
        return inputs + _normal(nodes.shape(inputs), 0.0, self.stddev, inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"stddev": self.stddev}


class GaussianDropout(_Noise):
    """Multiplies by normally distributed noise around 1 while training.

    Args:
      rate: as of ``Dropout``, whose variance the noise has.
      **kwargs: as of a layer.
    """

    def __init__(self, rate: float, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The input, with noise where ``training``."""
        return super().call(inputs, training) if 0 < self.rate < 1 else inputs

    def _noised(self, inputs: Any) -> Any:
        stddev = math.sqrt(self.rate / (1.0 - self.rate))
        return inputs * _normal(nodes.shape(inputs), 1.0, stddev, inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"rate": self.rate}


class AlphaDropout(_Noise):
    """Dropout that keeps mean and variance of what scaled exponential units give.

    Args:
      rate: which part of the elements is dropped.
      noise_shape: shape of the draw.
      seed: seed of the draw.
      **kwargs: as of a layer.

    Source: Klambauer et al., Self-Normalizing Neural Networks, 2017.
    """

    def __init__(self, rate: float, noise_shape: Any = None, seed: Any = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.rate, self.noise_shape, self.seed = rate, noise_shape, seed

    def call(self, inputs: Any, training: Any = None) -> Any:
        """The input, some of it dropped where ``training``."""
        return super().call(inputs, training) if 0.0 < self.rate < 1.0 else inputs

    def _noised(self, inputs: Any) -> Any:
        low = -_ALPHA * _SCALE
        shape = self.noise_shape or nodes.shape(inputs)
        draw = random.random_uniform(shape, seed=self.seed)
        kept = cast.cast(nodes.greater_equal(draw, self.rate), dtypes.as_dtype(inputs.dtype))
        a = ((1 - self.rate) * (1 + self.rate * low**2)) ** -0.5
        b = -a * low * self.rate
        return a * (inputs * kept + low * (1 - kept)) + b

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a layer like this one."""
        return super().get_config() | {"rate": self.rate}

"""Initializers: functions of a shape and dtype that make a variable's first value.

An initializer is called when the graph is built and adds nodes; what they draw is decided when the
session runs them.  A variable cut into partitions calls its initializer once a part, with
``partition_info`` saying where the part lies, so that scales follow the whole variable.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np

from penstock.foundation.base import dtypes, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.static import constant_value
from penstock.ops.array import constant, fill, reshape
from penstock.ops.linalg import linalg, linalg_eig, matrix_diag
from penstock.ops.random import random


class Initializer:
    """Base of all initializers: ``initializer(shape, dtype=None, partition_info=None)``.

    Args:
      dtype: type of the values where the call does not say.
    """

    def __init__(self, dtype: Any = dtypes.float32) -> None:
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """The first value of a variable of ``shape``."""
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"dtype": self.dtype.name}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """An initializer from what ``get_config`` returned."""
        return cls(**config)

    def _dtype(self, dtype: Any) -> dtypes.DType:
        return self.dtype if dtype is None else dtypes.as_dtype(dtype).base_dtype


def _floating(dtype: Any) -> dtypes.DType:
    wanted = dtypes.as_dtype(dtype)
    if not wanted.is_floating:
        raise ValueError(f"a floating-point dtype is needed; found {wanted.name}")
    return wanted


def _dims(shape: Any, partition_info: Any = None) -> list[int]:
    """Static sizes of the whole variable."""
    if partition_info is not None:
        shape = partition_info.full_shape
    if isinstance(shape, Tensor):
        value = constant_value(shape)
        if value is None:
            raise ValueError(f"the shape {shape.name} must be statically known here")
        return [int(d) for d in value]
    return [int(d) for d in shapes.as_shape(shape)]


class zeros_initializer(Initializer):
    """All zeros.

    Args:
      dtype: type of the values where the call does not say.

    Example:
      >>> import penstock as tf
      >>> counts = tf.get_variable("counts", [3], tf.int32, tf.zeros_initializer())
      >>> with tf.Session() as session:
      ...     session.run(counts.initializer)
      ...     session.run(counts).tolist()
      [0, 0, 0]
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Zeros of ``shape``."""
        return fill.zeros(shape, self._dtype(dtype))


class ones_initializer(Initializer):
    """All ones.

    Args:
      dtype: type of the values where the call does not say.

    Example:
      >>> import penstock as tf
      >>> scale = tf.get_variable("scale", [3], initializer=tf.ones_initializer())
      >>> with tf.Session() as session:
      ...     session.run(scale.initializer)
      ...     session.run(scale).tolist()
      [1.0, 1.0, 1.0]
    """

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Ones of ``shape``."""
        return fill.ones(shape, self._dtype(dtype))


class constant_initializer(Initializer):
    """Given values.

    Args:
      value: a number, (nested) list or array; with fewer elements than the shape, the last one
        fills the rest.
      dtype: type of the values where the call does not say.
      verify_shape: whether ``value`` must have the shape exactly.

    Raises:
      TypeError: ``value`` is none of these.

    Example:
      >>> import penstock as tf
      >>> bias = tf.get_variable("bias", [3], initializer=tf.constant_initializer(0.1))
      >>> with tf.Session() as session:
      ...     session.run(bias.initializer)
      ...     session.run(bias).tolist()
      [0.10000000149011612, 0.10000000149011612, 0.10000000149011612]
    """

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        if not (np.isscalar(value) or isinstance(value, list | tuple | np.ndarray)):
            raise TypeError(
                f"value must be a number, list, tuple or array; found {type(value).__name__}"
            )
        super().__init__(dtype)
        self.value, self._verify_shape = value, verify_shape

    def __call__(
        self, shape: Any, dtype: Any = None, partition_info: Any = None,
        verify_shape: bool | None = None,
    ) -> Tensor:  # fmt: skip
        """The values, filled up to ``shape``."""
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant.constant(self.value, self._dtype(dtype), shape, verify_shape=verify)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"value": self.value, "dtype": self.dtype.name}


class random_uniform_initializer(Initializer):
    """Uniform in ``[minval, maxval)``.

    Args:
      minval, maxval: bounds; ``maxval`` is 1 by default for floats.
      seed: op-level seed.
      dtype: type of the values where the call does not say.

    Example:
      >>> import penstock as tf
      >>> weights = tf.get_variable("w", [100], initializer=tf.random_uniform_initializer(-1, 1))
      >>> with tf.Session() as session:
      ...     session.run(weights.initializer)
      ...     bool((abs(session.run(weights)) <= 1).all())
      True
    """

    def __init__(
        self, minval: Any = 0, maxval: Any = None, seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(dtype)
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Random values of ``shape``."""
        wanted = self._dtype(dtype)
        return random.random_uniform(shape, self.minval, self.maxval, wanted, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {
            "minval": self.minval, "maxval": self.maxval, "seed": self.seed,
            "dtype": self.dtype.name,
        }  # fmt: skip


class random_normal_initializer(Initializer):
    """Normally distributed.

    Args:
      mean, stddev: of the distribution.
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.

    Example:
      >>> import penstock as tf
      >>> start = tf.random_normal_initializer(stddev=2.0)
      >>> weights = tf.get_variable("w", [100, 100], initializer=start)
      >>> with tf.Session() as session:
      ...     session.run(weights.initializer)
      ...     round(float(session.run(weights).std()))
      2
    """

    _draw = staticmethod(random.random_normal)

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 1.0, seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(_floating(dtype))
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Random values of ``shape``."""
        return self._draw(shape, self.mean, self.stddev, self._dtype(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {
            "mean": self.mean, "stddev": self.stddev, "seed": self.seed, "dtype": self.dtype.name,
        }  # fmt: skip


class truncated_normal_initializer(random_normal_initializer):
    """Normally distributed, cut off two standard deviations from the mean.

    Args:
      mean, stddev: of the distribution before it is cut off.
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.

    Example:
      >>> import penstock as tf
      >>> start = tf.truncated_normal_initializer(stddev=0.1)
      >>> weights = tf.get_variable("w", [100], initializer=start)
      >>> with tf.Session() as session:
      ...     session.run(weights.initializer)
      ...     bool((abs(session.run(weights)) <= 0.2).all())  # two standard deviations
      True
    """

    _draw = staticmethod(random.truncated_normal)


class uniform_unit_scaling_initializer(Initializer):
    """Uniform, so that a product with an input of unit variance keeps its scale.

    Args:
      factor: multiplies the bound ``sqrt(3 / input size)``.
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.
    """

    def __init__(
        self, factor: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(_floating(dtype))
        self.factor, self.seed = factor, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Random values of ``shape``."""
        size = max(math.prod(_dims(shape, partition_info)[:-1]), 1)
        bound = math.sqrt(3 / size) * self.factor
        return random.random_uniform(shape, -bound, bound, self._dtype(dtype), seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"factor": self.factor, "seed": self.seed, "dtype": self.dtype.name}


_MODES = ("fan_in", "fan_out", "fan_avg")
_DISTRIBUTIONS = ("normal", "truncated_normal", "uniform", "untruncated_normal")
# Standard deviation of a standard normal that is cut off at two.
_TRUNCATED_DEVIATION = 0.87962566103423978


class variance_scaling_initializer(Initializer):
    """Random with variance ``scale / n``, n the number of inputs or outputs of a unit.

    Args:
      scale: positive factor of the variance.
      mode: what n is: "fan_in", "fan_out", or "fan_avg", their mean.
      distribution: "truncated_normal" (or "normal"), "untruncated_normal" or "uniform".
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def __init__(
        self, scale: float = 1.0, mode: str = "fan_in", distribution: str = "truncated_normal",
        seed: int | None = None, dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        if scale <= 0:
            raise ValueError(f"scale must be positive; found {scale}")
        if mode not in _MODES:
            raise ValueError(f"mode must be one of {_MODES}; found {mode!r}")
        if distribution.lower() not in _DISTRIBUTIONS:
            raise ValueError(
                f"distribution must be one of {_DISTRIBUTIONS}; found {distribution!r}"
            )
        super().__init__(_floating(dtype))
        self.scale, self.mode, self.distribution = scale, mode, distribution.lower()
        self.seed = seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """Random values of ``shape``."""
        fan_in, fan_out = fans(_dims(shape, partition_info))
        size = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2}[self.mode]
        variance = self.scale / max(1.0, size)
        wanted = self._dtype(dtype)
        if self.distribution == "uniform":
            limit = math.sqrt(3 * variance)
            return random.random_uniform(shape, -limit, limit, wanted, seed=self.seed)
        deviation = math.sqrt(variance)
        if self.distribution == "untruncated_normal":
            return random.random_normal(shape, 0.0, deviation, wanted, seed=self.seed)
        deviation /= _TRUNCATED_DEVIATION
        return random.truncated_normal(shape, 0.0, deviation, wanted, seed=self.seed)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {
            "scale": self.scale, "mode": self.mode, "distribution": self.distribution,
            "seed": self.seed, "dtype": self.dtype.name,
        }  # fmt: skip


def fans(dims: list[int]) -> tuple[float, float]:
    """How many inputs and outputs a unit of a weight of these sizes has."""
    if not dims:
        return 1.0, 1.0
    if len(dims) == 1:
        return float(dims[0]), float(dims[0])
    field = math.prod(dims[:-2])
    return float(dims[-2] * field), float(dims[-1] * field)


class _Glorot(variance_scaling_initializer):
    _distribution = ""

    def __init__(self, seed: int | None = None, dtype: Any = dtypes.float32) -> None:
        super().__init__(1.0, "fan_avg", self._distribution, seed, dtype)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"seed": self.seed, "dtype": self.dtype.name}


class glorot_uniform_initializer(_Glorot):
    """Uniform within ``sqrt(6 / (fan_in + fan_out))``; what ``get_variable`` uses by default.

    Args:
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.

    Source: Glorot and Bengio, Understanding the difficulty of training deep networks, 2010.
    """

    _distribution = "uniform"


class glorot_normal_initializer(_Glorot):
    """Truncated normal with variance ``2 / (fan_in + fan_out)``.

    Args:
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.
    """

    _distribution = "truncated_normal"


class orthogonal_initializer(Initializer):
    """A random matrix with orthonormal rows or columns, whichever are fewer.

    Args:
      gain: multiplies the matrix.
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.
    """

    def __init__(
        self, gain: float = 1.0, seed: int | None = None, dtype: Any = dtypes.float32
    ) -> None:
        super().__init__(_floating(dtype))
        self.gain, self.seed = gain, seed

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """A random matrix, given ``shape``; dims before the last count as rows."""
        dims = _dims(shape)
        if len(dims) < 2:
            raise ValueError(f"the shape must have at least two dims; found {dims}")
        rows, columns = math.prod(dims[:-1]), dims[-1]
        tall = [max(rows, columns), min(rows, columns)]
        drawn = random.random_normal(tall, dtype=self._dtype(dtype), seed=self.seed)
        q, r = linalg_eig.qr(drawn, full_matrices=False)
        # With the signs of r's diagonal made positive, q is uniform over orthogonal matrices.
        q = q * make("Sign", make("DiagPart", r))
        if rows < columns:
            q = linalg.matrix_transpose(q)
        matrix: Any = reshape.reshape(q, dims)
        scaled: Tensor = self.gain * matrix
        return scaled

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"gain": self.gain, "seed": self.seed, "dtype": self.dtype.name}


class identity_initializer(Initializer):
    """The identity matrix.

    Args:
      gain: multiplies the matrix.
      dtype: floating type of the values where the call does not say.
    """

    def __init__(self, gain: float = 1.0, dtype: Any = dtypes.float32) -> None:
        super().__init__(_floating(dtype))
        self.gain = gain

    def __call__(self, shape: Any, dtype: Any = None, partition_info: Any = None) -> Tensor:
        """The identity of ``shape``, two dims; a part of it where ``partition_info`` says so."""
        dims = _dims(shape, partition_info)
        if len(dims) != 2:
            raise ValueError(f"the shape must have two dims; found {dims}")
        matrix: Any = matrix_diag.eye(dims[0], dims[1], dtype=self._dtype(dtype))
        if partition_info is not None:
            matrix = make("Slice", matrix, list(partition_info.var_offset), _dims(shape))
        scaled: Tensor = self.gain * matrix
        return scaled

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this initializer again."""
        return {"gain": self.gain, "dtype": self.dtype.name}


def he_normal(seed: int | None = None) -> variance_scaling_initializer:
    """Truncated normal with variance ``2 / fan_in`` (He et al., 2015)."""
    return variance_scaling_initializer(2.0, "fan_in", "truncated_normal", seed)


def he_uniform(seed: int | None = None) -> variance_scaling_initializer:
    """Uniform with variance ``2 / fan_in`` (He et al., 2015)."""
    return variance_scaling_initializer(2.0, "fan_in", "uniform", seed)


def lecun_normal(seed: int | None = None) -> variance_scaling_initializer:
    """Truncated normal with variance ``1 / fan_in`` (LeCun et al., 1998)."""
    return variance_scaling_initializer(1.0, "fan_in", "truncated_normal", seed)


def lecun_uniform(seed: int | None = None) -> variance_scaling_initializer:
    """Uniform with variance ``1 / fan_in`` (LeCun et al., 1998)."""
    return variance_scaling_initializer(1.0, "fan_in", "uniform", seed)

"""Initializers as layers name them: ``tf.keras.initializers``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.library.layer_base import configs
from penstock.library.variables import initializers as plain


class RandomNormal(plain.random_normal_initializer):
    """Normally distributed, as ``tf.random_normal_initializer`` with another default.

    Args:
      mean, stddev: of the distribution.
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.
    """

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(plain.random_uniform_initializer):
    """Uniform in ``[minval, maxval)``, as ``tf.random_uniform_initializer`` with other defaults.

    Args:
      minval, maxval: bounds.
      seed: op-level seed.
      dtype: type of the values where the call does not say.
    """

    def __init__(
        self, minval: Any = -0.05, maxval: Any = 0.05, seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(minval, maxval, seed, dtype)


class TruncatedNormal(plain.truncated_normal_initializer):
    """Truncated normal, as ``tf.truncated_normal_initializer`` with another default.

    Args:
      mean, stddev: of the distribution before it is cut off.
      seed: op-level seed.
      dtype: floating type of the values where the call does not say.
    """

    def __init__(
        self, mean: Any = 0.0, stddev: Any = 0.05, seed: int | None = None,
        dtype: Any = dtypes.float32,
    ) -> None:  # fmt: skip
        super().__init__(mean, stddev, seed, dtype)


# Class name of a configuration to the class.
_CLASSES: dict[str, Any] = {
    "Zeros": plain.zeros_initializer,
    "Ones": plain.ones_initializer,
    "Constant": plain.constant_initializer,
    "RandomUniform": RandomUniform,
    "RandomNormal": RandomNormal,
    "TruncatedNormal": TruncatedNormal,
    "VarianceScaling": plain.variance_scaling_initializer,
    "Orthogonal": plain.orthogonal_initializer,
    "Identity": plain.identity_initializer,
    "GlorotUniform": plain.glorot_uniform_initializer,
    "GlorotNormal": plain.glorot_normal_initializer,
}
_KNOWN = _CLASSES | {
    "zeros": plain.zeros_initializer,
    "ones": plain.ones_initializer,
    "constant": plain.constant_initializer,
    "uniform": RandomUniform,
    "random_uniform": RandomUniform,
    "normal": RandomNormal,
    "random_normal": RandomNormal,
    "truncated_normal": TruncatedNormal,
    "orthogonal": plain.orthogonal_initializer,
    "identity": plain.identity_initializer,
    "glorot_uniform": plain.glorot_uniform_initializer,
    "glorot_normal": plain.glorot_normal_initializer,
    "he_normal": plain.he_normal,
    "he_uniform": plain.he_uniform,
    "lecun_normal": plain.lecun_normal,
    "lecun_uniform": plain.lecun_uniform,
}
_FACTORIES = {plain.he_normal, plain.he_uniform, plain.lecun_normal, plain.lecun_uniform}
_NAMES: dict[type, str] = {
    plain.random_uniform_initializer: "RandomUniform",
    plain.random_normal_initializer: "RandomNormal",
    plain.truncated_normal_initializer: "TruncatedNormal",
} | {found: name for name, found in _CLASSES.items()}


def serialize(initializer: Any) -> Any:
    """An initializer as a configuration."""
    return configs.serialized(initializer, _NAMES)


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The initializer that a configuration or a name stands for."""
    found = configs.made_from(config, _KNOWN, "initializer", custom_objects)
    return found() if found in _FACTORIES else found


def get(identifier: Any) -> Any:
    """The initializer that a name, a configuration, itself or None stands for.

    Raises:
      ValueError: no initializer has that name.
    """
    if isinstance(identifier, str | dict):
        return deserialize(identifier)
    if identifier is None or callable(identifier):
        return identifier
    raise ValueError(f"Could not interpret initializer identifier: {identifier}")

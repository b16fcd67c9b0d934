"""``tf.keras.initializers``: explicit re-exports, no logic."""

from penstock.library.layer_base.initializers import (
    RandomNormal as RandomNormal,
    RandomUniform as RandomUniform,
    TruncatedNormal as TruncatedNormal,
    deserialize as deserialize,
    get as get,
    serialize as serialize,
)
from penstock.library.variables.initializers import (
    Initializer as Initializer,
    constant_initializer as _constant,
    glorot_normal_initializer as _glorot_normal,
    glorot_uniform_initializer as _glorot_uniform,
    he_normal as he_normal,
    he_uniform as he_uniform,
    identity_initializer as _identity,
    lecun_normal as lecun_normal,
    lecun_uniform as lecun_uniform,
    ones_initializer as _ones,
    orthogonal_initializer as _orthogonal,
    variance_scaling_initializer as _variance_scaling,
    zeros_initializer as _zeros,
)

Constant = constant = _constant
Identity = identity = _identity
Ones = ones = _ones
Orthogonal = orthogonal = _orthogonal
VarianceScaling = _variance_scaling
Zeros = zeros = _zeros
glorot_normal = _glorot_normal
glorot_uniform = _glorot_uniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
uniform = random_uniform = RandomUniform

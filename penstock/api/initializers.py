"""``tf.initializers``: initializers of variables; explicit re-exports, no logic."""

from penstock.library.variables.initializers import (
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
    random_normal_initializer as _random_normal,
    random_uniform_initializer as _random_uniform,
    truncated_normal_initializer as _truncated_normal,
    uniform_unit_scaling_initializer as _uniform_unit_scaling,
    variance_scaling_initializer as _variance_scaling,
    zeros_initializer as _zeros,
)
from penstock.library.variables.listing import (
    global_variables_initializer as _global_variables,
    local_variables_initializer as _local_variables,
    variables_initializer as _variables,
)
from penstock.training.data.lookup_initializers import tables_initializer as tables_initializer

constant = _constant
global_variables = _global_variables
glorot_normal = _glorot_normal
glorot_uniform = _glorot_uniform
identity = _identity
local_variables = _local_variables
ones = _ones
orthogonal = _orthogonal
random_normal = _random_normal
random_uniform = _random_uniform
truncated_normal = _truncated_normal
uniform_unit_scaling = _uniform_unit_scaling
variables = _variables
variance_scaling = _variance_scaling
zeros = _zeros

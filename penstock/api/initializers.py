"""``tf.initializers``: initializers of variables; explicit re-exports, no logic."""

from penstock.data.lookup_initializers import tables_initializer
from penstock.variables.initializers import (
    constant_initializer as constant,
)
from penstock.variables.initializers import (
    glorot_normal_initializer as glorot_normal,
)
from penstock.variables.initializers import (
    glorot_uniform_initializer as glorot_uniform,
)
from penstock.variables.initializers import (
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)
from penstock.variables.initializers import (
    identity_initializer as identity,
)
from penstock.variables.initializers import (
    ones_initializer as ones,
)
from penstock.variables.initializers import (
    orthogonal_initializer as orthogonal,
)
from penstock.variables.initializers import (
    random_normal_initializer as random_normal,
)
from penstock.variables.initializers import (
    random_uniform_initializer as random_uniform,
)
from penstock.variables.initializers import (
    truncated_normal_initializer as truncated_normal,
)
from penstock.variables.initializers import (
    uniform_unit_scaling_initializer as uniform_unit_scaling,
)
from penstock.variables.initializers import (
    variance_scaling_initializer as variance_scaling,
)
from penstock.variables.initializers import (
    zeros_initializer as zeros,
)
from penstock.variables.listing import (
    global_variables_initializer as global_variables,
)
from penstock.variables.listing import (
    local_variables_initializer as local_variables,
)
from penstock.variables.listing import (
    variables_initializer as variables,
)

__all__ = [
    "constant",
    "global_variables",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
    "lecun_normal",
    "lecun_uniform",
    "local_variables",
    "ones",
    "orthogonal",
    "random_normal",
    "random_uniform",
    "tables_initializer",
    "truncated_normal",
    "uniform_unit_scaling",
    "variables",
    "variance_scaling",
    "zeros",
]

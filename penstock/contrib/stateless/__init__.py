"""``tf.contrib.stateless``: draws that depend on their seeds alone; the first place of these."""

from penstock.foundation.base import public_names
from penstock.ops.random import stateless_random
from penstock.ops.random.stateless_random import (
    stateless_multinomial as stateless_multinomial,
    stateless_truncated_normal as stateless_truncated_normal,
)

stateless_random_normal = stateless_random.stateless_normal
stateless_random_uniform = stateless_random.stateless_uniform

__dir__ = public_names.listing(__name__)

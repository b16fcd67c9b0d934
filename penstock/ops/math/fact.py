"""The op that TensorFlow 1.x has as an example of an op of the user's."""

from __future__ import annotations

import numpy as np

from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import unknown


def _fact() -> np.ndarray:
    return np.array(b"0! == 1", object)


define_op("Fact", "-> fact: string", shape=unknown, kernel=_fact, no_gradient="a string has none")


def my_fact() -> Tensor:
    """A string scalar that states a fact of mathematics."""
    return make("Fact")

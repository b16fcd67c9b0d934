"""Which optimizer a canned estimator trains with."""

from __future__ import annotations

from typing import Any

from penstock.training.train.adagrad import AdagradOptimizer
from penstock.training.train.adam import AdamOptimizer
from penstock.training.train.ftrl import FtrlOptimizer
from penstock.training.train.gradient_descent import GradientDescentOptimizer
from penstock.training.train.optimizer import Optimizer
from penstock.training.train.rmsprop import RMSPropOptimizer

_BY_NAME: dict[str, Any] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}


def optimizer_of(given: Any, learning_rate: float) -> Optimizer:
    """The optimizer that a name, a function or an optimizer stands for.

    Args:
      given: a name of the table above, a function that makes an optimizer, or one.
      learning_rate: of one that is made by name.

    Raises:
      ValueError: it is something else.
    """
    if isinstance(given, str):
        if given not in _BY_NAME:
            raise ValueError(
                f"Unsupported optimizer name: {given}. Supported names are:"
                f" {tuple(sorted(_BY_NAME))}"
            )
        made: Optimizer = _BY_NAME[given](learning_rate=learning_rate)
        return made
    if callable(given):
        given = given()
    if not isinstance(given, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {given!r}")
    return given

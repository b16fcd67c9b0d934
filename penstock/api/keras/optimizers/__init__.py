"""``tf.keras.optimizers``: explicit re-exports, no logic."""

from penstock.api.keras.optimizers import schedules as schedules
from penstock.training.keras_models.optimizer import OptimizerV2 as Optimizer
from penstock.training.keras_models.optimizers import (
    SGD as SGD,
    Adadelta as Adadelta,
    Adagrad as Adagrad,
    Adam as Adam,
    Adamax as Adamax,
    Ftrl as Ftrl,
    Nadam as Nadam,
    RMSprop as RMSprop,
    deserialize as deserialize,
    get as get,
    serialize as serialize,
)

__all__ = [
    "SGD", "Adadelta", "Adagrad", "Adam", "Adamax", "Ftrl", "Nadam", "Optimizer", "RMSprop",
    "deserialize", "get", "schedules", "serialize",
]  # fmt: skip

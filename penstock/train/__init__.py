"""``tf.train``: optimizers, moving averages, learning-rate schedules, the global step."""

from penstock.train.adadelta import AdadeltaOptimizer
from penstock.train.adagrad import AdagradOptimizer
from penstock.train.adagrad_da import AdagradDAOptimizer
from penstock.train.adam import AdamOptimizer
from penstock.train.ftrl import FtrlOptimizer
from penstock.train.global_step import (
    assert_global_step,
    create_global_step,
    get_global_step,
    get_or_create_global_step,
    global_step,
)
from penstock.train.gradient_descent import GradientDescentOptimizer
from penstock.train.learning_rate import (
    cosine_decay,
    cosine_decay_restarts,
    exponential_decay,
    inverse_time_decay,
    linear_cosine_decay,
    natural_exp_decay,
    noisy_linear_cosine_decay,
    piecewise_constant,
    piecewise_constant_decay,
    polynomial_decay,
)
from penstock.train.momentum import MomentumOptimizer
from penstock.train.moving_averages import ExponentialMovingAverage
from penstock.train.optimizer import Optimizer
from penstock.train.proximal_adagrad import ProximalAdagradOptimizer
from penstock.train.proximal_gradient_descent import ProximalGradientDescentOptimizer
from penstock.train.rmsprop import RMSPropOptimizer

__all__ = [
    "AdadeltaOptimizer", "AdagradDAOptimizer", "AdagradOptimizer", "AdamOptimizer",
    "ExponentialMovingAverage", "FtrlOptimizer", "GradientDescentOptimizer", "MomentumOptimizer",
    "Optimizer", "ProximalAdagradOptimizer", "ProximalGradientDescentOptimizer", "RMSPropOptimizer",
    "assert_global_step", "cosine_decay", "cosine_decay_restarts", "create_global_step",
    "exponential_decay", "get_global_step", "get_or_create_global_step", "global_step",
    "inverse_time_decay", "linear_cosine_decay", "natural_exp_decay", "noisy_linear_cosine_decay",
    "piecewise_constant", "piecewise_constant_decay", "polynomial_decay",
]  # fmt: skip

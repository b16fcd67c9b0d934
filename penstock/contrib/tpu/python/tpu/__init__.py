"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.tpu import tpu_function as tpu_function
from penstock.training.estimator import tpu as tpu_estimator
from penstock.training.train import tpu as tpu_optimizer

tpu_config = tpu_estimator

__all__ = ["tpu_config", "tpu_estimator", "tpu_function", "tpu_optimizer"]

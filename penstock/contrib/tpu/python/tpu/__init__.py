"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.tpu import cross_shard, tpu_function as tpu_function
from penstock.training.estimator import tpu as tpu_estimator

tpu_config = tpu_estimator
tpu_optimizer = cross_shard

__all__ = ["tpu_config", "tpu_estimator", "tpu_function", "tpu_optimizer"]

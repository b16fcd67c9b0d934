"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.tpu import cross_shard as tpu_ops

__all__ = ["tpu_ops"]

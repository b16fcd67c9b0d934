"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.training.train import tpu as tpu_ops

__all__ = ["tpu_ops"]

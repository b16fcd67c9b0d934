"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.tpu.python import ops as ops, tpu as tpu

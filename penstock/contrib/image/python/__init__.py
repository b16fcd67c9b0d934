"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.image.python import ops as ops

"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.training.python import training as training

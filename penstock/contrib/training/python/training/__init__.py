"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.training import evaluation as evaluation
from penstock.contrib.training.python.training import hparam as hparam

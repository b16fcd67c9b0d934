"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.framework import argument_scopes, variables as variables
from penstock.contrib.framework.python.ops import audio_ops as audio_ops

arg_scope = argument_scopes

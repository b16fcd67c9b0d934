"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib import eager as tfe

__all__ = ["tfe"]

"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.training.feature_column import sequence_input as sequence_feature_column

__all__ = ["sequence_feature_column"]

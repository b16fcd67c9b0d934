"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

from penstock.contrib.feature_column.python import feature_column as feature_column

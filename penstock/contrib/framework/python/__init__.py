"""Module paths of TensorFlow that programs import directly: explicit re-exports, no logic."""

"""Namespaces of public names (``tf.math``, ``tf.linalg``, ...): explicit re-exports, no logic."""

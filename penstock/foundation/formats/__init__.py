"""Bytes in TensorFlow's formats, no graph: tensors as messages, later checkpoints and records."""

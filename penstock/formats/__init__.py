"""Bytes in TensorFlow's formats, with no graph: tensors as messages, later checkpoints and records."""

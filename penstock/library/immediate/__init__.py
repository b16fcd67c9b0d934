"""Bodies of ``tf.py_function``: graphs whose tensors give their values when asked."""

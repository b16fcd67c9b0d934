"""``tf.estimator.inputs``: explicit re-exports, no logic."""

from penstock.training.estimator.array_input import (
    numpy_input_fn as numpy_input_fn,
    pandas_input_fn as pandas_input_fn,
)

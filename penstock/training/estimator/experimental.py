"""``tf.estimator.experimental``: explicit re-exports, no logic."""

from penstock.training.estimator.receivers import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)

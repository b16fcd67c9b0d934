"""``tf.contrib.learn.utils``: explicit re-exports, no logic."""

from penstock.contrib.learn import input_fn_utils as input_fn_utils
from penstock.contrib.learn.experiment import make_export_strategy as make_export_strategy
from penstock.contrib.learn.input_fn_utils import (
    InputFnOps as InputFnOps,
    build_default_serving_input_fn as build_default_serving_input_fn,
    build_parsing_serving_input_fn as build_parsing_serving_input_fn,
)

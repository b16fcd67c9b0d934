"""``tf.estimator.experimental``: explicit re-exports, no logic."""

from penstock.training.estimator.canned.networks import (
    called_logit_fn as call_logit_fn,
    deep_logit_fn as dnn_logit_fn_builder,
    linear_logit_fn as linear_logit_fn_builder,
)
from penstock.training.estimator.early_stopping import (
    make_early_stopping_hook as make_early_stopping_hook,
    make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook,
    stop_if_higher_hook as stop_if_higher_hook,
    stop_if_lower_hook as stop_if_lower_hook,
    stop_if_no_decrease_hook as stop_if_no_decrease_hook,
    stop_if_no_increase_hook as stop_if_no_increase_hook,
)
from penstock.training.estimator.in_memory_evaluator import (
    InMemoryEvaluatorHook as InMemoryEvaluatorHook,
)
from penstock.training.estimator.receivers import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)

__all__ = [
    "InMemoryEvaluatorHook", "build_raw_supervised_input_receiver_fn", "call_logit_fn",
    "dnn_logit_fn_builder", "linear_logit_fn_builder", "make_early_stopping_hook",
    "make_stop_at_checkpoint_step_hook", "stop_if_higher_hook", "stop_if_lower_hook",
    "stop_if_no_decrease_hook", "stop_if_no_increase_hook",
]  # fmt: skip

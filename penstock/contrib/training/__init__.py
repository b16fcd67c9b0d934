"""``tf.contrib.training``: hyper-parameters, training and evaluation loops, buckets, sampling.

``hparams`` has hyper-parameters, ``train_op`` the op that trains and its loop, ``evaluation`` the
loops over checkpoints; ``buckets`` and ``sampling`` choose examples, ``sequence_states`` cuts long
ones into segments.
"""

from penstock.contrib.training import python as python
from penstock.contrib.training.buckets import (
    bucket as bucket,
    bucket_by_sequence_length as bucket_by_sequence_length,
)
from penstock.contrib.training.evaluation import (
    StopAfterNEvalsHook as StopAfterNEvalsHook,
    SummaryAtEndHook as SummaryAtEndHook,
    checkpoints_iterator as checkpoints_iterator,
    evaluate_once as evaluate_once,
    evaluate_repeatedly as evaluate_repeatedly,
    get_or_create_eval_step as get_or_create_eval_step,
    wait_for_new_checkpoint as wait_for_new_checkpoint,
)
from penstock.contrib.training.hparams import HParams as HParams, parse_values as parse_values
from penstock.contrib.training.sampling import (
    rejection_sample as rejection_sample,
    resample_at_rate as resample_at_rate,
    stratified_sample as stratified_sample,
    weighted_resample as weighted_resample,
)
from penstock.contrib.training.sequence_states import (
    NextQueuedSequenceBatch as NextQueuedSequenceBatch,
    SequenceQueueingStateSaver as SequenceQueueingStateSaver,
    batch_sequences_with_states as batch_sequences_with_states,
)
from penstock.contrib.training.train_op import (
    add_gradients_summaries as add_gradients_summaries,
    clip_gradient_norms as clip_gradient_norms,
    clip_gradient_norms_fn as clip_gradient_norms_fn,
    create_train_op as create_train_op,
    multiply_gradients as multiply_gradients,
    train as train,
)
from penstock.foundation.base import public_names
from penstock.training.data.feeding_queue_runner import FeedingQueueRunner as FeedingQueueRunner
from penstock.training.train.device_setter import (
    GreedyLoadBalancingStrategy as GreedyLoadBalancingStrategy,
    RandomStrategy as RandomStrategy,
    byte_size_load_fn as byte_size_load_fn,
)

__dir__ = public_names.listing(__name__)

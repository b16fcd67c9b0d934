"""A receiver of features and labels that are like what an ``input_fn`` gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.graph.graph import Graph
from penstock.training.estimator.calling import features_and_labels
from penstock.training.estimator.receivers import (
    SupervisedInputReceiver,
    build_raw_supervised_input_receiver_fn,
)


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """A receiver function to export a trainer or evaluator, fed what ``input_fn`` would give.

    Args:
      input_fn: returns features and labels, tensors or dicts of them, or a dataset of both; it is
        called in a graph that is not kept.
      **input_fn_args: what it is called with.

    Returns:
      A function that makes placeholders of the same names, dtypes and shapes, but for the batch,
      which is open.

    Example:
      >>> import penstock as tf
      >>> receiver_fn = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn(
      ...     lambda rows: ({"x": tf.ones([rows, 3])}, tf.zeros([rows])), rows=4)
      >>> with tf.Graph().as_default():
      ...     receiver = receiver_fn()
      >>> {key: tensor.shape.as_list() for key, tensor in receiver.receiver_tensors.items()}
      {'x': [None, 3], 'label': [None]}

    Source: ``tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn`` of
    TensorFlow 1.15.
    """
    with Graph().as_default():
        features, labels, _ = features_and_labels(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)

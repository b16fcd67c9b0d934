"""What exported estimators of ``tf.contrib.learn`` are fed: examples as messages, or tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.ops.array.constant import placeholder
from penstock.training.data.features import parse_example


class InputFnOps(NamedTuple):
    """Features, labels, and the placeholders that they are made of."""

    features: Any
    labels: Any
    default_inputs: Any


def build_parsing_serving_input_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function that makes features of ``tf.train.Example`` messages.

    Args:
      feature_spec: features by key, as ``tf.parse_example`` takes them.
      default_batch_size: how many messages; None for any number.

    Returns:
      A function that makes a placeholder and the features, as ``InputFnOps``.

    Example:
      >>> import penstock as tf
      >>> spec = {"a": tf.FixedLenFeature([1], tf.float32)}
      >>> with tf.Graph().as_default():
      ...     made = tf.contrib.learn.build_parsing_serving_input_fn(spec)()
      >>> made.default_inputs["examples"].op.name, made.features["a"].shape.as_list()
      ('input_example_tensor', [None, 1])
    """

    def input_fn() -> InputFnOps:
        messages = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return InputFnOps(parse_example(messages, feature_spec), None, {"examples": messages})

    return input_fn


def build_default_serving_input_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """A function that makes a placeholder like each of several tensors.

    Args:
      features: tensors by key.
      default_batch_size: their first dim; None for any.
    """

    def input_fn() -> InputFnOps:
        made = {
            key: placeholder(
                tensor.dtype, [default_batch_size, *tensor.get_shape().as_list()[1:]],
                name=tensor.op.name,
            )
            for key, tensor in features.items()
        }  # fmt: skip
        return InputFnOps(made, None, made)

    return input_fn

"""``tf.estimator.export``'s receivers: what a served model is fed, and how features come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.base.shapes import TensorShape
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.constant import placeholder
from penstock.training.data.features import parse_example

SINGLE_FEATURE = "feature"
SINGLE_LABEL = "label"
SINGLE_RECEIVER = "input"


class _Receiver(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[str, Any] | None


class ServingInputReceiver(_Receiver):
    """What a ``serving_input_receiver_fn`` returns.

    Args:
      features: a tensor or sparse tensor, then called "feature", or a dict of them.
      receiver_tensors: what is fed: a tensor, then called "input", or a dict of them.
      receiver_tensors_alternatives: dict from names to others that may be fed instead.

    Raises:
      ValueError: something is None, a key is no string, or a value is no tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.placeholder(tf.float32, [None])
      ...     list(tf.estimator.export.ServingInputReceiver(x, x).receiver_tensors)
      ['input']
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> ServingInputReceiver:
        """Checks the arguments."""
        features = checked(features, "feature", SINGLE_FEATURE, may_number=True)
        receivers = checked(receiver_tensors, "receiver_tensor", SINGLE_RECEIVER)
        others = receiver_tensors_alternatives
        if others is not None:
            if not isinstance(others, dict):
                raise ValueError(f"receiver_tensors_alternatives must be a dict: {others!r}.")
            others = {
                name: checked(each, "receiver_tensors_alternative", SINGLE_RECEIVER)
                for name, each in others.items()
            }
        return super().__new__(cls, features, receivers, others)


class TensorServingInputReceiver(_Receiver):
    """A ``ServingInputReceiver`` whose features are one tensor, not a dict.

    Args:
      features: the tensor or sparse tensor.
      receiver_tensors, receiver_tensors_alternatives: as of ``ServingInputReceiver``.

    Raises:
      ValueError: as there.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None
    ) -> TensorServingInputReceiver:
        """Checks the arguments."""
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        whole = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls, features, whole.receiver_tensors, whole.receiver_tensors_alternatives
        )


class SupervisedInputReceiver(NamedTuple):
    """Features, labels and what is fed, of a model that is exported to be trained or evaluated."""

    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A ``serving_input_receiver_fn`` that is fed serialized ``tf.Example`` messages.

    Args:
      feature_spec: as of ``tf.parse_example``.
      default_batch_size: how many messages there are; default any number.

    Example:
      >>> import penstock as tf
      >>> spec = {"x": tf.FixedLenFeature([2], tf.float32)}
      >>> with tf.Graph().as_default():
      ...     made = tf.estimator.export.build_parsing_serving_input_receiver_fn(spec)()
      >>> made.features["x"].shape.as_list(), made.receiver_tensors["examples"].name
      ([None, 2], 'input_example_tensor:0')
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        features = parse_example(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A ``serving_input_receiver_fn`` that is fed the features themselves.

    Args:
      features: tensors whose dtypes, names and shapes, but for the batch, the placeholders get.
      default_batch_size: the batch; default is open.

    Example:
      >>> import penstock as tf
      >>> like = {"x": tf.zeros([3, 2], name="x")}
      >>> with tf.Graph().as_default():
      ...     made = tf.estimator.export.build_raw_serving_input_receiver_fn(like)()
      >>> made.features["x"].name, made.features["x"].shape.as_list()
      ('x:0', [None, 2])
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        receivers = _placeholders(features, default_batch_size)
        return ServingInputReceiver(receivers, receivers)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """A receiver function that is fed features and labels, to export a trainer or evaluator.

    Args:
      features, labels: tensors or dicts of them, which the placeholders are like.
      default_batch_size: the batch; default is open.

    Raises:
      ValueError: features and labels have a key in common.
    """
    alike = _keys(features, SINGLE_RECEIVER) & _keys(labels, SINGLE_LABEL)
    if alike:
        raise ValueError(
            f"Features and labels must have distinct keys. Found overlapping keys: {alike}"
        )

    def made(given: Any, single: str) -> tuple[Any, dict[str, Any]]:
        if isinstance(given, dict):
            receivers = _placeholders(given, default_batch_size)
            return receivers, receivers
        receiver = _placeholder(given, default_batch_size)
        return receiver, {single: receiver}

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features, receivers = made(features, SINGLE_RECEIVER)
        fed_labels, more = made(labels, SINGLE_LABEL)
        return SupervisedInputReceiver(fed_features, fed_labels, {**receivers, **more})

    return supervised_input_receiver_fn


def checked(tensors: Any, what: str, single: str, may_number: bool = False) -> dict[Any, Any]:
    """``tensors`` as a dict of tensors by name.

    Args:
      tensors: one tensor, or a dict of them.
      what: what they are, for messages.
      single: the name of a single one.
      may_number: whether keys may be integers.

    Raises:
      ValueError: they are None, or keys or values have other types.
    """
    if tensors is None:
        raise ValueError(f"{what}s must be defined.")
    if not isinstance(tensors, dict):
        tensors = {single: tensors}
    named: dict[Any, Any] = tensors
    for name, tensor in named.items():
        if not isinstance(name, (str, int) if may_number else str):
            kinds = "strings or ints" if may_number else "strings"
            raise ValueError(f"{what} keys must be {kinds}: {name!r}.")
        _check_tensor(tensor, f"{what} {name}")
    return named


def _check_tensor(tensor: Any, what: str) -> None:
    if not isinstance(tensor, Tensor | SparseTensor):
        raise ValueError(f"{what} must be a Tensor or SparseTensor. Found {tensor!r}")


def _keys(given: Any, single: str) -> set[str]:
    return set(given) if isinstance(given, dict) else {single}


def _placeholders(like: Mapping[str, Any], batch: int | None) -> dict[str, Any]:
    return {name: _placeholder(each, batch) for name, each in like.items()}


def _placeholder(like: Any, batch: int | None) -> Any:
    shape = TensorShape([batch]).concatenate(like.shape[1:])
    op = getattr(like, "op", None)
    return placeholder(like.dtype, shape, name=None if op is None else op.name)

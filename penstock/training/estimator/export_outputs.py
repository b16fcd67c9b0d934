"""``tf.estimator.export.ExportOutput`` and kin: what a SavedModel of an estimator gives."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import constant
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.storage.saved_model import signature_constants, signature_def_utils, supervised
from penstock.storage.saved_model.tensor_info import build_tensor_info

_DEFAULT = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ExportOutput(abc.ABC):
    """What an exported model gives under one signature."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The ``SignatureDef``.

        Args:
          receiver_tensors: the inputs by name.

        Raises:
          ValueError: this kind of signature takes other inputs.
        """


class ClassificationOutput(ExportOutput):
    """Classes and their scores.

    Args:
      scores: float tensor of shape [batch, classes], or None.
      classes: string tensor of that shape, or None.

    Raises:
      ValueError: both are None, or one has another dtype.
    """

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is not None and not (isinstance(scores, Tensor) and scores.dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores!r}")
        if classes is not None and not (
            isinstance(classes, Tensor) and classes.dtype == dtypes.string
        ):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes!r}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Any:
        """The scores."""
        return self._scores

    @property
    def classes(self) -> Any:
        """The classes."""
        return self._classes

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature; its only input is the serialized examples."""
        examples = _only_examples(receiver_tensors, "Classification")
        return signature_def_utils.classification_signature_def(
            examples, self._classes, self._scores
        )


class RegressionOutput(ExportOutput):
    """The values of a regression.

    Args:
      value: float tensor.

    Raises:
      ValueError: it is something else.
    """

    def __init__(self, value: Any) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value!r}")
        self._value = value

    @property
    def value(self) -> Any:
        """The values."""
        return self._value

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature; its only input is the serialized examples."""
        examples = _only_examples(receiver_tensors, "Regression")
        return signature_def_utils.regression_signature_def(examples, self._value)


class PredictOutput(ExportOutput):
    """Any tensors.

    Args:
      outputs: a tensor, then called "output", or a dict of them.

    Raises:
      ValueError: a key is no string, or a value no tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     list(tf.estimator.export.PredictOutput(tf.constant(1.0)).outputs)
      ['output']
    """

    def __init__(self, outputs: Any) -> None:
        self._outputs = _named(outputs, "output", "Prediction")

    @property
    def outputs(self) -> dict[str, Any]:
        """The tensors by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature, with all receivers as inputs."""
        return signature_def_utils.predict_signature_def(receiver_tensors, self._outputs)


class SupervisedOutput(ExportOutput):
    """What an exported trainer or evaluator gives: loss, predictions, metrics.

    Args:
      loss: the loss.
      predictions: a tensor or a dict of them.
      metrics: dict of pairs (value, update op).
    """

    _method: str

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self._outputs: dict[str, Any] = {}
        for value, name in ((loss, "loss"), (predictions, "predictions")):
            if value is not None:
                named = _named(value, name, name)
                self._outputs.update({_prefixed(k, name): v for k, v in named.items()})
        for key, (value, update) in (metrics or {}).items():
            key = _prefixed(_key(key, "metrics"), "metrics")
            if isinstance(update, Operation):
                with scopes.control_dependencies([update]):
                    update = constant([], name="metric_op_wrapper")
            self._outputs[f"{key}/value"] = value
            self._outputs[f"{key}/update_op"] = update

    def as_signature_def(self, receiver_tensors: dict[str, Any]) -> Any:
        """The signature, with all receivers as inputs."""
        return signature_def_utils.build_signature_def(
            {key: build_tensor_info(tensor) for key, tensor in receiver_tensors.items()},
            {key: build_tensor_info(tensor) for key, tensor in self._outputs.items()},
            self._method,
        )


class TrainOutput(SupervisedOutput):
    """What an exported trainer gives; arguments as of ``SupervisedOutput``."""

    _method = supervised.SUPERVISED_TRAIN_METHOD_NAME


class EvalOutput(SupervisedOutput):
    """What an exported evaluator gives; arguments as of ``SupervisedOutput``."""

    _method = supervised.SUPERVISED_EVAL_METHOD_NAME


def with_default_output(outputs: Any, predictions: Any) -> dict[str, ExportOutput]:
    """The outputs of a prediction, one of them under the default key.

    Args:
      outputs: what the model says, a dict; None stands for its predictions.
      predictions: a tensor or a dict of them.

    Raises:
      TypeError: ``outputs`` is no dict of ``ExportOutput``.
      ValueError: there are several and none is the default.
    """
    if outputs is None:
        outputs = {_DEFAULT: PredictOutput(predictions)}
    if not isinstance(outputs, dict):
        raise TypeError(f"export_outputs must be dict, given: {outputs!r}")
    for value in outputs.values():
        if not isinstance(value, ExportOutput):
            raise TypeError(
                f"Values in export_outputs must be ExportOutput objects. Given: {outputs!r}"
            )
    if len(outputs) == 1:
        outputs.setdefault(_DEFAULT, next(iter(outputs.values())))
    if len(outputs) > 1 and _DEFAULT not in outputs:
        raise ValueError(
            "Multiple export_outputs were provided, but none of them is specified as the default."
            f" Name one of {sorted(outputs)} {_DEFAULT!r}"
        )
    return outputs


def _only_examples(receivers: Mapping[str, Any], what: str) -> Any:
    examples = next(iter(receivers.values())) if len(receivers) == 1 else None
    if examples is None or examples.dtype != dtypes.string:
        raise ValueError(f"{what} input must be a single string Tensor; got {receivers!r}")
    return examples


def _named(outputs: Any, single: str, what: str) -> dict[str, Any]:
    if not isinstance(outputs, dict):
        outputs = {single: outputs}
    found = {}
    for key, value in outputs.items():
        key = _key(key, what)
        if not isinstance(value, Tensor):
            raise ValueError(f"{what} output value must be a Tensor; got {value!r}.")
        found[key] = value
    return found


def _key(key: Any, what: str) -> str:
    text = "/".join(key) if isinstance(key, tuple) else key
    if not isinstance(text, str):
        raise ValueError(f"{what} output key must be a string; got {text!r}.")
    return text


def _prefixed(key: str, prefix: str) -> str:
    return key if key.startswith(prefix) else f"{prefix}/{key}"

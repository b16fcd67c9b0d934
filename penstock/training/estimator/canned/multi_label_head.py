"""The head of several labels an example; nodes and keys are TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn import losses
from penstock.library.variables import metrics, metrics_counts
from penstock.ops.array import fill, join, ranks
from penstock.ops.array.cast import to_int64
from penstock.ops.array.slicing import slice_
from penstock.ops.control import check
from penstock.ops.math import elementwise, reduction
from penstock.ops.sparse.sparse_compose import sparse_to_indicator
from penstock.training.estimator.canned import head_checks, heads
from penstock.training.estimator.export_outputs import ClassificationOutput, PredictOutput
from penstock.training.estimator.mode_keys import ModeKeys


class MultiLabelHead(heads.ClassHead):
    """Several of two or more classes; the loss is the mean sigmoid cross entropy of them.

    Args:
      n_classes: how many classes there are.
      thresholds: of the probability, at which accuracy, precision and recall are measured.
      label_vocabulary: names of the classes, where labels are sparse strings.
      classes_for_class_based_metrics: classes, or names of them, that are measured apart.
      **shared: as of ``Head``.

    Raises:
      ValueError: an argument that is not allowed.
    """

    def __init__(
        self, n_classes: int, thresholds: Iterable[float] | None = None,
        label_vocabulary: Any = None, classes_for_class_based_metrics: Any = None, **shared: Any,
    ) -> None:  # fmt: skip
        self._thresholds = tuple(thresholds or ())
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-class classification. Given: {n_classes}"
            )
        for threshold in self._thresholds:
            if not 0.0 < threshold < 1.0:
                raise ValueError(f"thresholds must be in (0, 1) range. Given: {threshold}")
        if label_vocabulary is not None:
            _check_vocabulary(label_vocabulary, n_classes)
        super().__init__(**shared)
        self._n_classes = self.logits_dimension = n_classes
        self._label_vocabulary = label_vocabulary
        self._apart = _class_ids(
            tuple(classes_for_class_based_metrics or ()), label_vocabulary, n_classes
        )

    def _predictions(self, logits: Any, mode: str) -> tuple[dict[str, Any], Any, dict[str, Any]]:
        logits = head_checks.checked_logits(logits, self._n_classes)
        with scopes.name_scope(None, "predictions", (logits,)):
            probabilities = elementwise.sigmoid(logits, name="probabilities")
        found = {"logits": logits, "probabilities": probabilities}
        if mode != ModeKeys.PREDICT:
            return found, logits, {}
        classified = ClassificationOutput(probabilities, self._all_classes(probabilities))
        outputs = {
            "serving_default": classified, "classification": classified,
            "predict": PredictOutput(found),
        }  # fmt: skip
        return found, logits, outputs

    def _indicated(self, labels: Any) -> Any:
        """Labels as 0 or 1 of each class."""
        if labels is None:
            raise ValueError(
                "You must provide a labels Tensor. Given: None. Check that input_fn returns labels"
            )
        if not isinstance(labels, SparseTensor):
            text = "labels must be an integer indicator Tensor with values in [0, 1]"
            return head_checks.in_range(labels, 2, text)
        if labels.dtype == dtypes.string:
            ids = SparseTensor(labels.indices, self._ids(labels.values), labels.dense_shape)
            return to_int64(sparse_to_indicator(ids, self._n_classes))
        text = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        above = self._n_classes, labels.dtype
        checks = [
            check.assert_integer(labels.values, message=text),
            check.assert_less(labels.values, convert_to_tensor(*above), message=text),
            check.assert_non_negative(labels.values, message=text),
        ]
        with scopes.control_dependencies(checks):
            return to_int64(sparse_to_indicator(labels, self._n_classes))

    def _loss(self, features: Mapping[str, Any], logits: Any, labels: Any) -> heads.HeadLoss:
        logits = convert_to_tensor(logits)
        found = head_checks.checked_labels(self._indicated(labels), logits, self._n_classes)
        if self._loss_fn is not None:
            unreduced = head_checks.called_loss(self._loss_fn, found, logits, features)
        else:
            each = losses.sigmoid_cross_entropy(
                multi_class_labels=found, logits=logits, reduction=losses.Reduction.NONE
            )
            unreduced = reduction.reduce_mean(each, axis=-1, keepdims=True)
        return self._reduced(unreduced, features, logits, found)

    def _metrics(
        self, predictions: dict[str, Any], loss: heads.HeadLoss, regularization: Any
    ) -> dict[str, Any]:
        labels, weights, unreduced = loss.labels, loss.weights, loss.unreduced
        probabilities = predictions["probabilities"]
        used = [labels, probabilities, weights, unreduced, regularization]
        with scopes.name_scope(None, "metrics", used):
            found = {
                "average_loss": metrics.mean(unreduced, weights, name="average_loss"),
                "auc": metrics_counts.auc(labels, probabilities, weights, name="auc"),
                "auc_precision_recall": metrics_counts.auc(
                    labels, probabilities, weights, curve="PR", name="auc_precision_recall"
                ),
            }
            if regularization is not None:
                found["regularization_loss"] = metrics.mean(
                    regularization, name="regularization_loss"
                )
            for threshold in self._thresholds:
                found |= heads.at_threshold(threshold, labels, probabilities, weights)
            for number in self._apart:
                found |= self._metrics_of(number, labels, probabilities, weights)
        return found

    def _metrics_of(
        self, number: int, labels: Any, probabilities: Any, weights: Any
    ) -> dict[str, Any]:
        """What is measured of one class."""
        rank: Any = ranks.rank(probabilities) - 1
        begin = join.concat([fill.zeros([rank], dtype=dtypes.int32), [number]], axis=0)
        size = join.concat([-1 * fill.ones([rank], dtype=dtypes.int32), [1]], axis=0)
        likely = slice_(probabilities, begin=begin, size=size)
        true = slice_(labels, begin=begin, size=size)
        names = self._label_vocabulary
        name = f"class{number}" if names is None else names[number]
        mean, auc, pr = (
            f"{what}/{name}" for what in ("probability_mean", "auc", "auc_precision_recall")
        )
        return {
            mean: heads.mean_of(mean, "predictions", likely, weights),
            auc: heads.auc_of(auc, true, likely, weights, "ROC"),
            pr: heads.auc_of(pr, true, likely, weights, "PR"),
        }


def _check_vocabulary(names: Any, n_classes: int) -> None:
    if not isinstance(names, list | tuple):
        raise ValueError(f"label_vocabulary must be a list or tuple. Given type: {type(names)}")
    if len(names) != n_classes:
        raise ValueError(
            f"Length of label_vocabulary must be n_classes ({n_classes}). Given: {len(names)}"
        )


def _class_ids(classes: Sequence[Any], names: Any, n_classes: int) -> tuple[int, ...]:
    if classes and isinstance(classes[0], str):
        if not names:
            raise ValueError(
                "label_vocabulary must be provided when classes_for_class_based_metrics are sting."
                " They are strings here"
            )
        return tuple(names.index(each) for each in classes)
    for each in classes:
        if not 0 <= each < n_classes:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]."
                f" Given: {each}"
            )
    return tuple(classes)

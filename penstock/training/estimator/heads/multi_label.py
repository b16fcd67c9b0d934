"""``tf.estimator.MultiLabelHead``: several labels an example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn import losses
from penstock.ops.array import fill, join, ranks
from penstock.ops.array.cast import cast, to_int64
from penstock.ops.array.slicing import slice_
from penstock.ops.math import elementwise, reduction
from penstock.ops.math.weights import broadcast_weights
from penstock.ops.sparse.sparse_compose import sparse_to_indicator
from penstock.training.estimator.heads import checking, classes
from penstock.training.estimator.heads.base import regularization_metric
from penstock.training.keras_models import metrics
from penstock.training.keras_models.threshold_metrics import AUC
from penstock.training.keras_models.weighting import Reduction


class MultiLabelHead(classes.ClassHead):
    """Any of two or more classes; the loss is the mean sigmoid cross entropy of them.

    Args:
      n_classes: how many classes there are.
      weight_column: key or ``numeric_column`` of the examples' weights.
      thresholds: of the probability, at which accuracy, precision and recall are measured.
      label_vocabulary: names of the classes, where labels are sparse strings.
      loss_reduction, loss_fn, name: as of ``MultiClassHead``.
      classes_for_class_based_metrics: classes, or names of them, that are measured apart.

    Raises:
      ValueError: an argument that is not allowed.

    Example:
      >>> import penstock as tf
      >>> head = tf.estimator.MultiLabelHead(2)
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     loss = head.loss(tf.constant([[1, 0]]), tf.constant([[0.0, 0.0]]))
      ...     round(float(sess.run(loss)), 4)
      0.6931
    """

    _keys = ("logits", "probabilities")

    def __init__(
        self, n_classes: int, weight_column: Any = None,
        thresholds: Iterable[float] | None = None, label_vocabulary: Any = None,
        loss_reduction: str = Reduction.SUM_OVER_BATCH_SIZE,
        loss_fn: Callable[..., Any] | None = None, classes_for_class_based_metrics: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        if n_classes is None or n_classes < 2:
            raise ValueError(
                f"n_classes must be > 1 for multi-label classification. Given: {n_classes}"
            )
        self._thresholds = checking.check_thresholds(thresholds)
        checking.check_vocabulary(label_vocabulary)
        if label_vocabulary is not None and len(label_vocabulary) != n_classes:
            raise ValueError(
                f"Length of label_vocabulary must be n_classes ({n_classes}). Given:"
                f" {len(label_vocabulary)}"
            )
        super().__init__(weight_column, loss_reduction, loss_fn, name)
        self._n_classes, self._label_vocabulary = n_classes, label_vocabulary
        self._apart = _class_ids(
            tuple(classes_for_class_based_metrics or ()), label_vocabulary, n_classes
        )

    @property
    def logits_dimension(self) -> int:
        """The number of classes."""
        return self._n_classes

    def _predicted(self, key: str, logits: Any, found: dict[str, Any]) -> Any:
        return elementwise.sigmoid(logits, name="probabilities")

    def _labels(self, labels: Any, logits: Any) -> Any:
        return checking.checked_labels(self._indicated(labels), logits, self._n_classes)

    def _indicated(self, labels: Any) -> Any:
        """Labels as 0 or 1 of each class."""
        if labels is None:
            raise ValueError(
                "You must provide a labels Tensor. Given: None. Check that input_fn returns labels"
            )
        if not isinstance(labels, SparseTensor):
            text = "labels must be an integer indicator Tensor with values in [0, 1]"
            return checking.in_range(convert_to_tensor(labels), 2, text)
        if labels.dtype == dtypes.string:
            ids = SparseTensor(labels.indices, self._ids(labels.values), labels.dense_shape)
            return to_int64(sparse_to_indicator(ids, self._n_classes))
        text = f"labels must be an integer SparseTensor with values in [0, {self._n_classes})"
        if not labels.dtype.is_integer:
            raise ValueError(f"{text}. Labels dtype should be integer. Found {labels.dtype!r}")
        checked = checking.in_range(labels.values, self._n_classes, text)
        with scopes.control_dependencies([checked]):
            return to_int64(sparse_to_indicator(labels, self._n_classes))

    def _loss_of_each(self, labels: Any, logits: Any, features: Any) -> Any:
        if self._loss_fn is not None:
            return checking.called_loss(self._loss_fn, labels, logits, features)
        each = losses.sigmoid_cross_entropy(
            multi_class_labels=labels, logits=logits, reduction=losses.Reduction.NONE
        )
        return reduction.reduce_mean(each, axis=-1, keepdims=True)

    def _names_apart(self, number: int) -> tuple[str, str, str]:
        names = self._label_vocabulary
        name = f"class{number}" if names is None else names[number]
        return f"probability_mean/{name}", f"auc/{name}", f"auc_precision_recall/{name}"

    def _new_metrics(self, regularized: bool) -> dict[str, Any]:
        found: dict[str, Any] = {
            "average_loss": metrics.Mean(name="average_loss"),
            "auc": AUC(name="auc"),
            "auc_precision_recall": AUC(curve="PR", name="auc_precision_recall"),
        }
        if regularized:
            found["regularization_loss"] = regularization_metric()
        found |= classes.at_thresholds(self._thresholds, self._key)
        for number in self._apart:
            mean, auc, pr = self._names_apart(number)
            found[mean] = metrics.Mean(name=self._key(mean))
            found[auc] = AUC(name=self._key(auc))
            found[pr] = AUC(curve="PR", name=self._key(pr))
        return found

    def _update(
        self, found: dict[str, Any], labels: Any, logits: Any, each: Any, weights: Any
    ) -> None:
        likely = self.predictions(logits, ["probabilities"])["probabilities"]
        found["average_loss"].update_state(each, sample_weight=weights)
        for key in ("auc", "auc_precision_recall"):
            found[key].update_state(labels, likely, sample_weight=weights)
        classes.update_at_thresholds(found, self._thresholds, labels, likely, weights)
        for number in self._apart:
            self._update_apart(found, number, (labels, likely), weights)

    def _update_apart(
        self, found: dict[str, Any], number: int, both: Sequence[Any], weights: Any
    ) -> None:
        """Has the metrics of one class take a batch in."""
        mean, auc, pr = self._names_apart(number)
        rank: Any = ranks.rank(both[1]) - 1
        begin = join.concat([fill.zeros([rank], dtype=dtypes.int32), [number]], axis=0)
        size = join.concat([-1 * fill.ones([rank], dtype=dtypes.int32), [1]], axis=0)
        true, likely = (slice_(each, begin=begin, size=size) for each in both)
        wide = broadcast_weights(weights, cast(likely, dtypes.float32))
        found[mean].update_state(likely, sample_weight=wide)
        for key in (auc, pr):
            found[key].update_state(true, likely, sample_weight=weights)


def _class_ids(chosen: Sequence[Any], names: Any, n_classes: int) -> tuple[int, ...]:
    if chosen and isinstance(chosen[0], str):
        if not names:
            raise ValueError(
                "label_vocabulary must be provided when classes_for_class_based_metrics are sting."
                " They are strings here"
            )
        return tuple(names.index(each) for each in chosen)
    for each in chosen:
        if not 0 <= each < n_classes:
            raise ValueError(
                f"All classes_for_class_based_metrics must be in range [0, {n_classes - 1}]."
                f" Given: {each}"
            )
    return tuple(chosen)

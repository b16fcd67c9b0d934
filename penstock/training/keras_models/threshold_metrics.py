"""Metrics of yes and no: predictions above thresholds, counted by whether they are right.

State of a metric: for each kind of count that it needs, the weight of such predictions so far, one
number a threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.layer_base import settings
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import onehot, reshape as reshaping
from penstock.ops.control import control
from penstock.ops.math import argmax, select
from penstock.ops.state import state_update
from penstock.training.keras_models import weighting
from penstock.training.keras_models.metrics import Metric, ran

# (the label, whether the prediction is above the threshold)
_KINDS = {
    "true_positives": (True, True), "true_negatives": (False, False),
    "false_positives": (False, True), "false_negatives": (True, False),
}  # fmt: skip
_ALL = ("true_positives", "true_negatives", "false_positives", "false_negatives")
_NEVER = -1e10


def _checked(thresholds: Any) -> list[float]:
    listed = list(thresholds) if isinstance(thresholds, list | tuple) else [thresholds]
    wrong = [one for one in listed if one is None or not 0 <= one <= 1]
    if wrong:
        raise ValueError(f"Threshold values must be in [0, 1]. Invalid values: {wrong}")
    return listed


def _spread(count: int, margin: float) -> list[float]:
    """``count`` thresholds from 0 to 1, the outer ones moved outwards."""
    inner = [(i + 1) / (count - 1) for i in range(count - 2)]
    return [0.0 - margin, *inner, 1.0 + margin]


class _Counts(Metric):
    """Counts of some kinds, of predictions above each of some thresholds."""

    _kinds: tuple[str, ...]
    _thresholds: list[float]

    def __init__(
        self, kinds: Sequence[str], thresholds: Sequence[float], name: Any, dtype: Any,
        called: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name, dtype)
        self.__dict__.update(_kinds=tuple(kinds), _thresholds=list(thresholds))
        for kind in kinds:
            made = self.add_weight(called or kind, [len(thresholds)], initializer="zeros")
            self.__dict__[kind] = made

    def _prepared(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        y_pred = math.cast(convert_to_tensor(y_pred), self.dtype)
        y_true = math.cast(convert_to_tensor(y_true), self.dtype)
        ranks = y_true.shape.ndims, y_pred.shape.ndims
        if ranks[1] is not None and ranks[0] == ranks[1] + 1:
            y_true = math.squeeze(y_true, [-1])
        if ranks[0] is not None and ranks[1] == ranks[0] + 1:
            y_pred = math.squeeze(y_pred, [-1])
        return y_true, y_pred

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The op that takes a batch in.

        Args:
          y_true: labels, in [0, 1].
          y_pred: predictions, in [0, 1], of the same shape.
          sample_weight: broadcast to them.
        """
        y_true, y_pred = self._prepared(y_true, y_pred)
        y_true.shape.assert_is_compatible_with(y_pred.shape)
        weights = None
        if sample_weight is not None:
            whole = weighting.fitting(y_pred, sample_weight) * math.ones_like(y_pred)
            weights = reshaping.reshape(whole, [1, -1])
        yes = math.cast(reshaping.reshape(y_true, [1, -1]), dtypes.bool)
        thresholds = convert_to_tensor([[t] for t in self._thresholds], y_pred.dtype)
        above = reshaping.reshape(y_pred, [1, -1]) > thresholds
        return control.group(*(self._counted(k, yes, above, weights) for k in self._kinds))

    def _counted(self, kind: str, yes: Any, above: Any, weights: Any) -> Any:
        label, side = _KINDS[kind]
        here = math.logical_and(
            yes if label else math.logical_not(yes), above if side else math.logical_not(above)
        )
        found = math.cast(here, self.dtype)
        if weights is not None:
            found = found * weights
        return ran(state_update.assign_add(self.__dict__[kind], math.reduce_sum(found, axis=1)))

    def _read(self) -> list[Any]:
        return [self.__dict__[kind].read_value() for kind in self._kinds]

    def _alone(self, found: Any) -> Any:
        return found[0] if len(self._thresholds) == 1 else found


class _OneCount(_Counts):
    kind: str
    init_thresholds: Any

    def __init__(self, thresholds: Any = None, name: Any = None, dtype: Any = None) -> None:
        self.__dict__["init_thresholds"] = thresholds
        listed = _checked(0.5 if thresholds is None else thresholds)
        super().__init__([self.kind], listed, name, dtype, "accumulator")

    @property
    def thresholds(self) -> list[float]:
        """Its thresholds."""
        return list(self._thresholds)

    def result(self) -> Any:
        """The weight counted so far, one number a threshold; a scalar for one."""
        return convert_to_tensor(self._alone(self._read()[0]))

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        return {**super().get_config(), "thresholds": self.init_thresholds}


class TruePositives(_OneCount):
    """The weight of predictions above the threshold whose label is a yes.

    Args:
      thresholds: one or a list, in [0, 1]; default 0.5.
      name, dtype: as of a metric.
    """

    kind = "true_positives"


class TrueNegatives(_OneCount):
    """The weight of predictions not above the threshold whose label is a no; arguments as above."""

    kind = "true_negatives"


class FalsePositives(_OneCount):
    """The weight of predictions above the threshold whose label is a no; arguments as above."""

    kind = "false_positives"


class FalseNegatives(_OneCount):
    """The weight of predictions not above the threshold whose label is a yes."""

    kind = "false_negatives"


class _Share(_Counts):
    """True positives as a share of them and of one other kind."""

    other: str
    init_thresholds: Any
    top_k: int | None
    class_id: int | None

    def __init__(
        self, thresholds: Any = None, top_k: int | None = None, class_id: int | None = None,
        name: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self.__dict__.update(init_thresholds=thresholds, top_k=top_k, class_id=class_id)
        least = 0.5 if top_k is None else _NEVER
        listed = [least] if thresholds is None else _checked(thresholds)
        super().__init__(["true_positives", self.other], listed, name, dtype)

    @property
    def thresholds(self) -> list[float]:
        """Its thresholds."""
        return list(self._thresholds)

    def _prepared(self, y_true: Any, y_pred: Any) -> tuple[Any, Any]:
        y_true, y_pred = super()._prepared(y_true, y_pred)
        if self.top_k is not None:
            y_pred = _only_top(y_pred, self.top_k)
        if self.class_id is not None:
            y_true, y_pred = y_true[..., self.class_id], y_pred[..., self.class_id]
        return y_true, y_pred

    def result(self) -> Any:
        """The share, one number a threshold; a scalar for one; 0 of nothing."""
        right, wrong = self._read()
        return self._alone(math.div_no_nan(right, right + wrong))

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        return {
            **super().get_config(), "thresholds": self.init_thresholds, "top_k": self.top_k,
            "class_id": self.class_id,
        }  # fmt: skip


def _only_top(values: Any, count: int) -> Any:
    """The largest of the last dim as they are, and the others far below any threshold."""
    _, places = nn.top_k(values, count, sorted=False)
    size = dimension_value(values.shape[-1])
    kept = math.reduce_sum(onehot.one_hot(places, size, axis=-1), axis=-2)
    return values * kept + _NEVER * (1 - kept)


class Precision(_Share):
    """How many of the predictions above a threshold are right.

    Args:
      thresholds: one or a list, in [0, 1]; default 0.5, or none with ``top_k``.
      top_k: counts only the largest so many of the last dim.
      class_id: counts only this element of the last dim.
      name, dtype: as of a metric.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     metric = tf.keras.metrics.Precision()
      ...     update = metric.update_state([0.0, 1.0, 1.0], [0.9, 0.6, 0.2])
      ...     session.run([v.initializer for v in metric.weights])
      ...     session.run(update)
      ...     session.run(metric.result())
      [None, None]
      np.float32(0.5)
    """

    other = "false_positives"


class Recall(_Share):
    """How many of those whose label is a yes have a prediction above a threshold.

    Args:
      thresholds, top_k, class_id, name, dtype: as of ``Precision``.
    """

    other = "false_negatives"


class _AtBest(_Counts):
    """One rate at the threshold where another is nearest to a given value."""

    value: float
    num_thresholds: int

    def __init__(self, value: float, num_thresholds: int, name: Any, dtype: Any) -> None:
        if num_thresholds <= 0:
            raise ValueError("`num_thresholds` must be > 0.")
        self.__dict__.update(value=value, num_thresholds=num_thresholds)
        listed = [0.5] if num_thresholds == 1 else _spread(num_thresholds, 0.0)
        super().__init__(_ALL, listed, name, dtype)

    def _rates(self) -> tuple[Any, Any]:
        """(sensitivities, specificities)."""
        tp, tn, fp, fn = self._read()
        return math.div_no_nan(tp, tp + fn), math.div_no_nan(tn, tn + fp)

    def _nearest(self, rates: Any) -> Any:
        return argmax.argmin(math.abs_(rates - self.value), axis=0)


class SensitivityAtSpecificity(_AtBest):
    """The share of yes that is found, at the threshold whose specificity is nearest to a value.

    Args:
      specificity: in [0, 1].
      num_thresholds: how many thresholds are tried.
      name, dtype: as of a metric.

    Raises:
      ValueError: ``specificity`` or ``num_thresholds`` out of range.
    """

    specificity: float

    def __init__(
        self, specificity: float, num_thresholds: int = 200, name: Any = None, dtype: Any = None
    ) -> None:
        if not 0 <= specificity <= 1:
            raise ValueError("`specificity` must be in the range [0, 1].")
        self.__dict__["specificity"] = specificity
        super().__init__(specificity, num_thresholds, name, dtype)

    def result(self) -> Any:
        """The sensitivity there."""
        sensitivities, specificities = self._rates()
        return sensitivities[self._nearest(specificities)]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        own = {"num_thresholds": self.num_thresholds, "specificity": self.specificity}
        return {**super().get_config(), **own}


class SpecificityAtSensitivity(_AtBest):
    """The share of no that is found, at the threshold whose sensitivity is nearest to a value.

    Args:
      sensitivity: in [0, 1].
      num_thresholds, name, dtype: as of ``SensitivityAtSpecificity``.

    Raises:
      ValueError: ``sensitivity`` or ``num_thresholds`` out of range.
    """

    sensitivity: float

    def __init__(
        self, sensitivity: float, num_thresholds: int = 200, name: Any = None, dtype: Any = None
    ) -> None:
        if not 0 <= sensitivity <= 1:
            raise ValueError("`sensitivity` must be in the range [0, 1].")
        self.__dict__["sensitivity"] = sensitivity
        super().__init__(sensitivity, num_thresholds, name, dtype)

    def result(self) -> Any:
        """The specificity there."""
        sensitivities, specificities = self._rates()
        return specificities[self._nearest(sensitivities)]

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        own = {"num_thresholds": self.num_thresholds, "sensitivity": self.sensitivity}
        return {**super().get_config(), **own}


class AUC(_Counts):
    """The area under a curve over thresholds, as a sum of slices.

    Args:
      num_thresholds: how many thresholds the curve has.
      curve: ``"ROC"`` or ``"PR"``.
      summation_method: ``"interpolation"``, ``"minoring"`` or ``"majoring"``.
      name, dtype: as of a metric.
      thresholds: those between 0 and 1, in the place of evenly spread ones.

    Raises:
      ValueError: an unknown curve or method, or fewer than two thresholds.
    """

    num_thresholds: int
    curve: str
    summation_method: str

    def __init__(
        self, num_thresholds: int = 200, curve: str = "ROC",
        summation_method: str = "interpolation", name: Any = None, dtype: Any = None,
        thresholds: Any = None,
    ) -> None:  # fmt: skip
        if curve not in ("ROC", "PR"):
            raise ValueError(f'Invalid AUC curve value "{curve}"; it is "ROC" or "PR"')
        if summation_method not in ("interpolation", "minoring", "majoring"):
            raise ValueError(
                f'Invalid AUC summation method value "{summation_method}"; it is "interpolation",'
                ' "minoring" or "majoring"'
            )
        if thresholds is not None:
            inner = sorted(_checked(list(thresholds)))
            listed = [0.0 - settings.epsilon(), *inner, 1.0 + settings.epsilon()]
        elif num_thresholds <= 1:
            raise ValueError("`num_thresholds` must be > 1.")
        else:
            listed = _spread(num_thresholds, settings.epsilon())
        self.__dict__.update(
            num_thresholds=len(listed), curve=curve, summation_method=summation_method
        )  # fmt: skip
        super().__init__(_ALL, listed, name, dtype)

    @property
    def thresholds(self) -> list[float]:
        """Its thresholds, the outer ones just outside of [0, 1]."""
        return list(self._thresholds)

    def result(self) -> Any:
        """The area."""
        tp, tn, fp, fn = self._read()
        if self.curve == "PR" and self.summation_method == "interpolation":
            return _area_of_precision(tp, fp, fn)
        recall = math.div_no_nan(tp, tp + fn)
        if self.curve == "ROC":
            x, y = math.div_no_nan(fp, fp + tn), recall
        else:
            x, y = recall, math.div_no_nan(tp, tp + fp)
        left, right = y[:-1], y[1:]
        if self.summation_method == "interpolation":
            heights = (left + right) / 2.0
        elif self.summation_method == "minoring":
            heights = math.minimum(left, right)
        else:
            heights = math.maximum(left, right)
        return math.reduce_sum((x[:-1] - x[1:]) * heights)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        own = {
            "num_thresholds": self.num_thresholds, "curve": self.curve,
            "summation_method": self.summation_method, "thresholds": self._thresholds[1:-1],
        }  # fmt: skip
        return {**super().get_config(), **own}


def _area_of_precision(tp: Any, fp: Any, fn: Any) -> Any:
    """The area under precision over recall, true positives a line between two thresholds.

    Between neighbours precision is tp / p with tp = slope * p + intercept, whose integral over the
    recall has a logarithm.
    """
    gained = tp[:-1] - tp[1:]
    positives = tp + fp
    more, fewer = positives[:-1], positives[1:]
    slope = math.div_no_nan(gained, math.maximum(more - fewer, 0.0))
    intercept = tp[1:] - slope * fewer
    both = math.logical_and(more > 0.0, fewer > 0.0)
    ratio = select.where(
        both, math.div_no_nan(more, math.maximum(fewer, 0.0)), math.ones_like(fewer)
    )
    slices = slope * (gained + intercept * math.log(ratio))
    return math.reduce_sum(math.div_no_nan(slices, math.maximum(tp[1:] + fn[1:], 0.0)))

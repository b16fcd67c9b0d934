"""Metrics whose state is more than a sum and a count, or whose mean is of something else."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.layer_base import sessions
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import reshape as reshaping
from penstock.ops.linalg import matrix_diag
from penstock.ops.math import confusion_matrix
from penstock.ops.state import state_update
from penstock.training.keras_models import weighting
from penstock.training.keras_models.metrics import Mean, Metric, ran


class MeanTensor(Metric):
    """The weighted mean of each element of values of one shape.

    Args:
      name, dtype: as of a metric.

    Raises:
      ValueError: values of another shape than the first.
    """

    _shape: Any

    def __init__(self, name: str = "mean_tensor", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.__dict__.update(_shape=None, built=False)

    def _make(self, shape: Any) -> None:
        self.__dict__.update(_shape=shape, built=True)
        self.total = self.add_weight("total", shape, initializer="zeros")
        self.count = self.add_weight("count", shape, initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """The op that adds values, weighed, element by element."""
        values = math.cast(convert_to_tensor(values), self.dtype)
        if not self.built:
            self._make(values.shape)
        elif not values.shape.is_compatible_with(self._shape):
            raise ValueError(
                "MeanTensor input values must always have the same shape. Expected shape (set"
                f" during the first call): {self._shape}. Got: {values.shape}"
            )
        count = math.ones_like(values)
        if sample_weight is not None:
            count = weighting.fitting(values, sample_weight) * count
            values = values * count
        added = ran(state_update.assign_add(self.total, values))
        with scopes.control_dependencies([added]):
            return ran(state_update.assign_add(self.count, count))

    def result(self) -> Any:
        """The means; 0 of nothing.

        Raises:
          ValueError: nothing was seen, so that the shape is not known.
        """
        if not self.built:
            raise ValueError(
                "MeanTensor does not have any result yet. Please call the MeanTensor instance or"
                " use `.update_state(value)` before retrieving the result."
            )
        return math.div_no_nan(self.total.read_value(), self.count.read_value())


class MeanRelativeError(Mean):
    """The mean of the distances of predictions from labels, each divided by a number of its own.

    Args:
      normalizer: the numbers, of the predictions' shape.
      name, dtype: as of a metric.
    """

    def __init__(self, normalizer: Any, name: Any = None, dtype: Any = None) -> None:
        super().__init__(name or "mean_relative_error", dtype)
        self.normalizer = math.cast(convert_to_tensor(normalizer), self.dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """The op that takes a batch in."""
        y_true = math.cast(convert_to_tensor(y_true), self.dtype)
        y_pred = math.cast(convert_to_tensor(y_pred), self.dtype)
        errors = math.div_no_nan(math.abs_(y_true - y_pred), self.normalizer)
        return super().update_state(errors, sample_weight)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        graph = scopes.get_default_graph()
        known = self.normalizer
        value = known.numpy() if graph.executes else sessions.get_session().run(known)
        return {**super().get_config(), "normalizer": value}


class RootMeanSquaredError(Mean):
    """The root of the mean of squared distances of predictions from labels.

    Args:
      name, dtype: as of a metric.
    """

    def __init__(self, name: str = "root_mean_squared_error", dtype: Any = None) -> None:
        super().__init__(name, dtype)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """The op that takes a batch in."""
        y_true = math.cast(convert_to_tensor(y_true), self.dtype)
        y_pred = math.cast(convert_to_tensor(y_pred), self.dtype)
        return super().update_state(math.squared_difference(y_pred, y_true), sample_weight)

    def result(self) -> Any:
        """The root of the mean; 0 of nothing."""
        return math.sqrt(super().result())


class MeanIoU(Metric):
    """The mean over classes of how much of the union of labels and predictions is in both.

    Args:
      num_classes: how many classes there are.
      name, dtype: as of a metric.
    """

    num_classes: int

    def __init__(self, num_classes: int, name: Any = None, dtype: Any = None) -> None:
        super().__init__(name or "mean_io_u", dtype)
        self.__dict__["num_classes"] = num_classes
        self.total_cm = self.add_weight(
            "total_confusion_matrix", [num_classes, num_classes], initializer="zeros",
            dtype=dtypes.float64,
        )  # fmt: skip

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The op that takes a batch in: numbers of classes, and a weight of each or None."""
        weights = None if sample_weight is None else _flat(sample_weight)
        found = confusion_matrix.confusion_matrix(
            _flat(y_true), _flat(y_pred), self.num_classes, weights=weights, dtype=dtypes.float64
        )
        return ran(state_update.assign_add(self.total_cm, found))

    def result(self) -> Any:
        """The mean over the classes that were seen; 0 of nothing."""
        counts = self.total_cm.read_value()
        both = math.cast(matrix_diag.diag_part(counts), self.dtype)
        of_rows = math.cast(math.reduce_sum(counts, axis=0), self.dtype)
        of_columns = math.cast(math.reduce_sum(counts, axis=1), self.dtype)
        union = of_rows + of_columns - both
        seen = math.reduce_sum(math.cast(math.not_equal(union, 0), self.dtype))
        return math.div_no_nan(math.reduce_sum(math.div_no_nan(both, union)), seen)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        return {**super().get_config(), "num_classes": self.num_classes}


def _flat(value: Any) -> Any:
    tensor = convert_to_tensor(value)
    return tensor if tensor.shape.ndims == 1 else reshaping.reshape(tensor, [-1])

"""``tf.keras.metrics``: sums that grow over batches, and what they come to.

A metric's variables are in no collection, and models set them to zero when an epoch begins.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library import nn
from penstock.library.layer_base import sessions, settings, tensors
from penstock.library.layer_base.layer import Layer
from penstock.library.ragged_tensors import dispatched as math
from penstock.ops.array import reshape as reshaping
from penstock.ops.control import control
from penstock.ops.math import argmax
from penstock.ops.state import state_update
from penstock.training.keras_models import losses, weighting


class Metric(Layer):
    """Base of metrics: ``update_state`` takes a batch in, ``result`` says what it comes to.

    Args:
      name: its name; default the class's in snake case.
      dtype: type of its sums; default float32.
    """

    _updates: list[Any]

    def __init__(self, name: str | None = None, dtype: Any = None, **kwargs: Any) -> None:
        super().__init__(name=name, dtype=dtype or settings.floatx(), **kwargs)
        self.__dict__.update(stateful=True, built=True, _updates=[])
        self.__dict__["update_state"] = self._recorded(self.update_state)

    def _recorded(self, update: Callable[..., Any]) -> Callable[..., Any]:
        """``update``, whose ops ``updates`` has from then on."""

        @functools.wraps(update)
        def update_state(*args: Any, **kwargs: Any) -> Any:
            made = update(*args, **kwargs)
            if made is not None and not scopes.get_default_graph().executes:
                self._updates.append(made)
            return made

        return update_state

    @property
    def updates(self) -> list[Any]:
        """The ops by which it takes batches in."""
        return list(self._updates)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes a batch in; the result after it."""
        update = self.update_state(*args, **kwargs)
        with scopes.control_dependencies([update]):
            found = control.identity(self.result())
        tensors.set_metric(found, self)
        return found

    def add_weight(  # type: ignore[override]
        self, name: Any = None, shape: Any = (), initializer: Any = None, **kwargs: Any
    ) -> Any:
        """A variable of the metric, in no collection."""
        return super().add_weight(
            name, shape, initializer=initializer, trainable=False, collections=[], **kwargs
        )

    def reset_states(self) -> None:
        """Sets its variables to zero."""
        sessions.set_values([(v, _zeros(v)) for v in self.weights])

    def update_state(self, *args: Any, **kwargs: Any) -> Any:
        """The op that takes a batch in."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def result(self) -> Any:
        """What the batches so far come to."""
        raise NotImplementedError("Must be implemented in subclasses.")

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        return {"name": self.name, "dtype": self.dtype}


def ran(update: Any) -> Any:
    """The op of an update; None where it has run already."""
    return None if scopes.get_default_graph().executes else update.op


def _zeros(variable: Any) -> Any:
    return np.zeros(variable.shape.as_list(), variable.dtype.as_numpy_dtype)


class Sum(Metric):
    """The weighted sum of values."""

    def __init__(self, name: str = "sum", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self.add_weight("total", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """The op that adds values, weighed."""
        values = math.cast(convert_to_tensor(values), self.dtype)
        if sample_weight is not None:
            values = values * weighting.fitting(values, sample_weight)
        return ran(state_update.assign_add(self.total, math.reduce_sum(values)))

    def result(self) -> Any:
        """The sum."""
        return self.total.read_value()


class Mean(Metric):
    """The weighted mean of values."""

    def __init__(self, name: str = "mean", dtype: Any = None) -> None:
        super().__init__(name, dtype)
        self.total = self.add_weight("total", initializer="zeros")
        self.count = self.add_weight("count", initializer="zeros")

    def update_state(self, values: Any, sample_weight: Any = None) -> Any:
        """The op that adds values, weighed, and their weights."""
        values = math.cast(convert_to_tensor(values), self.dtype)
        if sample_weight is None:
            count = math.cast(math.size(values), self.dtype)
        else:
            weights = weighting.fitting(values, sample_weight) * math.ones_like(values)
            values, count = values * weights, math.reduce_sum(weights)
        added = ran(state_update.assign_add(self.total, math.reduce_sum(values)))
        with scopes.control_dependencies([added]):
            return ran(state_update.assign_add(self.count, count))

    def result(self) -> Any:
        """The mean; 0 of nothing."""
        return math.div_no_nan(self.total, self.count)


class MeanMetricWrapper(Mean):
    """The mean of what a function of targets and predictions finds.

    Args:
      fn: function of ``y_true`` and ``y_pred``, one number a sample.
      name, dtype: as of a metric.
      **kwargs: for ``fn``.
    """

    _fn: Callable[..., Any]
    _fn_arguments: dict[str, Any]

    def __init__(
        self, fn: Callable[..., Any], name: Any = None, dtype: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(name or fn.__name__, dtype)
        self.__dict__.update(_fn=fn, _fn_arguments=kwargs)

    def update_state(  # type: ignore[override]
        self, y_true: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """The op that takes a batch in."""
        y_pred = math.cast(convert_to_tensor(y_pred), self.dtype)
        found = self._fn(y_true, y_pred, **self._fn_arguments)
        return super().update_state(found, sample_weight)

    def get_config(self) -> dict[str, Any]:
        """Arguments that make a metric like this one."""
        return {**super().get_config(), **self._fn_arguments}


def binary_accuracy(y_true: Any, y_pred: Any, threshold: float = 0.5) -> Any:
    """Mean over the last dim of whether a prediction above ``threshold`` and the label agree."""
    y_pred = convert_to_tensor(y_pred)
    above = math.cast(y_pred > math.cast(threshold, y_pred.dtype), y_pred.dtype)
    agree = math.equal(math.cast(y_true, y_pred.dtype), above)
    return math.reduce_mean(math.cast(agree, settings.floatx()), axis=-1)


def categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether the largest of the last dim is the same."""
    same = math.equal(argmax.argmax(y_true, axis=-1), argmax.argmax(y_pred, axis=-1))
    return math.cast(same, settings.floatx())


def _of_ranks(y_true: Any, y_pred: Any) -> Any:
    """Numbers of classes without a last dim of 1."""
    y_true, y_pred = convert_to_tensor(y_true), convert_to_tensor(y_pred)
    if y_true.shape.ndims is not None and y_true.shape.ndims == y_pred.shape.ndims:
        return math.squeeze(y_true, [-1])
    return y_true


def sparse_categorical_accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether the largest of the last dim is the class of that number."""
    y_true = _of_ranks(y_true, y_pred)
    found = math.cast(argmax.argmax(y_pred, axis=-1), y_true.dtype)
    return math.cast(math.equal(y_true, found), settings.floatx())


def top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Whether the true class is among the ``k`` likeliest."""
    return math.cast(nn.in_top_k(y_pred, argmax.argmax(y_true, axis=-1), k), settings.floatx())


def sparse_top_k_categorical_accuracy(y_true: Any, y_pred: Any, k: int = 5) -> Any:
    """Whether the class of that number is among the ``k`` likeliest."""
    labels = math.cast(reshaping.reshape(y_true, [-1]), dtypes.int32)
    return math.cast(nn.in_top_k(y_pred, labels, k), settings.floatx())


def accuracy(y_true: Any, y_pred: Any) -> Any:
    """Whether values are equal."""
    y_pred = convert_to_tensor(y_pred)
    same = math.equal(math.cast(y_true, y_pred.dtype), y_pred)
    return math.cast(same, settings.floatx())


def _of(name: str, function: Callable[..., Any], default: str, **options: Any) -> type:
    """The class of the mean of a function, named ``default``."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        order = [*options, "name", "dtype"] if "axis" not in options else ["name", "dtype", "axis"]
        order = ["name", "dtype", *options] if "threshold" in options else order
        if name in ("BinaryCrossentropy", "CategoricalCrossentropy", "TopKCategoricalAccuracy",
                    "SparseCategoricalCrossentropy", "SparseTopKCategoricalAccuracy"):  # fmt: skip
            order = ["name", "dtype", *options]
            if "k" in options:
                order = ["k", "name", "dtype"]
        given = {**options, "name": default} | dict(zip(order, args, strict=False)) | kwargs
        MeanMetricWrapper.__init__(self, function, **given)

    doc = f"The mean of ``{function.__name__}``."
    made = type(name, (MeanMetricWrapper,), {"__init__": __init__, "__doc__": doc})
    made.__module__ = __name__
    return made


Accuracy: Any = _of("Accuracy", accuracy, "accuracy")
BinaryAccuracy: Any = _of("BinaryAccuracy", binary_accuracy, "binary_accuracy", threshold=0.5)
CategoricalAccuracy: Any = _of("CategoricalAccuracy", categorical_accuracy, "categorical_accuracy")
SparseCategoricalAccuracy: Any = _of(
    "SparseCategoricalAccuracy", sparse_categorical_accuracy, "sparse_categorical_accuracy"
)
TopKCategoricalAccuracy: Any = _of(
    "TopKCategoricalAccuracy", top_k_categorical_accuracy, "top_k_categorical_accuracy", k=5
)
SparseTopKCategoricalAccuracy: Any = _of(
    "SparseTopKCategoricalAccuracy", sparse_top_k_categorical_accuracy,
    "sparse_top_k_categorical_accuracy", k=5,
)  # fmt: skip
MeanSquaredError: Any = _of("MeanSquaredError", losses.mean_squared_error, "mean_squared_error")
MeanAbsoluteError: Any = _of("MeanAbsoluteError", losses.mean_absolute_error, "mean_absolute_error")
MeanAbsolutePercentageError: Any = _of(
    "MeanAbsolutePercentageError", losses.mean_absolute_percentage_error,
    "mean_absolute_percentage_error",
)  # fmt: skip
MeanSquaredLogarithmicError: Any = _of(
    "MeanSquaredLogarithmicError", losses.mean_squared_logarithmic_error,
    "mean_squared_logarithmic_error",
)  # fmt: skip
Hinge: Any = _of("Hinge", losses.hinge, "hinge")
SquaredHinge: Any = _of("SquaredHinge", losses.squared_hinge, "squared_hinge")
CategoricalHinge: Any = _of("CategoricalHinge", losses.categorical_hinge, "categorical_hinge")
Poisson: Any = _of("Poisson", losses.poisson, "poisson")
LogCoshError: Any = _of("LogCoshError", losses.logcosh, "logcosh")
KLDivergence: Any = _of(
    "KLDivergence", losses.kullback_leibler_divergence, "kullback_leibler_divergence"
)
CosineSimilarity: Any = _of(
    "CosineSimilarity", losses.cosine_similarity, "cosine_similarity", axis=-1
)
BinaryCrossentropy: Any = _of(
    "BinaryCrossentropy", losses.binary_crossentropy, "binary_crossentropy",
    from_logits=False, label_smoothing=0,
)  # fmt: skip
CategoricalCrossentropy: Any = _of(
    "CategoricalCrossentropy", losses.categorical_crossentropy, "categorical_crossentropy",
    from_logits=False, label_smoothing=0,
)  # fmt: skip
SparseCategoricalCrossentropy: Any = _of(
    "SparseCategoricalCrossentropy", losses.sparse_categorical_crossentropy,
    "sparse_categorical_crossentropy", from_logits=False,
)  # fmt: skip


def cosine_proximity(y_true: Any, y_pred: Any, axis: int = -1) -> Any:
    """The cosine similarity, as a metric by name is called."""
    return losses.cosine_similarity(y_true, y_pred, axis)

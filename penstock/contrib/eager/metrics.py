"""``tfe.metrics``: means that grow over batches, one object each; its sums are its variables.

Older than ``tf.keras.metrics``: sums are of type float64, the result of nothing is NaN, a call
gives its arguments back, and ``result`` also writes a summary when a default writer asks for one,
which is not done here.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.variables.resource_variable import ResourceVariable
from penstock.ops.array import cast, fill, nodes
from penstock.ops.control import control
from penstock.ops.math import argmax, comparison, reduction


class Metric:
    """Base of metrics: a call takes a batch in, ``result`` says what it comes to.

    Args:
      name: its name, that of the scope of its variables; default the class's.

    Raises:
      ValueError: the name cannot be that of a scope.
    """

    def __init__(self, name: str | None = None) -> None:
        self._name = name or type(self).__name__
        if not self._name.replace(".", "").replace("_", "").replace("-", "").isalnum():
            raise ValueError(f"{self._name!r} is not a valid name of a metric")
        self._built = False
        self._variables: list[Any] = []

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """Its sums."""
        return list(self._variables)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes a batch in; gives what ``call`` gives."""
        if not self._built:
            with scopes.name_scope(self._name):
                self.build(*args, **kwargs)
            self._built = True
        return self.call(*args, **kwargs)

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes its variables with ``add_variable``; called with the first batch."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Takes a batch in; a subclass says how."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self, write_summary: bool = True) -> Any:
        """What the batches so far come to; a subclass says how."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """The result, as a function that gives it."""
        return self.result

    def init_variables(self) -> Any:
        """Sets its variables to what they began with; an op where nodes are built."""
        made = [v.assign(fill.zeros(v.shape, v.dtype.base_dtype)) for v in self._variables]
        return control.group(*[] if scopes.get_default_graph().executes else made)

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> Any:
        """A variable of the metric, for ``build``.

        Raises:
          RuntimeError: the metric was built already.
        """
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        shape, dtype = shape or (), dtype or dtypes.float32
        first = (initializer or fill.zeros)(shape, dtype=dtype)
        made = ResourceVariable(first, trainable=False, name=name)
        self._variables.append(made)
        return made


class Mean(Metric):
    """The weighted mean of values.

    Args:
      name: its name.
      dtype: of its sums.
    """

    def __init__(self, name: str | None = None, dtype: Any = dtypes.float64) -> None:
        super().__init__(name)
        self.dtype = dtype

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the sums of values and of weights."""
        self.numer = self.add_variable("numer", (), self.dtype)
        self.denom = self.add_variable("denom", (), self.dtype)

    def _take(self, values: Any, weights: Any = None) -> None:
        values = convert_to_tensor(values)
        if weights is None:
            count = cast.cast(nodes.size(values), self.dtype)
            values = cast.cast(values, self.dtype)
        else:
            weights = cast.cast(convert_to_tensor(weights), self.dtype)
            count = reduction.reduce_sum(weights)
            values = cast.cast(values, self.dtype) * weights
        self.denom.assign_add(count)
        self.numer.assign_add(reduction.reduce_sum(values))

    def call(self, values: Any, weights: Any = None) -> Any:
        """Takes values in; gives them, with the weights if there are any."""
        self._take(values, weights)
        values = convert_to_tensor(values)
        return values if weights is None else (values, weights)

    def result(self, write_summary: bool = True) -> Any:
        """The mean; NaN of nothing."""
        return self.numer.value() / self.denom.value()


class Accuracy(Mean):
    """How often predictions are the labels."""

    def call(  # type: ignore[override]
        self, labels: Any, predictions: Any, weights: Any = None
    ) -> Any:
        """Takes a batch in; gives labels and predictions, and weights if there are any."""
        matches = self._matches(labels, predictions)
        self._take(matches, weights)
        given = (labels, predictions)
        return given if weights is None else (*given, weights)

    def _matches(self, labels: Any, predictions: Any) -> Any:
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        if not labels.shape.is_compatible_with(predictions.shape):
            raise ValueError(
                "Shapes of labels and predictions are unequal: Shapes"
                f" {labels.shape} and {predictions.shape} are incompatible"
            )
        return comparison.equal(labels, predictions)


class CategoricalAccuracy(Accuracy):
    """How often the largest of the last dim is the same."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        return super()._matches(argmax.argmax(labels, axis=-1), argmax.argmax(predictions, axis=-1))


class BinaryAccuracy(Accuracy):
    """How often a prediction above a threshold and the label agree.

    Args:
      threshold: above it a prediction is a yes.
      name, dtype: as of ``Mean``.
    """

    def __init__(
        self, threshold: float, name: str | None = None, dtype: Any = dtypes.float64
    ) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def _matches(self, labels: Any, predictions: Any) -> Any:
        above = convert_to_tensor(predictions) > self.threshold
        return super()._matches(cast.cast(convert_to_tensor(labels), dtypes.bool), above)


class SparseAccuracy(Accuracy):
    """How often the largest of the last dim is the class of that number."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        found = argmax.argmax(predictions, axis=-1)
        return super()._matches(cast.cast(convert_to_tensor(labels), found.dtype), found)

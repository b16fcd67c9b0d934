"""``tf.contrib.eager.metrics``: sums over batches, and what they come to.

A metric is called with a batch, which it takes in, and returns its arguments; ``result()`` is the
value so far.  Its variables are made by the first call, in a scope of its name.
"""

from __future__ import annotations

import re
from typing import Any

from penstock.contrib.eager import judging
from penstock.foundation.base import dtypes
from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.behavior import executing_eagerly
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import creation
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.listing import variables_initializer
from penstock.ops.array import cast, ranks
from penstock.ops.control import control
from penstock.ops.math import binary, division, reduction


class Metric:
    """Base of metrics: ``build`` makes variables, ``call`` takes a batch in, ``result`` says.

    Args:
      name: its name; default the class's.
      use_global_variables: whether its variables are global ones, which savers save.
    """

    def __init__(self, name: str | None = None, use_global_variables: bool = False) -> None:
        self._built = False
        self._vars: list[Any] = []
        self._use_global_variables = use_global_variables
        self._name = name or type(self).__name__
        self._scope = re.sub(r"[^A-Za-z0-9.\\-]", "_", self._name)
        self._checkpoint_dependencies: list[tuple[str, Any]] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Takes a batch in.

        Returns:
          What ``call`` returns, as a rule the arguments.
        """
        with scopes.name_scope(self._scope) as scope:
            self._prefix = scope
            if not self._built:
                self.build(*args, **kwargs)
                self._built = True
            return self.call(*args, **kwargs)

    @property
    def name(self) -> str:
        """The name given, or the class's."""
        return self._name

    @property
    def variables(self) -> list[Any]:
        """Its variables, in the order in which they were made."""
        return self._vars

    def init_variables(self) -> Any:
        """Sets its variables to what they were first; in a graph the operation that does so.

        Raises:
          RuntimeError: in a graph, if it was not called yet.
        """
        if executing_eagerly():
            for variable in self._vars:
                variable.assign(variable.initial_value_of())
            return None
        return variables_initializer(self._vars)

    def add_variable(
        self, name: str, shape: Any = None, dtype: Any = None, initializer: Any = None
    ) -> Any:
        """A variable of the metric; for ``build``.

        Args:
          name: its name in the metric, and its attribute in checkpoints.
          shape: its shape.
          dtype: its type.
          initializer: as of ``tf.get_variable``.

        Raises:
          RuntimeError: the metric is built already.
        """
        if self._built:
            raise RuntimeError("Can't call add_variable() except in build().")
        place = GraphKeys.GLOBAL_VARIABLES if self._use_global_variables else "local_variables"
        first = initializer or zeros_initializer()
        made: Any = creation.create(
            lambda: first(shape or (), dtype), trainable=False, collections=[place],
            name=name, use_resource=True, dtype=dtype,
        )  # fmt: skip
        made.initial_value_of = lambda: first(shape or (), dtype)
        self._vars.append(made)
        self._checkpoint_dependencies.append((name, made))
        return made

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the variables; it is given what the first call is."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Takes a batch in."""
        raise NotImplementedError("Metrics must define a call() member function")

    def result(self) -> Any:
        """The value so far."""
        raise NotImplementedError("Metrics must define a result() member function")

    def value(self) -> Any:
        """In a graph, the tensor of ``result``, which does not depend on later calls."""
        return self.result()

    def aggregate(self, metrics: Any) -> Any:
        """Adds what other metrics of the kind have taken in."""
        raise NotImplementedError("Metrics must define an aggregate() member function")


class Mean(Metric):
    """The mean of all values, weighted where weights are given.

    Args:
      name: its name.
      dtype: type of its sums.
      use_global_variables: whether its variables are global ones.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     mean = tf.contrib.eager.metrics.Mean()
      ...     taken = mean([1.0, 2.0, 6.0])
      ...     sess.run(mean.init_variables())
      ...     _ = sess.run(taken)
      ...     float(sess.run(mean.result()))
      3.0
    """

    def __init__(
        self, name: str | None = None, dtype: Any = dtypes.float64,
        use_global_variables: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(name, use_global_variables)
        self.dtype = dtype
        self._taken_in: list[Any] = []

    def build(self, *args: Any, **kwargs: Any) -> None:
        """Makes the sums of the values and of their weights."""
        self.numer = self.add_variable("numer", (), self.dtype)
        self.denom = self.add_variable("denom", (), self.dtype)

    def call(self, values: Any, weights: Any = None) -> Any:
        """Takes values in.

        Args:
          values: numbers.
          weights: numbers that broadcast to ``values``; default 1 each.

        Returns:
          The arguments.
        """
        taken = cast.cast(convert_to_tensor(values), self.dtype)
        if weights is None:
            count = cast.cast(ranks.size(taken), self.dtype)
        else:
            factor = cast.cast(convert_to_tensor(weights), self.dtype)
            count = reduction.reduce_sum(factor)
            taken = binary.multiply(taken, factor)
        taken_in = [
            self.denom.assign_add(count),
            self.numer.assign_add(reduction.reduce_sum(taken)),
        ]
        return self._after(taken_in, values if weights is None else (values, weights))

    def _after(self, taken_in: list[Any], arguments: Any) -> Any:
        """The arguments; in a graph tensors that come after the batch was taken in."""
        if executing_eagerly():
            return arguments
        self._taken_in = taken_in
        with scopes.control_dependencies(taken_in):
            return nest.map_structure(lambda a: control.identity(convert_to_tensor(a)), arguments)

    def result(self, write_summary: bool = True) -> Any:
        """The mean so far, of type ``dtype``; NaN where nothing was taken in."""
        return division.truediv(self.numer, self.denom)

    def aggregate(self, metrics: Any) -> Any:
        """Adds the sums of other means.

        Args:
          metrics: the ``Mean`` objects.

        Returns:
          The operation that adds; None where operations run as they are called.
        """
        added = []
        for one in metrics:
            added.append(self.numer.assign_add(one.numer))
            added.append(self.denom.assign_add(one.denom))
        return control.group(*added)


class Accuracy(Mean):
    """How often predictions equal labels.

    Args:
      name: its name.
      dtype: type of its sums.
    """

    def __init__(self, name: str | None = None, dtype: Any = dtypes.float64) -> None:
        super().__init__(name, dtype)

    def call(self, labels: Any, predictions: Any, weights: Any = None) -> Any:  # type: ignore[override]
        """Takes labels and predictions [..] of one shape in; returns the arguments.

        Raises:
          tf.errors.InvalidArgumentError: the shapes differ.
        """
        super().call(self._matches(labels, predictions), weights)
        given = (labels, predictions) if weights is None else (labels, predictions, weights)
        return self._after(self._taken_in, given)

    def _matches(self, labels: Any, predictions: Any) -> Any:
        return judging.equal(labels, predictions)


class CategoricalAccuracy(Accuracy):
    """How often the class of the largest score is that of the one-hot label; both [batch, n]."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        return judging.same_class(labels, predictions)


class BinaryAccuracy(Accuracy):
    """How often scores above a threshold are labels above it.

    Args:
      threshold: the threshold.
      name: its name.
      dtype: type of its sums.
    """

    def __init__(
        self, threshold: float, name: str | None = None, dtype: Any = dtypes.float64
    ) -> None:
        super().__init__(name, dtype)
        self.threshold = threshold

    def _matches(self, labels: Any, predictions: Any) -> Any:
        return judging.same_side(labels, predictions, self.threshold)


class SparseAccuracy(Accuracy):
    """How often the class of the largest of scores [batch, n] is the label of labels [batch]."""

    def _matches(self, labels: Any, predictions: Any) -> Any:
        return judging.class_is(labels, predictions)

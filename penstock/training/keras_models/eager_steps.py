"""A model's steps where operations run as they are called: losses, gradients, metrics, outputs.

What ``compile`` makes as nodes in a graph is computed here for each batch.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.array import cast
from penstock.training.keras_models.outputs import Output


def called(model: Any, inputs: list[Any], training: bool) -> list[Any]:
    """The outputs for arrays of inputs."""
    given: Any = [
        convert_to_tensor(one.astype(made.dtype.as_numpy_dtype, copy=False))
        for one, made in zip(inputs, model.inputs, strict=True)
    ]
    if isinstance(getattr(model, "_nested_inputs", None), dict):
        given = dict(zip(model.input_names, given, strict=True))
    elif len(given) == 1:
        given = given[0]
    return nest.flatten(model(given, training=training))


class Step:
    """One batch of a model.

    Args:
      model: it was compiled.
      inputs, targets, weights: arrays; a weight may be None.
    """

    def __init__(
        self, model: Any, inputs: list[Any], targets: list[Any], weights: list[Any]
    ) -> None:
        self.model, self._inputs, self._weights = model, inputs, weights
        self._targets = [
            _target(one, target) for one, target in zip(model.trained_outputs, targets, strict=True)
        ]
        self._made: list[Any] = []
        self._total: Any = None
        self._losses: list[Any] = []

    def _loss(self, training: bool) -> Any:
        model = self.model
        self._made = self._of_outputs(called(model, self._inputs, training))
        self._losses = [
            one.loss_of(target, made, weight)
            for one, target, made, weight in zip(
                model.trained_outputs, self._targets, self._made, self._weights, strict=True
            )
        ]
        total: Any = None
        for one, value in zip(model.trained_outputs, self._losses, strict=True):
            total = value * one.weight if total is None else total + value * one.weight
        for extra in model.losses:
            total = extra if total is None else total + extra
        self._total = total
        return total

    def _of_outputs(self, made: list[Any]) -> list[Any]:
        """The outputs that have a loss."""
        names = self.model.output_names
        return [made[names.index(one.name)] for one in self.model.trained_outputs]

    def run(self, training: bool) -> list[Any]:
        """Runs it, with a move of the weights if it is one of training.

        Returns:
          The whole loss, those of the outputs where there are several, and the metrics so far.
        """
        model = self.model
        if training:
            variables = model.trained_weights
            graph = scopes.get_default_graph()
            grads, _ = graph.loss_gradients(lambda: self._loss(True), variables, None)
            model.move(grads, variables)
        else:
            self._loss(False)
        found = [self._total, *(self._losses if len(model.output_names) > 1 else [])]
        return [one.numpy() for one in (*found, *self._metrics())]

    def _metrics(self) -> list[Any]:
        found = []
        for one, target, made, weight in zip(
            self.model.trained_outputs, self._targets, self._made, self._weights, strict=True
        ):
            for number, (_, metric, _) in enumerate(one.metrics):
                one.update(number, target, made, weight)
                found.append(metric.result())
        return [*found, *self.model.tell_noted()]


def _target(output: Output, target: Any) -> Any:
    tensor = convert_to_tensor(target)
    return tensor if output.is_sparse else cast.cast(tensor, output.tensor.dtype)

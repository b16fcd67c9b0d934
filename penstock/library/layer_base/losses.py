"""The losses, updates and metrics of a layer, and which of them depend on which inputs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.library.layer_base import calls, reachable, tensors


class Noted(NamedTuple):
    """What ``add_metric`` was given: a name, a value, and the metric whose result it is, if any."""

    name: str
    value: Any
    metric: Any


class Charged:
    """What a layer has of losses and updates; its own, and those of the layers inside."""

    stateful: bool
    _losses: list[Any]
    _callable_losses: list[Callable[[], Any]]
    # (update, the inputs that it may depend on)
    _updates: list[tuple[Any, Any]]
    _metrics: list[Any]

    @property
    def trainable(self) -> bool:
        """Whether its variables are trainable."""
        raise NotImplementedError

    def _inner_layers(self) -> list[Any]:
        raise NotImplementedError

    def _of_inner(self, attribute: str) -> list[Any]:
        return [item for layer in self._inner_layers() for item in getattr(layer, attribute)]

    @property
    def losses(self) -> list[Any]:
        """What ``add_loss`` was given; what was given as functions is computed anew."""
        made = [loss() for loss in self._callable_losses]
        own = [*self._losses, *(loss for loss in made if loss is not None)]
        return [*own, *self._of_inner("losses")]

    @property
    def updates(self) -> list[Any]:
        """What ``add_update`` was given, unless the layer is frozen."""
        if not self.trainable and not self.stateful:
            return []
        return [*(update for update, _ in self._updates), *self._of_inner("updates")]

    @property
    def metrics(self) -> list[Any]:
        """Metrics of the layer and of those inside."""
        return [*self._metrics, *self._of_inner("metrics")]

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Adds losses.

        Args:
          losses: a scalar tensor, a function without arguments that makes one, or a nesting.
          inputs: not None says that the losses depend on the layer's inputs.
        """
        for loss in nest.flatten(losses):
            if loss is None:
                continue
            if callable(loss) and not isinstance(loss, Tensor):
                self._callable_losses.append(functools.partial(_tensor_of, loss))
            else:
                self._losses.append(convert_to_tensor(loss))
        if inputs is not None:
            self.__dict__.setdefault("_conditional_losses", []).extend(nest.flatten(losses))

    def _forget_losses(self) -> None:
        """Where calls run, forgets the losses of earlier calls as an outermost one begins."""
        if scopes.get_default_graph().executes and calls.current_call() is None:
            for one in (self, *self._inner_layers()):
                one._losses.clear()
                one.__dict__.pop("_noted", None)

    def add_metric(
        self, value: Any, aggregation: str | None = None, name: str | None = None
    ) -> None:
        """Adds a value that models tell with their losses.

        Args:
          value: a tensor, or what the call of a metric has returned.
          aggregation: "mean" of what the value is over batches; None of a metric's result.
          name: under which it is told; default the metric's.

        Raises:
          ValueError: there is no name, or another aggregation.
        """
        metric = tensors.metric_of(value)
        if aggregation not in (None, "mean"):
            raise ValueError(
                "We currently support only `mean` sample-wise metric aggregation. You provided"
                f" aggregation=`{aggregation}`"
            )
        if metric is None and not hasattr(value, "has_value"):
            raise ValueError(f"Expected a symbolic Tensor for the metric value, received: {value}")
        if metric is None and name is None:
            raise ValueError(
                "Please provide a name for your metric like"
                " `self.add_metric(tf.reduce_sum(inputs), name='mean_activation',"
                " aggregation='mean')`"
            )
        if metric is None and aggregation is None:
            raise ValueError(
                "We do not support adding an aggregated metric result tensor that is not the output"
                f" of a `tf.keras.metrics.Metric` metric instance: {name!r} could not be reset"
                " after an epoch; give aggregation='mean', or what the call of a metric returned"
            )
        told = metric.name if metric is not None else str(name)
        self.__dict__.setdefault("_noted", []).append(Noted(told, value, metric))

    @property
    def noted_metrics(self) -> list[Noted]:
        """What ``add_metric`` was given, here and of the layers inside."""
        return [*self.__dict__.get("_noted", ()), *self._of_inner("noted_metrics")]

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Adds updates of the layer's state, for training to run.

        Args:
          updates: ops, tensors or functions without arguments that make one; or a list of them.
          inputs: not needed; what an update depends on is found out.
        """
        call = calls.current_call()
        relevant = None if call is None else call.inputs
        executes = scopes.get_default_graph().executes
        if executes and calls.is_frozen():
            return
        for update in updates if isinstance(updates, list | tuple) else [updates]:
            made = update() if callable(update) and not isinstance(update, Tensor) else update
            if executes:
                continue  # it has run
            if not hasattr(made, "control_inputs"):
                made = made.op if hasattr(made, "op") else convert_to_tensor(made)
            self._updates.append((made, relevant))

    def get_updates_for(self, inputs: Any) -> list[Any]:
        """The updates that depend on ``inputs``; None asks for those that depend on no input."""
        pairs = self._all_updates()
        if inputs is None:
            return [u for u, given in pairs if given is None or not reachable.depends_on(u, given)]
        conditional = (
            u for u, given in pairs if given is not None and reachable.depends_on(u, given)
        )
        return reachable.dependents(conditional, inputs)

    def _all_updates(self) -> list[Any]:
        if not self.trainable and not self.stateful:
            return []
        return [*self._updates, *(p for x in self._inner_layers() for p in x._all_updates())]

    def get_losses_for(self, inputs: Any) -> list[Any]:
        """The losses that depend on ``inputs``; None asks for those that depend on no input."""
        found = self.losses
        conditional = {id(loss) for loss in self._all_conditional_losses()}
        if inputs is None:
            return [loss for loss in found if id(loss) not in conditional]
        return reachable.dependents((x for x in found if id(x) in conditional), inputs)

    def _all_conditional_losses(self) -> list[Any]:
        own = self.__dict__.get("_conditional_losses", [])
        return [*own, *(x for y in self._inner_layers() for x in y._all_conditional_losses())]


def _tensor_of(loss: Callable[[], Any]) -> Any:
    found = loss()
    return found if found is None else convert_to_tensor(found)

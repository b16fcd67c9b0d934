"""A model function replicated over devices: each tower has a part of the batch; variables are one.

``replicate_model_fn`` builds the towers one after the other.  Gradients wait for those of the last
tower in what a collection of the graph keeps; a ``TowerOptimizer`` outside of towers applies what
it is given.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.engine.session.local_devices import list_local_devices
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import collecting, scopes
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.nn.losses import Reduction
from penstock.library.variables.scope import get_variable_scope
from penstock.library.variables.scoping import variable_scope
from penstock.library.variables.store import AUTO_REUSE
from penstock.ops.array import fill, join, shape as shaping, split
from penstock.ops.control.control import group, no_op
from penstock.ops.math import addn, division
from penstock.ops.sparse.sparse_functions import sparse_split
from penstock.ops.state.state import assign
from penstock.ops.state.state_update import assign_add
from penstock.training.estimator.calling import arguments_of
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.export_outputs import (
    ClassificationOutput,
    PredictOutput,
    RegressionOutput,
)
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.train.device_setter import STANDARD_PS_OPS
from penstock.training.train.optimizer import Optimizer

_CPU = "/CPU:0"


class _Building:
    """The towers of a graph while they are built."""

    def __init__(self, count: int, reduction: str) -> None:
        self.count, self.averages = count, reduction != Reduction.SUM
        self.tower = self.turn = 0
        self.used = False
        # By the turn of an optimizer's call in its tower, what each tower brought.
        self.waiting: dict[int, list[list[tuple[Any, Any]]]] = defaultdict(list)

    def scaled(self, loss: Any) -> Any:
        """What a tower's loss adds to that of all."""
        if not self.averages or self.count == 1:
            return loss
        return division.truediv(loss, float(self.count), name="averaged_loss")


_STATES = "replicate_model_fn_graph_states"


def _building() -> _Building | None:
    """The towers of the default graph, which holds them while they are built."""
    found = scopes.get_default_graph().get_collection(_STATES)
    return found[-1] if found else None


class TowerOptimizer(Optimizer):
    """An optimizer whose gradients wait for the last tower's and are applied as their sum.

    Args:
      optimizer_or_optimizer_fn: the optimizer that applies them, or a function that makes it.

    Example:
      >>> import penstock as tf
      >>> plain = tf.train.GradientDescentOptimizer(0.5)
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     w = tf.get_variable("w", initializer=1.0)
      ...     step = tf.contrib.estimator.TowerOptimizer(plain).minimize(w * 3.0)
      ...     sess.run(tf.global_variables_initializer())
      ...     _ = sess.run(step)
      ...     float(sess.run(w))
      -0.5
    """

    COLLECTION_FOR_GRAPH_STATES = _STATES

    def __init__(self, optimizer_or_optimizer_fn: Any) -> None:
        # No name of its own: the wrapped optimizer names everything.
        self._given = optimizer_or_optimizer_fn
        self._made: Any = None

    def _optimizer(self) -> Any:
        if self._made is None:
            given = self._given
            self._made = given if isinstance(given, Optimizer) else given()
        return self._made

    def get_slot(self, *args: Any, **kwargs: Any) -> Any:
        """A slot of the wrapped optimizer."""
        return self._optimizer().get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> Any:
        """The names of the wrapped optimizer's slots."""
        return self._optimizer().get_slot_names(*args, **kwargs)

    def get_name(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's name."""
        return self._optimizer().get_name(*args, **kwargs)

    def variables(self, *args: Any, **kwargs: Any) -> Any:
        """The wrapped optimizer's variables."""
        return self._optimizer().variables(*args, **kwargs)

    def compute_gradients(self, loss: Any, *args: Any, **kwargs: Any) -> Any:
        """As the wrapped optimizer, of the tower's part of the loss."""
        towers = _building()
        if towers is not None:
            loss = towers.scaled(loss)
        return self._optimizer().compute_gradients(loss, *args, **kwargs)

    def apply_gradients(  # type: ignore[override]
        self, grads_and_vars: Any, global_step: Any = None, **kwargs: Any
    ) -> Any:
        """Applies the sums in the last tower, and does nothing in those before.

        Args:
          grads_and_vars: pairs of a gradient and its variable.
          global_step: incremented where they are applied.
          **kwargs: of the wrapped optimizer.
        """
        towers = _building()
        if towers is None:
            towers = _Building(1, Reduction.SUM)
            collecting.add_to_collection(_STATES, towers)
        towers.used = True
        if towers.count == 1:
            return self._optimizer().apply_gradients(grads_and_vars, global_step, **kwargs)
        brought = towers.waiting[towers.turn]
        brought.append(list(grads_and_vars))
        towers.turn += 1
        if towers.tower < towers.count - 1:
            return no_op(name="train_op_placeholder")
        # The sums have no tower's name, and slots are new, which a tower's scope does not allow.
        fresh = variable_scope(get_variable_scope(), reuse=AUTO_REUSE, auxiliary_name_scope=False)
        with fresh, scopes.name_scope(""), scopes.device(_CPU):
            return self._optimizer().apply_gradients(_summed(brought), global_step, **kwargs)

    @staticmethod
    def has_been_used() -> bool:
        """Whether one has applied gradients in the default graph, or in its towers so far."""
        towers = _building()
        return towers is not None and towers.used


def _summed(brought: Sequence[Sequence[tuple[Any, Any]]]) -> list[tuple[Any, Any]]:
    """One gradient a variable, in the order of the first tower."""
    found: dict[Any, list[Any]] = {}
    variables = {}
    for tower in brought:
        for gradient, variable in tower:
            found.setdefault(id(variable), [])
            variables[id(variable)] = variable
            if gradient is not None:
                found[id(variable)].append(gradient)
    with scopes.name_scope("gradient_aggregating"):
        return [(_sum(each), variables[k]) for k, each in found.items() if each]


def _sum(gradients: Sequence[Any]) -> Any:
    if isinstance(gradients[0], IndexedSlices):
        return IndexedSlices(
            join.concat([each.values for each in gradients], 0),
            join.concat([each.indices for each in gradients], 0),
        )
    return addn.add_n(gradients)


def replicate_model_fn(
    model_fn: Callable[..., Any],
    loss_reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    devices: Sequence[str] | None = None,
) -> Callable[..., EstimatorSpec]:
    """A model function that has a tower on each device, for a part of the batch each.

    Args:
      model_fn: as of ``tf.estimator.Estimator``; what trains must be a ``TowerOptimizer`` where
        there are several devices.
      loss_reduction: whether losses are summed (``tf.losses.Reduction.SUM``) or, with any other,
        averaged over towers.
      devices: the devices; default the GPUs, or the CPU where there is none.

    Returns:
      The function. It trains with the sum of the towers' gradients, sums up what metrics count,
      and concatenates predictions.

    Raises:
      ValueError: losses are not reduced; (as it is called) another optimizer trains, or the batch
        cannot be split evenly.

    Example:
      >>> import penstock as tf
      >>> def model(features, labels, mode):
      ...     return tf.estimator.EstimatorSpec(mode, predictions={"y": features * 2.0})
      >>> both = tf.contrib.estimator.replicate_model_fn(model, devices=["/cpu:0", "/cpu:1"])
      >>> with tf.Graph().as_default():
      ...     both(tf.ones([4]), None, "infer").predictions["y"].shape.as_list()
      [4]
    """
    if loss_reduction == Reduction.NONE:
        raise ValueError(
            "Tower losses need to be reduced in some way, yet none reduction is specified. Allowed"
            f" are the others of {Reduction.all()}"
        )
    places = list(devices or _local())

    def replicated(
        features: Any, labels: Any, mode: str, params: Any = None, config: Any = None
    ) -> EstimatorSpec:
        given = {"labels": labels, "mode": mode, "params": params, "config": config}
        names = arguments_of(model_fn)
        kept = {k: v for k, v in given.items() if k in names}
        if len(places) == 1:
            return next(_towers(model_fn, [(features, kept)], places, mode, loss_reduction))[0]
        with scopes.name_scope("split_inputs"), scopes.device(_CPU):
            parts = _parts(features, len(places))
            tagged = _parts(labels, len(places))
        calls = [
            (one, {**kept, **({"labels": tag} if "labels" in kept else {})})
            for one, tag in zip(parts, tagged, strict=True)
        ]
        built = list(_towers(model_fn, calls, places, mode, loss_reduction))
        specs, losses = [each[0] for each in built], [each[1] for each in built]
        if mode == ModeKeys.TRAIN:
            return specs[-1]._replace(loss=_total(losses))
        if mode == ModeKeys.EVAL:
            return _evaluating(specs, _total(losses))
        return _predicting(specs)

    return replicated


def _local() -> list[str]:
    found = list_local_devices()
    gpus = [each.name for each in found if each.device_type == "GPU"]
    return gpus or [each.name for each in found if each.device_type == "CPU"][:1]


# ---- towers --------------------------------------------------------------------------------------


def _towers(
    model_fn: Callable[..., Any], calls: Sequence[Any], places: Sequence[str], mode: str,
    reduction: str,
) -> Iterator[tuple[EstimatorSpec, Any]]:  # fmt: skip
    """The spec of each tower with its part of the loss."""
    towers = _Building(len(places), reduction)
    kept = scopes.get_default_graph().get_collection_ref(_STATES)
    kept.append(towers)
    shared = _CPU if len(places) > 1 else places[0]
    try:
        for i, ((features, given), place) in enumerate(zip(calls, places, strict=True)):
            towers.tower, towers.turn = i, 0
            with _in_tower(i), scopes.device(_setter(shared, place)):
                spec = model_fn(features=features, **given)
                if mode == ModeKeys.TRAIN and len(places) > 1 and not towers.used:
                    raise ValueError(
                        "Please wrap optimizers with TowerOptimizer in order to use"
                        f" replicate_model_fn with multiple `devices`. Devices: {list(places)}"
                    )
                loss = None if spec.loss is None else towers.scaled(spec.loss)
            yield spec, loss
    finally:
        kept.clear()


@contextmanager
def _in_tower(i: int) -> Iterator[None]:
    if i == 0:
        yield
        return
    scope = variable_scope(get_variable_scope(), reuse=True, auxiliary_name_scope=False)
    with scope, scopes.name_scope(f"tower_{i}"):
        yield


def _setter(shared: str, place: str) -> Callable[[Any], str]:
    """A device function: variables to where all towers share them, the rest to the tower."""

    def device(op: Any) -> str:
        asked = DeviceSpec.from_string(op.device or "")
        where = shared if op.type in STANDARD_PS_OPS else place
        return DeviceSpec.from_string(where).make_merged_spec(asked).to_string()

    return device


def _parts(values: Any, count: int) -> list[Any]:
    """Features or labels, as many parts of them along the batch."""
    if values is None:
        return [None] * count
    if isinstance(values, dict):
        cut = {k: _parts(v, count) for k, v in values.items()}
        return [{k: v[i] for k, v in cut.items()} for i in range(count)]
    if isinstance(values, SparseTensor):
        return sparse_split(sp_input=values, num_split=count, axis=0)
    size = dimension_value(values.shape[0])
    if size is not None and size % count:
        raise ValueError(
            f"Batch size {size} needs to be divisible by the number of GPUs, which is {count}."
        )
    return list(split.split(values, count))


# ---- one spec of several -------------------------------------------------------------------------


def _total(losses: Sequence[Any]) -> Any:
    with scopes.device(_CPU):
        return addn.add_n(losses, name="loss")


def _evaluating(specs: Sequence[EstimatorSpec], loss: Any) -> EstimatorSpec:
    """Metrics are the first tower's, to whose variables the others' are added at each step."""
    updates = [up for spec in specs for _, up in spec.eval_metric_ops.values()]
    with scopes.control_dependencies(updates), scopes.device(_CPU):
        merged = group(*_merged(len(specs)))
    metrics = {k: (value, merged) for k, (value, _) in specs[0].eval_metric_ops.items()}
    return specs[0]._replace(loss=loss, eval_metric_ops=metrics)


def _merged(count: int) -> list[Any]:
    variables = scopes.get_default_graph().get_collection(GraphKeys.METRIC_VARIABLES)
    each, ops = len(variables) // count, []
    for first in range(each):
        for other in range(first + each, len(variables), each):
            added = assign_add(variables[first], variables[other])
            with scopes.control_dependencies([added]):
                zeros = fill.zeros(shaping.shape(variables[other]), variables[other].dtype)
                ops.append(assign(variables[other], zeros))
    return ops


def _predicting(specs: Sequence[EstimatorSpec]) -> EstimatorSpec:
    with scopes.device(_CPU):
        predictions = _joined([spec.predictions for spec in specs])
        outputs = copy.copy(specs[0].export_outputs or {})
        for key, output in outputs.items():
            outputs[key] = _joined_output(
                output, [(spec.export_outputs or {})[key] for spec in specs]
            )
    return specs[0]._replace(predictions=predictions, export_outputs=outputs)


def _joined(parts: Sequence[Any]) -> Any:
    """Values of all towers, one after the other along the batch, by name."""
    if not isinstance(parts[0], dict):
        return join.concat(list(parts), 0)
    return {k: join.concat([part[k] for part in parts], 0, name=k) for k in parts[0]}


def _joined_output(first: Any, outputs: Sequence[Any]) -> Any:
    if isinstance(first, PredictOutput):
        return PredictOutput(_joined([each.outputs for each in outputs]))
    if isinstance(first, RegressionOutput):
        return RegressionOutput(_joined([each.value for each in outputs]))
    scores = None if first.scores is None else _joined([each.scores for each in outputs])
    # Names of classes are a row an example as well.
    classes = None if first.classes is None else _joined([each.classes for each in outputs])
    return ClassificationOutput(scores=scores, classes=classes)

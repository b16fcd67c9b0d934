"""``Model``: a network with training: ``compile``, ``fit``, ``evaluate``, ``predict``.

``compile`` makes targets, losses and metrics; the first step of each kind makes the nodes that it
runs.  Steps run in Keras's session (``tf.keras.backend.get_session``).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from penstock.foundation.graph import nest, scopes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.eager.function import functions_run_eagerly
from penstock.library.layer_base import phase, sessions, settings
from penstock.ops.control import control
from penstock.training.keras_models import (
    arrays,
    eager_steps,
    losses,
    metrics,
    optimizers,
    outputs,
    step_functions,
    streams,
    weight_files,
    weighting,
)
from penstock.training.keras_models.input_layer import Input, is_given
from penstock.training.keras_models.loops import Loops
from penstock.training.keras_models.network import Network, each_once, only
from penstock.training.keras_models.step_functions import StepFunction


class Model(Loops, Network):
    """A network with training.

    Args:
      inputs, outputs: tensors, or lists or dicts of them; none of both for a subclass, which gives
        ``call``.
      name: default ``model`` and so on.

    Example:
      >>> import numpy as np
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=[2])])
      ...     model.compile("sgd", "mse")
      ...     history = model.fit(np.ones([8, 2]), np.ones([8, 1]), epochs=3, verbose=0)
      ...     sorted(history.history), len(history.epoch)
      (['loss'], 3)
    """

    optimizer: Any = None
    loss: Any
    loss_weights: Any
    total_loss: Any
    metrics_names: list[str] = ["loss"]
    stop_training: bool
    trained_outputs: list[outputs.Output]
    # Those that were trainable when it was compiled: a discriminator goes on learning by itself
    # when it is frozen for the model that it is put into.
    trained_weights: list[Any]
    _seen: list[list[Any]]
    _results: list[Any]
    _output_losses: list[Any]
    metric_updates: list[Any]
    # What evaluated batches compute besides, and what takes it: a callback's summaries.
    watched: dict[Any, Any]
    asked_metrics: Any
    asked_weighted_metrics: Any
    sample_weight_mode: Any

    def _set_inputs(self, given: Any) -> None:
        """Makes the inputs and outputs of a subclass, by what it is first given."""
        if self.is_graph or self.outputs is not None:
            return
        named = given if isinstance(given, dict) else None
        flat = [np.asarray(one) for one in nest.flatten(given)]
        flat = [one[:, np.newaxis] if one.ndim == 1 else one for one in flat]
        if scopes.get_default_graph().executes:
            self._set_values(given, flat)
            return
        made = [
            Input(
                one.shape[1:], dtype=settings.floatx() if one.dtype.kind == "f" else one.dtype.name
            )
            for one in flat
        ]
        packed = nest.pack_sequence_as(given, made) if nest.is_nested(given) else made[0]
        asks = "training" in self.call_arguments
        found = self(packed, **({"training": phase.learning_phase()} if asks else {}))
        weight_files.restore_made_since(self)
        flat_out = nest.flatten(found)
        self.__dict__.update(
            inputs=made, outputs=flat_out, input_names=sorted(named) if named else
            [f"input_{n}" for n in range(1, len(made) + 1)],
            output_names=[f"output_{n}" for n in range(1, len(flat_out) + 1)],
        )  # fmt: skip
        if "_pending" in self.__dict__:
            self._compile_outputs()

    def _set_values(self, given: Any, flat: list[Any]) -> None:
        """As ``_set_inputs``, where calls run: the first sample says what there is."""
        made = [
            convert_to_tensor(
                one[:1].astype(settings.floatx()) if one.dtype.kind == "f" else one[:1]
            )
            for one in flat
        ]
        packed = nest.pack_sequence_as(given, made) if nest.is_nested(given) else made[0]
        outputs_made = nest.flatten(self(packed, training=False))
        if self.is_graph:  # a Sequential model, which knows its inputs now
            if "_pending" in self.__dict__:
                self._compile_outputs()
            return
        named = given if isinstance(given, dict) else None
        self.__dict__.update(
            inputs=made, outputs=outputs_made, _nested_inputs=named,
            input_names=list(nest.flatten({k: k for k in named})) if named else
            [f"input_{n}" for n in range(1, len(made) + 1)],
            output_names=[f"output_{n}" for n in range(1, len(outputs_made) + 1)],
        )  # fmt: skip
        if "_pending" in self.__dict__:
            self._compile_outputs()

    # ---- compile -------------------------------------------------------------------------------

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = None,
        loss_weights: Any = None, sample_weight_mode: Any = None, weighted_metrics: Any = None,
        target_tensors: Any = None, distribute: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Says how the model is trained.

        Args:
          optimizer: a name, an optimizer of Keras or of ``tf.train``.
          loss: a name, function or object; a list or dict by output.
          metrics: names, functions or objects; a dict by output, or a list of lists.
          loss_weights: how much the losses of outputs count; a list or dict.
          sample_weight_mode: "temporal": weights are of the steps of samples; a list or dict.
          weighted_metrics: metrics in which samples count by their weights; like ``metrics``.
          target_tensors: tensors that stand in the place of the targets; one, or a list or dict.
          distribute: not supported.
          **kwargs: ``options`` and ``run_metadata`` of the session's runs; ``run_eagerly``, see
            the property.

        Raises:
          NotImplementedError: ``distribute``.
          ValueError: another keyword; ``run_eagerly`` in a graph.
        """
        self.__dict__["_run_eagerly"] = kwargs.pop("run_eagerly", None)
        kwargs.pop("experimental_run_tf_function", None)
        self.run_eagerly  # noqa: B018 - it refuses what cannot be
        if distribute:
            raise NotImplementedError(
                "compile does not support distribute; see tf.distribute for what trains on several"
                " devices"
            )
        step_functions.check_keywords(kwargs)
        self.__dict__.update(
            optimizer=self._optimizer_of(optimizer), loss=loss, loss_weights=loss_weights,
            asked_metrics=metrics, asked_weighted_metrics=weighted_metrics,
            sample_weight_mode=sample_weight_mode, _run_arguments=kwargs,
            _target_tensors=target_tensors, _steps={}, _pending=True, watched={},
        )  # fmt: skip
        kept = [pair for pair in self._checkpoint_dependencies if pair[0] != "optimizer"]
        self.__dict__["_checkpoint_dependencies"] = [*kept, ("optimizer", self.optimizer)]
        if self.outputs is not None:
            self._compile_outputs()

    def _compile_outputs(self) -> None:
        self.__dict__["trained_weights"] = each_once(self.trainable_weights)
        names = self.output_names
        found = [losses.get(x) for x in outputs.by_output(self.loss, names, "loss")]
        weights = outputs.by_output(self.loss_weights, names, "loss_weights", 1.0)
        targets = outputs.by_output(self.__dict__["_target_tensors"], names, "target_tensors")
        modes = outputs.weighting_modes(self.sample_weight_mode, names)
        several = len(names) > 1
        made = [
            outputs.Output(
                name, tensor, loss, 1.0 if weight is None else weight, several, target, mode
            )
            for name, tensor, loss, weight, target, mode in zip(
                names, self.outputs, found, weights, targets, modes, strict=True
            )
        ]
        plain = outputs.metrics_by_output(self.asked_metrics, names)
        weighted = outputs.metrics_by_output(self.asked_weighted_metrics, names)
        for one, asked, asked_weighted in zip(made, plain, weighted, strict=True):
            if one.trained:
                one.add_metrics(asked)
                one.add_metrics(asked_weighted, weighted=True)
        trained = [one for one in made if one.trained]
        if scopes.get_default_graph().executes:
            self._compile_steps(trained, several)
            return
        with scopes.name_scope("loss"):
            values = [one.weighted_loss() for one in trained]
            total: Any = None
            for one, value in zip(trained, values, strict=True):
                counted = value * one.weight
                total = counted if total is None else total + counted
            for extra in self.losses:
                total = extra if total is None else total + extra
            if total is None:
                raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        self._make_metrics(trained)
        self.__dict__.update(
            trained_outputs=trained, total_loss=total, _output_losses=values if several else [],
            metrics_names=self._names(trained, several),
        )  # fmt: skip

    def _compile_steps(self, trained: list[Any], several: bool) -> None:
        """What there is to know where calls run; all else is computed for each batch."""
        objects = [metric for one in trained for _, metric, _ in one.metrics]
        self.__dict__.update(
            trained_outputs=trained, metrics_names=self._names(trained, several), _seen=[],
            _metric_objects=objects, _losses_told=len(trained) if several else 0,
        )  # fmt: skip

    def _make_metrics(self, trained: list[Any]) -> None:
        results, updates, objects = [], [], []
        with scopes.name_scope("metrics"):
            for one in trained:
                for number, (name, metric, _) in enumerate(one.metrics):
                    with scopes.name_scope(name):
                        update = one.update(number, one.target, one.tensor, one.sample_weight)
                        with scopes.control_dependencies([update]):
                            results.append(control.identity(metric.result()))
                    updates.append(update)
                    objects.append(metric)
            for note in self.noted_metrics:
                metric, made = note.metric, note.value
                if metric is None:
                    metric = self._mean_of(note.name)
                    made = metric(note.value)
                results.append(made)
                updates.append(made.op)
                objects.append(metric)
        self.__dict__.update(
            _results=results, metric_updates=updates, _metric_objects=objects, _seen=[]
        )

    def _mean_of(self, name: str) -> Any:
        """The metric that takes the mean of what ``add_metric`` was given under a name."""
        means: dict[str, Any] = self.__dict__.setdefault("_noted_means", {})
        if name not in means:
            means[name] = metrics.Mean(name)
        return means[name]

    def tell_noted(self) -> list[Any]:
        """Where calls run: what the metrics come to that the last call has noted."""
        found: dict[str, Any] = {}
        for note in self.noted_metrics:
            metric = note.metric
            if metric is None:
                metric = self._mean_of(note.name)
                metric.update_state(note.value)
            found[note.name] = metric
        objects = self.__dict__["_metric_objects"]
        objects += [one for one in found.values() if all(one is not known for known in objects)]
        self.metrics_names += [one for one in found if one not in self.metrics_names]
        return [one.result() for one in found.values()]

    def _names(self, trained: list[Any], several: bool) -> list[str]:
        of_losses = [f"{one.name}_loss" for one in trained] if several else []
        of_metrics = [metric[0] for one in trained for metric in one.metrics]
        noted = dict.fromkeys(note.name for note in self.noted_metrics)
        return ["loss", *of_losses, *of_metrics, *noted]

    @property
    def run_eagerly(self) -> bool:
        """Whether the calls of a step run one by one, as ``compile`` was asked or one has set.

        Where calls run, steps are such calls in any case; it is then what was asked.

        Raises:
          ValueError: it is asked for where calls make nodes of a graph.
        """
        asked = self.__dict__.get("_run_eagerly")
        if asked is True and not scopes.get_default_graph().executes:
            raise ValueError("You can only set `run_eagerly=True` if eager execution is enabled.")
        return functions_run_eagerly() if asked is None else bool(asked)

    @run_eagerly.setter
    def run_eagerly(self, value: bool | None) -> None:
        self.__dict__["_run_eagerly"] = value

    @property
    def sample_weights(self) -> list[Any]:
        """By what the weights of each output's samples are fed: a tensor, or None without any.

        There are some once ``compile`` was given a ``sample_weight_mode`` or a step weights.
        """
        made = {
            one.name: one.sample_weight for one in self.__dict__.get("trained_outputs", ())
            if one.weighted_by or one.name in self.__dict__.get("_weighed", ())
        }  # fmt: skip
        return [made.get(name) for name in self.output_names or ()]

    @property
    def metrics(self) -> list[Any]:
        """The metrics that ``compile`` was given, as objects."""
        return list(self.__dict__.get("_metric_objects", ()))

    def reset_metrics(self) -> None:
        """Sets the metrics to nothing seen."""
        self.__dict__["_seen"] = []
        for one in self.metrics:
            one.reset_states()

    # ---- steps ---------------------------------------------------------------------------------

    def _need_compiled(self) -> None:
        if self.optimizer is None:
            raise RuntimeError(
                "You must compile your model before training/testing. Use"
                " `model.compile(optimizer, loss)`."
            )

    def training_step(self) -> Any:
        if scopes.get_default_graph().executes:
            return None
        steps = self.__dict__["_steps"]
        if "train" not in steps:
            with scopes.name_scope("training"):
                made = self._optimizer_updates()
            steps["train"] = control.group(*made, *_once(self._relevant_updates()))
            with scopes.name_scope(""), scopes.name_scope("training"):
                pass  # TensorFlow makes its step in a second scope of the name, which is taken here
            weight_files.restore_made_since(self)
        return steps["train"]

    def _optimizer_of(self, given: Any) -> Any:
        """The optimizer that ``compile`` was given by name or as it is."""
        return optimizers.get(given)

    def _optimizer_updates(self) -> list[Any]:
        """In a graph: what the optimizer does in a step."""
        updates: list[Any] = self.optimizer.get_updates(self.total_loss, self.trained_weights)
        return updates

    def move(self, grads: list[Any], variables: list[Any]) -> None:
        """Where calls run: moves the weights by their gradients."""
        self.optimizer.apply_own_gradients(list(zip(grads, variables, strict=True)))

    def _test_step(self) -> Any:
        """What an evaluated batch changes: the states of stateful layers."""
        steps = self.__dict__["_steps"]
        if "test" not in steps:
            steps["test"] = control.group(*_once(self.state_updates))
        return steps["test"]

    # What an Estimator that is made of a model asks by TensorFlow's own names.

    @property
    def _is_graph_network(self) -> bool:
        return bool(self.is_graph)

    @property
    def _compile_metrics(self) -> Any:
        return self.asked_metrics

    @property
    def _compile_weighted_metrics(self) -> Any:
        return self.asked_weighted_metrics

    @property
    def _compile_metric_functions(self) -> list[Any]:
        return self.metrics

    def _make_train_function(self) -> None:
        self.__dict__["train_function"] = self._step_function([self.training_step()])

    def _make_test_function(self) -> None:
        self.__dict__["test_function"] = self._step_function(_once(self.state_updates))

    def _step_function(self, updates: list[Any]) -> StepFunction:
        fed = [*self.inputs, *(one.target for one in self.trained_outputs if one.fed)]
        fetched = [self.total_loss, *self._output_losses, *self._results]
        return StepFunction(
            fed, fetched, [*updates, *self.metric_updates], None, **self.__dict__["_run_arguments"]
        )

    def _relevant_updates(self) -> list[Any]:
        return [*self.get_updates_for(None), *self.get_updates_for(self.inputs)]

    def _feed(self, inputs: list[Any], targets: list[Any], weights: list[Any]) -> dict[Any, Any]:
        feed = dict(zip(self._fed_inputs().values(), inputs, strict=True))
        for one, target, weight in zip(self.trained_outputs, targets, weights, strict=True):
            if one.fed:
                feed[one.target] = target
            if weight is not None:
                feed[one.sample_weight] = weight
                self.__dict__.setdefault("_weighed", set()).add(one.name)
        return feed

    def _phased(self, feed: dict[Any, Any], training: bool) -> dict[Any, Any]:
        learning = phase.learning_phase()
        return feed if isinstance(learning, int) else {**feed, learning: training}

    def run_batch(
        self, training: bool, inputs: list[Any], targets: list[Any], weights: list[Any]
    ) -> list[Any]:
        """Runs a step; its loss and, of all batches so far, the outputs' losses and metrics."""
        if scopes.get_default_graph().executes:
            found = eager_steps.Step(self, inputs, targets, weights).run(training)
            return self._with_means(found, self.__dict__["_losses_told"])
        step = self.training_step() if training else self._test_step()  # made before the session
        feed = self._phased(self._feed(inputs, targets, weights), training)
        fetched = [self.total_loss, *self._output_losses, *self._results]
        watched = {} if training else self.watched
        run, session = self.__dict__["_run_arguments"], sessions.get_session()
        found, seen, *_ = session.run(
            [fetched, list(watched), step, self.metric_updates], feed, **run
        )
        for take, value in zip(watched.values(), seen, strict=True):
            take(value)
        return self._with_means(found, len(self._output_losses))

    def _with_means(self, found: list[Any], count: int) -> list[Any]:
        """The losses of ``count`` outputs as their means over the batches so far."""
        self._seen.append(found[1 : 1 + count])
        means = [np.mean(one, dtype=settings.floatx()) for one in zip(*self._seen, strict=True)]
        return [found[0], *means, *found[1 + count :]]

    def standardized(self, x: Any, y: Any, sample_weight: Any, class_weight: Any) -> Any:
        self._need_compiled()
        x, y, sample_weight = streams.values_of((x, y, sample_weight))
        self._set_inputs(x)
        inputs = self._standardized_inputs(x)
        names = [one.name for one in self.trained_outputs]
        asked = [one for one in self.trained_outputs if one.fed or y is not None]
        shapes = [
            one.tensor.shape.as_list() if self.is_graph and _fits_the_output(one) else None
            for one in asked
        ]
        found = arrays.standardized(y, [one.name for one in asked], shapes, "target")
        by_name = dict(zip((one.name for one in asked), found, strict=True))
        targets = [by_name.get(name) for name in names]
        given = weighting.standardize_sample_weights(sample_weight, names)
        weights = [
            arrays.weights_of(one.weighted_by, weight, class_weight, target)
            for one, weight, target in zip(self.trained_outputs, given, targets, strict=True)
        ]
        arrays.same_length(inputs, found)
        return inputs, targets, weights

    def _fed_inputs(self) -> dict[str, Any]:
        """The inputs that are fed, by name: all but tensors that ``Input`` was given."""
        found = dict(zip(self.input_names, self.inputs, strict=True))
        return {name: one for name, one in found.items() if not is_given(one)}

    def _standardized_inputs(self, x: Any) -> list[Any]:
        fed = self._fed_inputs()
        return arrays.standardized(x, list(fed), self._shapes(list(fed.values())), "input")

    @staticmethod
    def _shapes(tensors: Sequence[Any]) -> list[Any]:
        return [None if t.shape.ndims is None else t.shape.as_list() for t in tensors]

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None,
        reset_metrics: bool = True,
    ) -> Any:  # fmt: skip
        """One step of training.

        Args:
          x, y: inputs and targets.
          sample_weight: a weight for each sample.
          class_weight: from classes to weights.
          reset_metrics: whether metrics forget the batch.

        Returns:
          The loss, or with metrics a list as of ``metrics_names``.
        """
        found = self.run_batch(True, *self.standardized(x, y, sample_weight, class_weight))
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def test_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """The losses and metrics of a batch, without training; as of ``train_on_batch``."""
        found = self.run_batch(False, *self.standardized(x, y, sample_weight, None))
        if reset_metrics:
            self.reset_metrics()
        return found[0] if len(found) == 1 else found

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for a batch of inputs."""
        return only(self.predicted(self.standardized_inputs(x)))

    def standardized_inputs(self, x: Any) -> list[Any]:
        (x,) = streams.values_of((x,))
        self._set_inputs(x)
        return self._standardized_inputs(x)

    def predicted(self, inputs: list[Any]) -> list[Any]:
        if scopes.get_default_graph().executes:
            return [one.numpy() for one in eager_steps.called(self, inputs, False)]
        fed = self._fed_inputs().values()
        feed = self._phased(dict(zip(fed, inputs, strict=True)), False)
        state = self.__dict__.setdefault("_state_step", None)
        if state is None and self.state_updates:
            state = self.__dict__["_state_step"] = control.group(*_once(self.state_updates))
        extra = [] if state is None else [state]
        return list(sessions.get_session().run([self.outputs, extra], feed)[0])


def _fits_the_output(one: outputs.Output) -> bool:
    """Whether targets have the shape of the output, as those of the losses of this room do."""
    if one.is_sparse:
        return False
    of_a_function = one.loss.__class__ is losses.FunctionLoss
    return not of_a_function or one.loss.function.__module__.startswith("penstock")


def _once(items: list[Any]) -> list[Any]:
    return list({id(one): one for one in items}.values())

"""``tf.estimator.Estimator``: a model function trained, evaluated, used and exported.

Each method builds a graph of its own from ``input_fn`` and ``model_fn``; what lives between calls
is in ``model_dir``.  State: the configuration, and the model function with its parameters.

Source: the behaviour of ``tf.estimator.Estimator`` in TensorFlow 1.15 (nodes, names, files, words
of errors).
"""

from __future__ import annotations

import copy
import logging
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from penstock.engine.session.options import ConfigProto
from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.graph import scopes, seeds
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.global_step import create_global_step
from penstock.ops.control.control import group
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.storage.checkpoint.reader import NewCheckpointReader, list_variables, load_variable
from penstock.storage.checkpoint.warm_start import warm_start
from penstock.training.estimator import calling, evaluation, exporting, training_loop
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.estimator.run_config import RunConfig
from penstock.training.estimator.warm_starting import settings_of
from penstock.training.monitored.basic_hooks import StopAtStepHook
from penstock.training.monitored.checkpoint_hook import CheckpointSaverListener
from penstock.training.monitored.creators import ChiefSessionCreator
from penstock.training.monitored.global_step_read import global_step_read
from penstock.training.monitored.hook import SessionRunHook
from penstock.training.monitored.monitored_session import MonitoredSession
from penstock.training.monitored.scaffold import Scaffold
from penstock.training.train.device_setter import STANDARD_PS_OPS, replica_device_setter

_log = logging.getLogger("penstock")
# ``TPUEstimator`` overrides what is not public.
_MAY_OVERRIDE = {"model_fn", "_create_global_step", "_call_input_fn", "_exported"}


class Estimator:
    """Trains, evaluates, uses and exports what a model function describes.

    Subclasses choose ``model_fn``; they cannot override the methods.

    Args:
      model_fn: ``f(features, labels, mode, params, config)`` that returns an ``EstimatorSpec``; it
        may leave out every argument but ``features``.
      model_dir: directory of checkpoints and events; default that of ``config``, else a temporary
        one.
      config: a ``RunConfig``.
      params: what ``model_fn`` and ``input_fn`` get as ``params``.
      warm_start_from: ``WarmStartSettings``, or the path of a checkpoint or SavedModel: what
        variables begin with.

    Raises:
      ValueError: ``model_fn`` is missing or takes other arguments, ``config`` is no ``RunConfig``,
        the directories differ, or a subclass overrides a method.

    Example:
      >>> import penstock as tf, tempfile
      >>> def model_fn(features, labels, mode):
      ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
      ...     loss = tf.reduce_mean(tf.square(w * features - labels))
      ...     train = tf.train.GradientDescentOptimizer(0.1).minimize(
      ...         loss, tf.train.get_global_step())
      ...     return tf.estimator.EstimatorSpec(mode, w * features, loss, train)
      >>> data = lambda: tf.data.Dataset.from_tensors(([1.0, 2.0], [3.0, 6.0])).repeat()
      >>> trained = tf.estimator.Estimator(model_fn, tempfile.mkdtemp()).train(data, steps=20)
      >>> round(float(trained.get_variable_value("w")), 3)
      3.0
    """

    def __init__(
        self,
        model_fn: Callable[..., EstimatorSpec],
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        warm_start_from: Any = None,
    ) -> None:
        self._assert_members_are_not_overridden()
        self._config = _complete_config(config, model_dir)
        _log.info("Using config: %s", vars(self._config))
        self._model_dir: str = self._config.model_dir or ""
        self._session_config = self._config.session_config
        self._device_fn = self._config.device_fn or _device_fn(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        calling.check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = settings_of(warm_start_from)

    def _assert_members_are_not_overridden(self) -> None:
        names = (name for name in vars(type(self)) if not name.startswith("__"))
        overridden = sorted(
            name
            for name in names
            if hasattr(Estimator, name)
            and name not in _MAY_OVERRIDE
            and getattr(type(self), name) is not getattr(Estimator, name)
        )
        if overridden:
            raise ValueError(
                "Subclasses of Estimator cannot override members of Estimator."
                f" {type(self)} does override {overridden}"
            )

    # ---- what it is --------------------------------------------------------------------------

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and events."""
        return self._model_dir

    @property
    def config(self) -> RunConfig:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the parameters."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Callable[..., EstimatorSpec]:
        """The model function with its parameters bound: ``f(features, labels, mode, config)``."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint.

        Args:
          name: its name.

        Raises:
          ValueError: there is no checkpoint.
        """
        self._check_trained()
        return load_variable(self._model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint.

        Raises:
          ValueError: there is no checkpoint.
        """
        self._check_trained()
        return [name for name, _ in list_variables(self._model_dir)]

    def latest_checkpoint(self) -> str | None:
        """The path of the latest checkpoint in ``model_dir``, or None."""
        return latest_checkpoint(self._model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """The directory of an evaluation's event files.

        Args:
          name: of the evaluation.
        """
        return os.path.join(self._model_dir, "eval" if not name else f"eval_{name}")

    def _check_trained(self) -> None:
        if self.latest_checkpoint() is None:
            raise ValueError(f"Could not find trained model in model_dir: {self._model_dir}.")

    # ---- training ----------------------------------------------------------------------------

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Any = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Any = None,
    ) -> Estimator:
        """Trains from the latest checkpoint, or from the initial values.

        Args:
          input_fn: returns a dataset of pairs (features, labels), or such a pair of tensors or
            dicts of tensors; may take ``mode``, ``params`` and ``config``.
          hooks: hooks for the session.
          steps: how many steps to train; default until the input ends.
          max_steps: the global step to train up to; nothing is done where it is reached already.
          saving_listeners: ``CheckpointSaverListener`` objects.

        Returns:
          The estimator.

        Raises:
          ValueError: both ``steps`` and ``max_steps`` are given, or not above 0.
          TypeError: a hook or listener is something else.
        """
        config = self._config
        if config.task_type in ("evaluator", "ps"):
            raise ValueError(
                "Train has been called wrong configuration. Please use"
                " tf.estimator.train_and_evaluate which calls proper API according to given"
                f" configuration. Current configuration: task_type={config.task_type!r}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, count in (("steps", steps), ("max_steps", max_steps)):
            if count is not None and count <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {count}")
        if max_steps is not None and max_steps <= global_step_in(self._model_dir):
            _log.info("Skipping training since max_steps has already saved.")
            return self
        all_hooks = checked_hooks(hooks)
        if steps is not None or max_steps is not None:
            all_hooks.append(StopAtStepHook(steps, max_steps))
        listeners = _checked_listeners(saving_listeners)
        loss = self._train_model(input_fn, all_hooks, listeners)
        _log.info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn: Any, hooks: list[Any], listeners: list[Any]) -> Any:
        if self._config.train_distribute is not None:
            raise NotImplementedError(
                "RunConfig.train_distribute is not there yet; train with parameter servers"
                " (TF_CONFIG), or use tf.distribute without an Estimator"
            )
        with Graph().as_default() as graph, graph.device(self._device_fn):
            self._begin_graph(graph)
            global_step_read(graph)
            result = self._call_input_fn(input_fn, ModeKeys.TRAIN)
            features, labels, input_hooks = calling.features_and_labels(result)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            self._warm_start(None)
            return training_loop.train(
                spec, self._config, self._session_config, [*input_hooks, *hooks], listeners
            )

    def _create_global_step(self, graph: Graph) -> Any:
        return create_global_step(graph)

    def _begin_graph(self, graph: Graph) -> None:
        seeds.set_random_seed(self._config.tf_random_seed)
        self._create_global_step(graph)

    def _warm_start(self, checkpoint_path: Any) -> None:
        if self._warm_start_settings is not None and not checkpoint_path:
            _log.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
            warm_start(*self._warm_start_settings)

    def _call_input_fn(self, input_fn: Any, mode: str) -> Any:
        return calling.call_input_fn(input_fn, mode, self.params, self.config)

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        return calling.call_model_fn(self._model_fn, features, labels, mode, self.params, config)

    # ---- evaluation --------------------------------------------------------------------------

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Any = None,
        checkpoint_path: Any = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Computes the metrics of a checkpoint over the batches of an input.

        Args:
          input_fn: as of ``train``.
          steps: how many batches; default until the input ends.
          hooks: hooks for the session.
          checkpoint_path: the checkpoint; default the latest; the initial values where there is
            none.
          name: of the evaluation, whose events are in ``eval_name`` of ``model_dir``.

        Returns:
          The metrics by name, with "loss" (the mean over batches) and "global_step".

        Raises:
          ValueError: ``steps`` is not above 0, or the model calls a metric "loss" or "global_step".
          TypeError: a hook is something else.
        """
        all_hooks = checked_hooks(hooks)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if steps is not None:
            all_hooks.append(evaluation.StopAfterNEvalsHook(steps))
        checkpoint_path = checkpoint_path or self._latest_or_tell("evaluate")
        with Graph().as_default() as graph:
            scaffold, update, values, all_hooks = self.evaluation_graph(
                graph, input_fn, all_hooks, checkpoint_path
            )
            results = evaluation.evaluate_once(
                checkpoint_path, self._config.evaluation_master, scaffold, update, values,
                all_hooks, self._session_config,
            )  # fmt: skip
        evaluation.write_results(self.eval_dir(name), results, checkpoint_path)
        return results

    def evaluation_graph(
        self, graph: Graph, input_fn: Any, hooks: list[Any], checkpoint_path: Any
    ) -> tuple[Scaffold, Any, dict[str, Any], list[Any]]:
        """The graph of an evaluation: its scaffold, updates, values, and hooks."""
        self._begin_graph(graph)
        result = self._call_input_fn(input_fn, ModeKeys.EVAL)
        features, labels, input_hooks = calling.features_and_labels(result)
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        found = evaluation.with_loss(spec.eval_metric_ops, spec.loss)
        update, values = evaluation.updates_and_values(found)
        self._warm_start(checkpoint_path)
        if GraphKeys.GLOBAL_STEP in values:
            raise ValueError(
                "Metric with name `global_step` is not allowed, because Estimator already defines"
                " a default metric with the same name."
            )
        values[GraphKeys.GLOBAL_STEP] = graph.get_collection(GraphKeys.GLOBAL_STEP)[0]
        scaffold = spec.scaffold
        if scaffold.local_init_op is not None:
            # What the model gave cannot know the local variables that the evaluation has added.
            evaluation.eval_step()
            both = group(scaffold.local_init_op, Scaffold.default_local_init_op())
            scaffold = Scaffold(local_init_op=both, copy_from_scaffold=scaffold)
        return scaffold, update, values, [*input_hooks, *hooks, *spec.evaluation_hooks]

    def _latest_or_tell(self, purpose: str) -> str | None:
        found = self.latest_checkpoint()
        if found is None:
            _log.info(
                "Could not find trained model in model_dir: %s, running initialization to %s.",
                self._model_dir, purpose,
            )  # fmt: skip
        return found

    # ---- prediction --------------------------------------------------------------------------

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Any = None,
        checkpoint_path: Any = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields what the model predicts.

        Args:
          input_fn: as of ``train``; labels are ignored.
          predict_keys: which of the predictions' names; default all.
          hooks: hooks for the session.
          checkpoint_path: as of ``evaluate``.
          yield_single_examples: False yields batches as they are.

        Yields:
          Values, or dicts of them, of one example (or batch) each.

        Raises:
          ValueError: ``predict_keys`` names no prediction, or batches differ in length.
          TypeError: a hook is something else.
        """
        all_hooks = checked_hooks(hooks)
        checkpoint_path = checkpoint_path or self._latest_or_tell("predict")
        with Graph().as_default() as graph:
            self._begin_graph(graph)
            result = self._call_input_fn(input_fn, ModeKeys.PREDICT)
            features, _, input_hooks = calling.features_and_labels(result)
            if not calling.ends_by_itself():
                _log.warning(
                    "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means"
                    " predict yields forever. This is probably a mistake."
                )
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._warm_start(checkpoint_path)
            predictions = _chosen(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                scaffold=spec.scaffold, master=self._config.master, config=self._session_config,
                checkpoint_filename_with_path=checkpoint_path,
            )  # fmt: skip
            all_hooks = [*input_hooks, *all_hooks, *spec.prediction_hooks]
            with MonitoredSession(session_creator=creator, hooks=all_hooks) as session:
                while not session.should_stop():
                    found = session.run(predictions)
                    yield from _examples(found) if yield_single_examples else [found]

    # ---- exporting ---------------------------------------------------------------------------

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes the model as a SavedModel into a new folder, named by the time.

        Args:
          export_dir_base: where that folder is made.
          serving_input_receiver_fn: returns a ``ServingInputReceiver``.
          assets_extra: files to copy into ``assets.extra``, by their path there.
          as_text: whether ``saved_model.pbtxt`` is written.
          checkpoint_path: the checkpoint; default the latest.
          experimental_mode: the mode to export.

        Returns:
          The folder, as bytes as in TF.

        Raises:
          ValueError: there is no receiver function or no checkpoint.
        """
        return self._export(
            export_dir_base, {experimental_mode: serving_input_receiver_fn}, assets_extra, as_text,
            checkpoint_path, strip=True,
        )  # fmt: skip

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Older form of ``export_saved_model``.

        Args:
          export_dir_base, serving_input_receiver_fn, assets_extra, as_text, checkpoint_path: as of
            ``export_saved_model``.
          strip_default_attrs: whether attrs with default values are left out.
        """
        return self._export(
            export_dir_base, {ModeKeys.PREDICT: serving_input_receiver_fn}, assets_extra, as_text,
            checkpoint_path, strip=strip_default_attrs,
        )  # fmt: skip

    def experimental_export_all_saved_models(
        self,
        export_dir_base: Any,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, Any] | None = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
    ) -> bytes:
        """Writes one SavedModel with a MetaGraph for each of several modes.

        Args:
          export_dir_base, assets_extra, as_text, checkpoint_path: as of ``export_saved_model``.
          input_receiver_fn_map: receiver functions by mode.
        """
        return self._export(
            export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path,
            strip=True,
        )  # fmt: skip

    def _export(
        self, base: Any, receivers: Any, extra: Any, as_text: bool, checkpoint: Any, strip: bool
    ) -> bytes:
        if not all(receivers.values()):
            raise ValueError("An input_receiver_fn must be defined.")
        checkpoint = checkpoint or self.latest_checkpoint() or self._warm_checkpoint()
        if not checkpoint:
            raise ValueError(f"Couldn't find trained model at {self._model_dir}.")
        return exporting.export_all(
            receivers, self._exported, checkpoint, base, self._session_config, extra, as_text, strip
        )

    def _exported(self, receiver_fn: Callable[[], Any], mode: str) -> tuple[Any, EstimatorSpec]:
        self._create_global_step(scopes.get_default_graph())
        seeds.set_random_seed(self._config.tf_random_seed)
        receiver = receiver_fn()
        labels = getattr(receiver, "labels", None)
        return receiver, self._call_model_fn(receiver.features, labels, mode, self.config)

    def _warm_checkpoint(self) -> str | None:
        if self._warm_start_settings is None:
            return None
        path = self._warm_start_settings.ckpt_to_initialize_from
        return latest_checkpoint(path) if files.isdir(path) else path


def _complete_config(given: Any, model_dir: Any) -> RunConfig:
    """The configuration with what it leaves open: the directory, and the options of sessions."""
    if given is None:
        given = RunConfig()
        _log.info("Using default config.")
    if not isinstance(given, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {given!r}.")
    config = given
    if config.session_config is None:
        options = ConfigProto(allow_soft_placement=True)
        options.graph_options.rewrite_options.meta_optimizer_iterations = 1
        config = config.replace(session_config=options)
    model_dir = None if model_dir is None else os.fsdecode(model_dir)
    if model_dir is not None and config.model_dir not in (None, model_dir):
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values."
            f" In constructor: '{model_dir}', in `RunConfig`: '{config.model_dir}'"
        )
    if not model_dir and config.model_dir is None:
        model_dir = tempfile.mkdtemp()
        _log.warning("Using temporary folder as model directory: %s", model_dir)
    return config.replace(model_dir=model_dir) if model_dir else config


def _device_fn(config: RunConfig) -> Any:
    if config.num_ps_replicas == 0:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas, worker_device=worker, merge_devices=True,
        ps_ops=list(STANDARD_PS_OPS), cluster=config.cluster_spec,
    )  # fmt: skip


def global_step_in(model_dir: str) -> int:
    """The global step of the latest checkpoint; 0 where there is none."""
    path = latest_checkpoint(model_dir)
    if path is None:
        return 0
    try:
        return int(NewCheckpointReader(path).get_tensor(GraphKeys.GLOBAL_STEP))
    except errors.OpError:
        return 0


def checked_hooks(hooks: Iterable[Any] | None) -> list[Any]:
    found = list(hooks or ())
    for hook in found:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook!r}")
    return found


def _checked_listeners(listeners: Iterable[Any] | None) -> list[Any]:
    found = list(listeners or ())
    for each in found:
        if not isinstance(each, CheckpointSaverListener):
            raise TypeError(
                f"saving_listeners must be a list of CheckpointSaverListener, given: {each!r}"
            )
    return found


def _chosen(predictions: Any, keys: Any) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    found = {key: value for key, value in predictions.items() if key in keys}
    if not found:
        raise ValueError(
            f"Expected to run at least one output from {list(predictions)}, provided {keys}."
        )
    return found


def _examples(found: Any) -> Iterator[Any]:
    """One example after the other out of a batch."""
    if not isinstance(found, dict):
        yield from found
        return
    lengths = {key: value.shape[0] for key, value in found.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(
            f"Batch length of predictions should be same. The lengths by name are {lengths}"
        )
    for number in range(next(iter(lengths.values()), 0)):
        yield {key: value[number] for key, value in found.items()}

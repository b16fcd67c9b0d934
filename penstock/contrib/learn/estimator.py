"""``tf.contrib.learn.Estimator``: trains, evaluates and uses a model function, as TF 0.x did.

The work is done by ``tf.estimator``'s; what differs is what a model function takes and returns
(``model_fn``), that arrays may be given instead of an input function (``feeding``), and that
predictions of a constant input end.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from penstock.contrib.learn.abstract import Evaluable, Trainable
from penstock.contrib.learn.feeding import input_of
from penstock.contrib.learn.metric_specs import metric_ops
from penstock.contrib.learn.model_fn import ModeKeys, ModelFnOps, NotFittedError
from penstock.contrib.learn.monitors import replace_monitors_with_hooks
from penstock.contrib.learn.run_config import RunConfig
from penstock.storage.checkpoint.management import latest_checkpoint
from penstock.training.estimator import estimator as core
from penstock.training.estimator.calling import ends_by_itself
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.receivers import ServingInputReceiver

_TAKEN = ("mode", "params", "config", "model_dir")


class BaseEstimator(Evaluable, Trainable):
    """What estimators share.

    Args:
      model_dir: directory of checkpoints and events; default that of ``config``, else a temporary
        one.
      config: a ``RunConfig``.
    """

    def __init__(self, model_dir: Any = None, config: Any = None) -> None:
        if config is None:
            config = RunConfig()
        self._core = core.Estimator(self._spec, model_dir, config)
        self._metrics: Any = None
        self._ends = True
        self._export_key: str | None = None

    def _spec(self, features: Any, labels: Any, mode: str, config: Any) -> EstimatorSpec:
        ops = self._call_model_fn(features, labels, mode)
        measured = dict(ops.eval_metric_ops)
        if mode == ModeKeys.EVAL:
            # The mean of the loss is measured by the evaluation.
            measured.pop("loss", None)
            measured.update(metric_ops(self._metrics, features, labels, ops.predictions))
        self._ends = ends_by_itself()
        return ops._replace(eval_metric_ops=measured).estimator_spec(self._export_key)

    def prediction_ops(self, features: Any) -> ModelFnOps:
        """The model for predictions, made in the default graph.

        Args:
          features: a tensor, or tensors by key.
        """
        return self._call_model_fn(features, None, ModeKeys.INFER)

    def _call_model_fn(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        raise NotImplementedError

    @property
    def model_dir(self) -> str:
        """The directory of checkpoints and events."""
        return self._core.model_dir

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return self._core.config

    def get_variable_names(self) -> list[str]:
        """The names of all variables in the latest checkpoint."""
        return self._core.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint.

        Args:
          name: its name.
        """
        return self._core.get_variable_value(name)

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Any = None,
        max_steps: int | None = None,
    ) -> BaseEstimator:
        """Trains from the latest checkpoint, or from the initial values.

        Args:
          x, y: arrays of features and labels; or
          input_fn: returns features and labels as tensors.
          steps: how many steps to train; default until the input ends.
          batch_size: rows of a batch of ``x``; default all.
          monitors: monitors and hooks.
          max_steps: the global step to train up to.

        Returns:
          The estimator.

        Raises:
          ValueError: both forms of input, or both counts of steps, or neither input.
        """
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        function, hooks = input_of(x, y, input_fn, batch_size, shuffle=True, epochs=None)
        hooks = [*hooks, *replace_monitors_with_hooks(monitors, self)]
        self._core.train(function, hooks, steps, max_steps)
        return self

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = 1,
        batch_size: int | None = None,
        monitors: Any = None,
    ) -> BaseEstimator:
        """``fit`` for a few steps; arguments are its."""
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: str | None = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """The metrics of a checkpoint over batches.

        Args:
          x, y, input_fn, batch_size: as of ``fit``; arrays are used once.
          feed_fn: refused: give ``x``.
          steps: how many batches; default until the input ends.
          metrics: ``MetricSpec`` by name, beside the model's own.
          name: of the evaluation.
          checkpoint_path: default the latest.
          hooks: hooks for the session.
          log_progress: accepted for TensorFlow's sake.

        Returns:
          The metrics by name, with "loss" and "global_step".

        Raises:
          NotFittedError: there is no checkpoint.
        """
        if feed_fn is not None:
            raise NotImplementedError("Estimator.evaluate: feed_fn is not there; give x and y")
        if checkpoint_path is None and latest_checkpoint(self.model_dir) is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")
        function, feeding = input_of(x, y, input_fn, batch_size, shuffle=False, epochs=1)
        self._metrics = metrics
        found = self._core.evaluate(
            function, steps, [*feeding, *(hooks or [])], checkpoint_path, name
        )
        self._metrics = None
        return found

    def predict(
        self,
        x: Any = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """What the model predicts.

        Args:
          x, input_fn, batch_size: as of ``evaluate``.
          outputs: which of several predictions; default all.
          as_iterable: whether predictions come one after the other; False gives one array, or
            arrays by name.
          iterate_batches: whether they come a batch at a time.

        Raises:
          NotFittedError: there is no checkpoint.
        """
        if latest_checkpoint(self.model_dir) is None:
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")
        function, feeding = input_of(x, None, input_fn, batch_size, shuffle=False, epochs=1)
        batches = self._batches(function, feeding, outputs)
        if as_iterable:
            return batches if iterate_batches else itertools.chain.from_iterable(
                map(_rows, batches)
            )  # fmt: skip
        return _joined(list(batches))

    def _batches(self, function: Any, feeding: list[Any], outputs: Any) -> Iterator[Any]:
        for batch in self._core.predict(function, outputs, feeding, yield_single_examples=False):
            yield batch
            if not (feeding or self._ends):
                return

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: str | None = None,
    ) -> bytes:
        """Writes the model as a SavedModel into a new folder, named by the time.

        Args:
          export_dir_base: where that folder is made.
          serving_input_fn: returns ``InputFnOps``.
          default_output_alternative_key: which of the model's alternatives is served by default.
          assets_extra: files to copy into ``assets.extra``, by their path there.
          as_text: whether ``saved_model.pbtxt`` is written.
          checkpoint_path: the checkpoint; default the latest.

        Returns:
          The folder, as bytes.

        Raises:
          ValueError: there is no function.
        """
        if serving_input_fn is None:
            raise ValueError("serving_input_fn must be defined.")
        self._export_key = default_output_alternative_key

        def receiver() -> ServingInputReceiver:
            given = serving_input_fn()
            return ServingInputReceiver(given.features, given.default_inputs)

        return self._core.export_savedmodel(
            export_dir_base, receiver, assets_extra, as_text, checkpoint_path
        )


class Estimator(BaseEstimator):
    """Trains, evaluates and uses what a model function describes.

    Args:
      model_fn: ``f(features, labels)`` that returns ``ModelFnOps``, or predictions, loss and
        training step; may take ``mode``, ``params``, ``config`` and ``model_dir`` as well.
      model_dir: directory of checkpoints and events.
      config: a ``RunConfig``.
      params: what ``model_fn`` gets as ``params``.
      feature_engineering_fn: from features and labels to those that ``model_fn`` gets.

    Raises:
      ValueError: ``model_fn`` takes other arguments, or does not take the ``params`` given.

    Example:
      >>> import penstock as tf
      >>> learn = tf.contrib.learn
      >>> def model_fn(features, labels, mode):
      ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
      ...     if mode == learn.ModeKeys.INFER:
      ...         return learn.ModelFnOps(mode, w * features)
      ...     loss = tf.reduce_mean(tf.square(w * features - labels))
      ...     step = tf.train.GradientDescentOptimizer(0.1).minimize(
      ...         loss, tf.train.get_global_step())
      ...     return learn.ModelFnOps(mode, w * features, loss, step)
      >>> data = lambda: (tf.constant([1.0, 2.0]), tf.constant([3.0, 6.0]))
      >>> trained = learn.Estimator(model_fn).fit(input_fn=data, steps=20)
      >>> [round(float(v), 3) for v in trained.predict(input_fn=data)]
      [3.0, 6.0]
    """

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: Any = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        taken = set(inspect.signature(model_fn).parameters)
        if params is not None and "params" not in taken:
            raise ValueError(
                f"Estimator's model_fn ({model_fn}) does not have a params argument, but params"
                f" ({params}) were passed to the Estimator's constructor."
            )
        self._model_fn, self._taken = model_fn, taken
        self.params = copy.deepcopy(params)
        self._feature_engineering_fn = feature_engineering_fn
        super().__init__(model_dir, config)

    def _call_model_fn(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        if self._feature_engineering_fn is not None:
            features, labels = self._feature_engineering_fn(features, labels)
        given = {
            "mode": mode, "params": self.params, "config": self.config,
            "model_dir": os.fsdecode(self.model_dir),
        }  # fmt: skip
        found = self._model_fn(features, labels, **{k: given[k] for k in given if k in self._taken})
        if isinstance(found, ModelFnOps):
            return found
        if len(found) != 3:
            raise ValueError(
                "Unrecognized value returned by model_fn, expected a tuple of 3 (predictions,"
                f" loss, train_op) or ModelFnOps, found {len(found)}"
            )
        return ModelFnOps(mode, *found)


class SKCompat:
    """An estimator with the methods of scikit-learn.

    Args:
      estimator: an ``Estimator``.
    """

    def __init__(self, estimator: BaseEstimator) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Any = None,
    ) -> SKCompat:
        """Trains on arrays.

        Args:
          x, y: features and labels.
          batch_size, steps, max_steps, monitors: as of ``Estimator.fit``.
        """
        self._estimator.fit(
            x, y, steps=steps, batch_size=batch_size, monitors=monitors, max_steps=max_steps
        )
        return self

    def score(
        self,
        x: Any,
        y: Any,
        batch_size: int | None = 128,
        steps: int | None = None,
        metrics: Any = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Evaluates on arrays.

        Args:
          x, y: features and labels.
          batch_size, steps, metrics, name: as of ``Estimator.evaluate``.
        """
        return self._estimator.evaluate(
            x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name
        )

    def predict(self, x: Any, batch_size: int | None = 128, outputs: Any = None) -> Any:
        """What the model predicts of an array, as one array or arrays by name.

        Args:
          x: features.
          batch_size, outputs: as of ``Estimator.predict``.
        """
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)


def _rows(batch: Any) -> Iterator[Any]:
    if not isinstance(batch, Mapping):
        return iter(batch)
    count = len(next(iter(batch.values())))
    return ({key: value[row] for key, value in batch.items()} for row in range(count))


def _joined(batches: list[Any]) -> Any:
    if batches and isinstance(batches[0], Mapping):
        return {key: np.concatenate([b[key] for b in batches]) for key in batches[0]}
    return np.concatenate(batches)

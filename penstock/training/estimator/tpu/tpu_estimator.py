"""``TPUEstimator``: the estimator of programs written for TPUs, on CPUs and GPUs.

As in TensorFlow with ``use_tpu=False`` it is an ``Estimator`` whose functions find the batch size
in ``params``.  There are no TPUs here: with ``use_tpu=True`` it can be made, and what would run on
one says so.
"""

from __future__ import annotations

import copy
import enum
import logging
import math
from collections.abc import Callable
from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary

from penstock.foundation.base import dtypes
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables import getting, initializers
from penstock.library.variables.global_step import get_global_step
from penstock.training.estimator import calling
from penstock.training.estimator.estimator import Estimator
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.estimator.mode_keys import ModeKeys
from penstock.training.estimator.tpu.tpu_config import (
    InputPipelineConfig,
    RunConfig,
    check_positive_integer,
    loop_of,
)
from penstock.training.estimator.tpu.tpu_spec import TPUEstimatorSpec
from penstock.training.monitored.summary_hooks import StepCounterHook

_log = logging.getLogger("penstock")
_RESERVED = ("batch_size", "context")


class ExportSavedModelApiVersion(enum.Enum):
    """Who prepares a model for inference on a TPU: the estimator, or the model function."""

    V1 = 1
    V2 = 2


class TPUEstimator(Estimator):
    """An ``Estimator`` whose ``input_fn`` and ``model_fn`` find their batch size in ``params``.

    Args:
      model_fn: ``f(features, labels, mode, config, params)`` that returns a ``TPUEstimatorSpec`` or
        an ``EstimatorSpec``; it takes ``params``, with "batch_size" and "use_tpu" in it.
      model_dir: directory of checkpoints and events; default that of ``config``.
      config: a ``tf.contrib.tpu.RunConfig``.
      params: a dict or ``HParams`` without "batch_size" and "context".
      use_tpu: whether to train on TPUs, of which there are none here: training, evaluating and
        predicting then fail.
      train_batch_size, eval_batch_size, predict_batch_size: examples in a batch.
      batch_axis: which axes of features and labels TPUs' cores share.
      eval_on_tpu: whether TPUs evaluate and predict as well.
      export_to_tpu: whether an export has a graph for TPUs, too; it is left out here.
      export_to_cpu: whether an export has a graph for CPUs and GPUs.
      warm_start_from: as of ``Estimator``.
      embedding_config_spec: of tables in the memory of TPUs; must be None.
      export_saved_model_api_version: as in TensorFlow; kept.

    Raises:
      ValueError: ``config`` is none of ``tf.contrib.tpu``, ``params`` has a reserved key, or with
        ``use_tpu`` there is no ``train_batch_size``.
      RuntimeError: (as it trains, evaluates or predicts) it is to use TPUs.

    Example:
      >>> import penstock as tf, tempfile
      >>> def model_fn(features, labels, mode, params):
      ...     w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
      ...     loss = tf.reduce_mean(tf.square(w - features))
      ...     train = tf.train.GradientDescentOptimizer(0.25).minimize(
      ...         loss, tf.train.get_global_step())
      ...     return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train)
      >>> def input_fn(params):
      ...     data = tf.data.Dataset.from_tensor_slices([1.0, 3.0]).repeat()
      ...     return data.batch(params["batch_size"])
      >>> estimator = tf.contrib.tpu.TPUEstimator(
      ...     model_fn, tempfile.mkdtemp(), tf.contrib.tpu.RunConfig(), use_tpu=False,
      ...     train_batch_size=2)
      >>> float(estimator.train(input_fn, max_steps=1).get_variable_value("w"))
      1.0
    """

    def __init__(
        self, model_fn: Any = None, model_dir: Any = None, config: Any = None, params: Any = None,
        use_tpu: bool = True, train_batch_size: int | None = None,
        eval_batch_size: int | None = None, predict_batch_size: int | None = None,
        batch_axis: Any = None, eval_on_tpu: bool = True, export_to_tpu: bool = True,
        export_to_cpu: bool = True, warm_start_from: Any = None, embedding_config_spec: Any = None,
        export_saved_model_api_version: Any = ExportSavedModelApiVersion.V1,
    ) -> None:  # fmt: skip
        if not isinstance(config, RunConfig):
            raise ValueError(
                "`config` must be provided with type `tpu_config.RunConfig`, which is"
                f" tf.contrib.tpu.RunConfig; found {config!r}"
            )
        if params is not None and any(key in params for key in _RESERVED):
            raise ValueError(f"{_RESERVED} are reserved keys but existed in params {params}.")
        if embedding_config_spec is not None:
            raise ValueError(
                "embedding_config_spec is of tables in TPUs' memory; must be None here"
            )
        if not isinstance(export_saved_model_api_version, ExportSavedModelApiVersion):
            raise ValueError(
                "export_saved_model_api_version should be of type ExportSavedModelApiVersion; got"
                f" {export_saved_model_api_version}."
            )
        sizes = {
            ModeKeys.TRAIN: train_batch_size, ModeKeys.EVAL: eval_batch_size,
            ModeKeys.PREDICT: predict_batch_size,
        }  # fmt: skip
        if use_tpu:
            _check_sizes(sizes, config)
        calling.check_model_fn(model_fn, params)
        self._batch_sizes, self._use_tpu, self._eval_on_tpu = sizes, use_tpu, eval_on_tpu
        self._export_to_cpu, self._input_fn_called = export_to_cpu, False
        self._log_every = _log_times(config)
        # The hook below counts steps and examples, so the estimator is to have none.
        config = config.replace(log_step_count_steps=None)
        super().__init__(self._on_host(model_fn), model_dir, config, params or {}, warm_start_from)

    # ---- what an Estimator asks for ----------------------------------------------------------

    def _create_global_step(self, graph: Graph) -> Any:
        if get_global_step(graph) is not None:
            raise ValueError('"global_step" already exists.')
        with graph.as_default(), graph.name_scope(None):
            return getting.get_variable(
                GraphKeys.GLOBAL_STEP, shape=[], dtype=dtypes.int64,
                initializer=initializers.zeros_initializer(), trainable=False, use_resource=True,
                collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP],
            )  # fmt: skip

    def _call_input_fn(self, input_fn: Any, mode: str) -> Any:
        if "params" not in calling.arguments_of(input_fn):
            raise ValueError(
                f"input_fn ({input_fn}) does not include params argument, required by TPUEstimator"
                ' to pass batch size as params["batch_size"]'
            )
        self._refuse_tpu(mode)
        config: Any = self.config
        how = config.tpu_config.eval_training_input_configuration
        if mode == ModeKeys.EVAL and how == InputPipelineConfig.SLICED:
            raise ValueError(
                "Invalid TPUConfig `eval_training_input_configuration` value. SLICED mode only"
                " works on use_tpu = True."
            )
        params = self.params
        if self._batch_sizes[mode] is not None:
            _set_param(params, "batch_size", self._batch_sizes[mode])
        self._input_fn_called = True
        return calling.call_input_fn(input_fn, mode, params, config)

    def _refuse_tpu(self, mode: str) -> None:
        if not self._use_tpu or (mode == ModeKeys.EVAL and not self._eval_on_tpu):
            return
        raise RuntimeError(
            "Cannot find any TPU cores in the system (master address"
            f" {self._config.master!r}): Penstock runs on CPUs and GPUs. Make the TPUEstimator with"
            " use_tpu=False, which runs the same functions on those"
        )

    def _on_host(self, model_fn: Callable[..., Any]) -> Callable[..., EstimatorSpec]:
        """A model function for ``Estimator`` around that of the program."""

        def on_host(features: Any, labels: Any, mode: str, config: Any, params: Any) -> Any:
            # ``input_fn`` is called before a model is trained or used, but not to export it.
            exports, self._input_fn_called = not self._input_fn_called, False
            size = None if exports else self._batch_sizes[mode]
            _log.info("Running %s on CPU", mode)
            spec = _call_model_fn(model_fn, features, labels, mode, config, params, size)
            steps, secs = self._log_every
            if steps is None and secs is None:
                return spec
            directory = self.model_dir if not config or config.save_summary_steps else None
            hook = ExamplesPerSecondHook(self._batch_sizes[mode], steps, secs, output_dir=directory)
            return spec._replace(training_hooks=(*spec.training_hooks, hook))

        return on_host

    def _exported(self, receiver_fn: Callable[[], Any], mode: str) -> tuple[Any, EstimatorSpec]:
        if not self._export_to_cpu:
            raise ValueError(
                "export_to_cpu is False, and a graph for TPUs is not made here: nothing to export"
            )
        return super()._exported(receiver_fn, mode)


def _check_sizes(sizes: dict[str, int | None], config: RunConfig) -> None:
    if sizes[ModeKeys.TRAIN] is None:
        raise ValueError("`train_batch_size` cannot be `None`")
    for mode, name in (
        (ModeKeys.TRAIN, "train"), (ModeKeys.EVAL, "eval"), (ModeKeys.PREDICT, "predict"),
    ):  # fmt: skip
        check_positive_integer(sizes[mode], f"{name}_batch_size")
    said = config.tpu_config
    shards = said.per_host_input_for_training == InputPipelineConfig.PER_SHARD_V1
    if shards and said.num_cores_per_replica:
        raise ValueError(
            "Model parallelism only supports per host input for training. Please adjust"
            " TPURunconfig.per_host_input_for_training."
        )


def _log_times(config: RunConfig) -> tuple[int | None, int | None]:
    """Steps or seconds between two logs of the speed; neither where there are to be none."""
    steps = config.log_step_count_steps
    count, are_seconds = loop_of(config.tpu_config.iterations_per_loop)
    if are_seconds:
        return None, count
    return (None if steps is None else math.ceil(steps / count)), None


def _set_param(params: Any, key: str, value: Any) -> None:
    if not hasattr(params, "set_hparam"):
        params[key] = value
    elif key in params:
        params.set_hparam(key, value)
    else:
        params.add_hparam(key, value)


def _call_model_fn(
    model_fn: Callable[..., Any], features: Any, labels: Any, mode: str, config: Any, params: Any,
    batch_size: int | None,
) -> EstimatorSpec:  # fmt: skip
    names = calling.arguments_of(model_fn)
    if "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, required by TPUEstimator to"
            " pass batch size as params['batch_size']"
        )
    if labels is not None and "labels" not in names:
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    params = copy.deepcopy(params)
    if batch_size is not None:
        _set_param(params, "batch_size", batch_size)
    _set_param(params, "use_tpu", False)
    given = {"labels": labels, "mode": mode, "config": copy.deepcopy(config), "params": params}
    spec = model_fn(features=features, **{k: v for k, v in given.items() if k in names})
    return spec.as_estimator_spec() if isinstance(spec, TPUEstimatorSpec) else spec


class ExamplesPerSecondHook(StepCounterHook):
    """Logs steps and examples per second, and writes them to an event file.

    Args:
      batch_size: examples in a step.
      every_n_steps, every_n_secs, output_dir, summary_writer: as of ``StepCounterHook``.
    """

    def __init__(
        self, batch_size: int | None, every_n_steps: int | None = 100,
        every_n_secs: float | None = None, output_dir: Any = None, summary_writer: Any = None,
    ) -> None:  # fmt: skip
        self._batch_size = batch_size
        super().__init__(every_n_steps, every_n_secs, output_dir, summary_writer)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: Any) -> None:
        steps = elapsed_steps / elapsed_time if elapsed_time > 0 else float("inf")
        found = {"global_step/sec": steps}
        if self._batch_size is not None:
            found["examples/sec"] = self._batch_size * steps
        for tag, value in found.items():
            if self._summary_writer is not None:
                shown = Summary.Value(tag=tag, simple_value=value)
                self._summary_writer.add_summary(Summary(value=[shown]), global_step)
            _log.info("%s: %g", tag, value)

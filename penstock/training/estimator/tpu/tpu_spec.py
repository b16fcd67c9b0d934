"""``TPUEstimatorSpec``: what a ``model_fn`` written for TPUs returns.

Metrics and summaries are functions of tensors there, since they run on the host of a TPU.  Without
one they are called as the graph is built, and the spec becomes an ``EstimatorSpec``.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Mapping
from typing import Any, NamedTuple

from penstock.storage.summary.resource_writer import flush, summary_writer_initializer_op
from penstock.training.estimator.calling import arguments_of
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.monitored.hook import SessionRunArgs, SessionRunContext, SessionRunHook

_log = logging.getLogger("penstock")


class _Fields(NamedTuple):
    mode: str
    predictions: Any
    loss: Any
    train_op: Any
    eval_metrics: Any
    export_outputs: Any
    scaffold_fn: Any
    host_call: Any
    training_hooks: tuple[SessionRunHook, ...]
    evaluation_hooks: tuple[SessionRunHook, ...]
    prediction_hooks: tuple[SessionRunHook, ...]


class TPUEstimatorSpec(_Fields):
    """The ops by which a ``TPUEstimator`` trains, evaluates and predicts.

    Args:
      mode, predictions, loss, train_op, export_outputs, training_hooks, evaluation_hooks,
        prediction_hooks: as of ``tf.estimator.EstimatorSpec``.
      eval_metrics: a pair of a function and its arguments, tensors in a list or by name; it returns
        a dict of pairs (value, update op).
      scaffold_fn: ``f() -> tf.train.Scaffold``.
      host_call: such a pair, of a function that writes summaries and returns ops to run in each
        step.

    Raises:
      ValueError: ``eval_metrics`` or ``host_call`` is no such pair.
      TypeError: a hook is something else, or its function cannot be called.
      RuntimeError: its function takes another number of tensors.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     spec = tf.contrib.tpu.TPUEstimatorSpec(
      ...         "eval", loss=tf.constant(2.0),
      ...         eval_metrics=(lambda x: {"mean": tf.metrics.mean(x)}, [tf.constant([1.0])]))
      ...     sorted(spec.as_estimator_spec().eval_metric_ops)
      ['mean']
    """

    __slots__ = ()

    def __new__(
        cls, mode: str, predictions: Any = None, loss: Any = None, train_op: Any = None,
        eval_metrics: Any = None, export_outputs: Any = None, scaffold_fn: Any = None,
        host_call: Any = None, training_hooks: Any = None, evaluation_hooks: Any = None,
        prediction_hooks: Any = None,
    ) -> TPUEstimatorSpec:  # fmt: skip
        """Checks the arguments."""
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_call(name, call)
        hooks = [tuple(each or ()) for each in (training_hooks, evaluation_hooks, prediction_hooks)]
        for hook in (one for each in hooks for one in each):
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook!r}")
        return super().__new__(
            cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn,
            host_call, *hooks,
        )  # fmt: skip

    def as_estimator_spec(self) -> EstimatorSpec:
        """The ``tf.estimator.EstimatorSpec`` of the same model: its functions are called now."""
        metrics = self.eval_metrics and _called("eval_metrics", self.eval_metrics)
        hooks: tuple[SessionRunHook, ...] = ()
        if self.host_call is not None:
            hooks = (HostCallHook(_called("host_call", self.host_call)),)
        return EstimatorSpec(
            mode=self.mode, predictions=self.predictions, loss=self.loss, train_op=self.train_op,
            eval_metric_ops=metrics, export_outputs=self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None,
            training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks,
            prediction_hooks=self.prediction_hooks + hooks,
        )  # fmt: skip


class HostCallHook(SessionRunHook):
    """Runs in each step what a host call has made.

    Writers of ``tf.contrib.summary`` are opened with the session, and flushed at its end.

    Args:
      fetches: its tensors.
    """

    def __init__(self, fetches: Any) -> None:
        self._fetches = fetches
        self._opening: list[Any] = []
        self._flushing: list[Any] = []

    def begin(self) -> None:
        """Adds the nodes that flush."""
        self._opening = summary_writer_initializer_op()
        self._flushing = [flush(opening.inputs[0]) for opening in self._opening]

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Opens the writers."""
        session.run(self._opening)

    def end(self, session: Any) -> None:
        """Flushes them."""
        session.run(self._flushing)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Asks for them."""
        return SessionRunArgs(self._fetches)


def _check_call(name: str, call: Any) -> None:
    if not isinstance(call, tuple | list):
        raise ValueError(f"{name} should be tuple or list; found {call!r}")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements; found {len(call)}")
    function, tensors = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable; found {function!r}")
    if not isinstance(tensors, tuple | list | dict):
        raise ValueError(f"{name}[1] should be tuple or list, or dict; found {tensors!r}")
    if isinstance(tensors, dict) or _takes_any_number(function):
        return
    if len(tensors) != len(arguments_of(function)):
        raise RuntimeError(
            f"In TPUEstimatorSpec.{name}, length of tensors {len(tensors)} does not match method"
            f" args of the function, which takes {len(arguments_of(function))}."
        )


def _takes_any_number(function: Any) -> bool:
    kinds = (each.kind for each in inspect.signature(function).parameters.values())
    return inspect.Parameter.VAR_POSITIONAL in kinds


def _called(name: str, call: Any) -> Any:
    function, tensors = call
    if not isinstance(tensors, Mapping):
        return function(*tensors)
    try:
        return function(**tensors)
    except TypeError as error:
        _log.warning(
            "Exception while calling %s: %s. It is likely the tensors (%s[1]) do not match the"
            " function's arguments", name, error, name,
        )  # fmt: skip
        raise

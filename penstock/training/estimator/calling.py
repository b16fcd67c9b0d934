"""Calling the functions of a user: ``model_fn`` and ``input_fn``, by the arguments they take."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.training.data.dataset import Dataset
from penstock.training.data.iterator import initializable
from penstock.training.estimator.estimator_spec import EstimatorSpec
from penstock.training.monitored.hook import SessionRunHook

_log = logging.getLogger("penstock")
_MODEL_FN_ARGS = {"features", "labels", "mode", "params", "self", "config"}
_ITERATORS = ("Iterator", "OneShotIterator", "IteratorV2")


def arguments_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the positional arguments that a function, method, object or partial takes."""
    if isinstance(function, functools.partial):
        left = arguments_of(function.func)[len(function.args) :]
        return tuple(name for name in left if name not in function.keywords)
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.POSITIONAL_ONLY)
    parameters = inspect.signature(function).parameters
    return tuple(name for name, found in parameters.items() if found.kind in kinds)


def check_model_fn(model_fn: Callable[..., Any], params: Any) -> None:
    """Checks what a ``model_fn`` takes.

    Raises:
      ValueError: an argument is missing, or is none that an estimator gives.
    """
    names = set(arguments_of(model_fn))
    if "features" not in names:
        raise ValueError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in names:
        raise ValueError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is"
            " passed to Estimator."
        )
    if params is None and "params" in names:
        _log.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to"
            " Estimator.", model_fn,
        )  # fmt: skip
    others = sorted(names - _MODEL_FN_ARGS)
    if others:
        raise ValueError(
            f"model_fn ({model_fn}) has following not expected args: {others}. Allowed are"
            f" {sorted(_MODEL_FN_ARGS)}"
        )


def call_model_fn(
    model_fn: Callable[..., Any], features: Any, labels: Any, mode: str, params: Any, config: Any
) -> EstimatorSpec:
    """Calls a ``model_fn`` with what it takes.

    Raises:
      ValueError: it takes no labels though there are some, or returns no ``EstimatorSpec``.
    """
    names = arguments_of(model_fn)
    if labels is not None and "labels" not in names:
        raise ValueError("model_fn does not take labels, but input_fn returns labels.")
    given = {"labels": labels, "mode": mode, "params": params, "config": config}
    _log.info("Calling model_fn.")
    spec = model_fn(features=features, **{k: v for k, v in given.items() if k in names})
    _log.info("Done calling model_fn.")
    if not isinstance(spec, EstimatorSpec):
        raise ValueError(f"model_fn should return an EstimatorSpec. It returned {spec!r}")
    return spec


def call_input_fn(input_fn: Callable[..., Any], mode: str, params: Any, config: Any) -> Any:
    """Calls an ``input_fn`` with what it takes; its nodes are on the CPU."""
    names = arguments_of(input_fn)
    given = {"mode": mode, "params": params, "config": config}
    with scopes.device("/cpu:0"):
        return input_fn(**{k: v for k, v in given.items() if k in names})


def features_and_labels(result: Any) -> tuple[Any, Any, list[SessionRunHook]]:
    """What an ``input_fn`` returned as (features, labels or None, hooks).

    Args:
      result: a dataset, features alone, or a pair of features and labels.

    Raises:
      ValueError: a list or tuple of another length.
    """
    hooks: list[SessionRunHook] = []
    if isinstance(result, Dataset):
        iterator = initializable(result, None)
        hooks.append(InitializeIteratorHook(iterator))
        result = iterator.get_next()
    if not isinstance(result, list | tuple):
        return result, None, hooks
    if len(result) != 2:
        raise ValueError(
            "input_fn should return (features, labels) as a len 2 tuple. It returned"
            f" {len(result)} items"
        )
    return result[0], result[1], hooks


def ends_by_itself() -> bool:
    """Whether the default graph's input has an end to find: a dataset or a queue."""
    graph = scopes.get_default_graph()
    if graph.get_collection(GraphKeys.QUEUE_RUNNERS):
        return True
    return any(op.type in _ITERATORS for op in graph.get_operations())


class InitializeIteratorHook(SessionRunHook):
    """Initializes the iterator of an ``input_fn``'s dataset in each new session.

    Args:
      iterator: the iterator.
    """

    def __init__(self, iterator: Any) -> None:
        self._iterator = iterator
        self._initializer: Any = None

    def begin(self) -> None:
        """Takes the initializer while the graph may still grow."""
        self._initializer = self._iterator.initializer

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Runs it."""
        session.run(self._initializer)

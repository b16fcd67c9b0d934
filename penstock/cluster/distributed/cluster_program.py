"""A session's step on a cluster, in the form in which a session runs programs.

The session hands over run-time values of the feeds and gets back what users get.  Errors come with
the name of the node where they arose; the session's own graph says where the user made it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.engine.runtime import values
from penstock.engine.session.users_graph import users_node
from penstock.foundation.base import errors
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.tensor import Tensor

# (values of the feeds, trace level) -> run-time values of the fetches, what each task recorded
Run = Callable[[Sequence[Any], int], "tuple[Sequence[Any], dict[str, bytes]]"]


class ClusterProgram:
    """What ``Engine.program`` gives for a step that runs on other tasks.

    Args:
      graph: the session's.
      fetches: of the step.
      run: runs it.
      explain: its parts' programs as text.
    """

    blocking = can_be_ended = True
    feeds = False
    # Each task's part has a team of its own.
    team = None

    def __init__(
        self, graph: Graph, fetches: Sequence[Tensor], run: Run, explain: Callable[[], str]
    ) -> None:
        self._graph, self._run = graph, run
        self._converters = [_converter(tensor) for tensor in fetches]
        self.explain = explain
        self._trace = 0
        self._recorded: dict[str, bytes] = {}

    def function(self, *args: Any) -> tuple[Any, ...]:
        """Runs the step."""
        made, metadata = self._run(args, self._trace)
        self._recorded.update(metadata)
        pairs = zip(self._converters, made, strict=True)
        return tuple([convert(value) for convert, value in pairs])

    def recording(self, bits: int, into: dict[str, bytes]) -> ClusterProgram:
        """The same, recording what ``bits`` asks for (``session.tracing``) by task."""
        made = copy.copy(self)
        made._trace, made._recorded = bits, into
        return made

    def error(self, raised: BaseException) -> errors.OpError | None:
        """The same error with the node of the user's graph."""
        return users_error(self._graph, raised)


def users_error(graph: Graph, raised: BaseException) -> errors.OpError | None:
    """An error of a step with the node of the user's graph; None if it names none."""
    if not isinstance(raised, errors.OpError) or raised.op is None:
        return None
    op = users_node(graph, raised.op.name)
    if op is None:
        return None
    message = raised.message
    if op.origin and "made at " not in message:
        message = f"{message}\nmade at {op.origin}"
    kind: Any = type(raised)
    if kind in (errors.OpError, errors.UnknownError):
        return errors.UnknownError(None, op, message, raised.error_code)
    made: errors.OpError = kind(None, op, message)
    return made


def _converter(tensor: Tensor) -> Callable[[Any], Any]:
    if values.torch_dtype(tensor.dtype) is None:
        return values.fetched
    return _as_user_sees


def _as_user_sees(value: Any) -> Any:
    array: np.ndarray = values.to_array(value)
    return array[()]

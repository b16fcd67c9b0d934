"""Functions that nodes call, compiled by the pipeline that compiles steps.

A body is compiled when it is first called, for each of the first few combinations of its arguments'
shapes and then once for all others, as steps are.  Whoever iterates over a dataset takes an
``Instance`` for its own: random streams inside start anew in each, and all else (variables, queues)
is the session's.

State: per instance, its programs and the state of its nodes.
"""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Sequence
from typing import Any

import torch

from penstock.base import errors
from penstock.graph.function import FunctionGraph
from penstock.runtime.program import Program

_InferenceMode = torch._C._InferenceMode
_SPECIAL_PROGRAMS = 4

# (body, shapes of its inputs or None, private state) -> program
CompileBody = Callable[[FunctionGraph, Sequence[tuple[int, ...]] | None, dict[str, Any]], Program]


class BodyFunction:
    """A function's body, which can be called.

    Args:
      body: what it does.
      compile_body: compiles it.
    """

    __slots__ = ("body", "_compile", "_shared")

    def __init__(self, body: FunctionGraph, compile_body: CompileBody) -> None:
        self.body = body
        self._compile = compile_body
        stateful = any(op.op_def.state is not None for op in body._operations)
        # Without state of its own one instance serves everybody.
        self._shared = None if stateful else Instance(body, compile_body)

    def instance(self) -> Instance:
        """Something to call: its random streams are at their start."""
        return self._shared or Instance(self.body, self._compile)


class Instance:
    """A function with its own state; several threads may call it at once."""

    __slots__ = ("_body", "_compile", "_private", "_lock", "_open", "_special", "_general")

    def __init__(self, body: FunctionGraph, compile_body: CompileBody) -> None:
        self._body, self._compile = body, compile_body
        self._private: dict[str, Any] = {}
        self._lock = threading.Lock()
        self._open = [i for i, t in enumerate(body.inputs) if t._dims is None or None in t._dims]
        self._special: dict[Any, Program] = {}
        self._general: Program | None = None

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """Runs it on run-time values.

        Raises:
          tf.errors.OpError: a node failed; the message names it and the line that made it.
        """
        program = self._program(args)
        guard = _InferenceMode(True)
        try:
            return program.function(*args)
        except BaseException as raised:
            error = program.error(raised)
            if error is None:
                raise
            traceback.clear_frames(raised.__traceback__)
            cause = raised.with_traceback(None)
        finally:
            del guard
        raise error from (None if isinstance(cause, errors.OpError) else cause)

    def _program(self, args: Sequence[Any]) -> Program:
        if self._open:
            key = tuple([args[i].shape for i in self._open if hasattr(args[i], "shape")])
            found = self._special.get(key)
            if found is not None:
                return found
            if len(self._special) < _SPECIAL_PROGRAMS:
                with self._lock:
                    found = self._special.get(key)
                    if found is None:
                        shapes = [tuple(getattr(a, "shape", ())) for a in args]
                        found = self._special[key] = self._compiled(shapes)
                    return found
        if self._general is None:
            with self._lock:
                if self._general is None:
                    self._general = self._compiled(None)
        return self._general

    def _compiled(self, shapes: Sequence[tuple[int, ...]] | None) -> Program:
        return self._compile(self._body, shapes, self._private)

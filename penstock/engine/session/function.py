"""Functions that nodes call, compiled by the pipeline that compiles steps.

A body is compiled when it is first called, for each of the first few combinations of its arguments'
shapes and then once for all others, as steps are.  Whoever iterates over a dataset takes an
``Instance`` for its own: random streams inside start anew in each, and all else (variables, queues)
is the session's.

State: per instance, its programs and the state of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from penstock.engine.runtime.program import Program, execute
from penstock.engine.session.prepared import ShapedPrograms
from penstock.foundation.graph.function import FunctionGraph

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
        stateful = any(op.op_def.state is not None for op in body.operations)
        # Without state of its own one instance serves everybody.
        self._shared = None if stateful else Instance(body, compile_body)

    def instance(self) -> Instance:
        """Something to call: its random streams are at their start."""
        return self._shared or Instance(self.body, self._compile)


class Instance:
    """A function with its own state; several threads may call it at once."""

    __slots__ = ("_private", "_programs")

    def __init__(self, body: FunctionGraph, compile_body: CompileBody) -> None:
        self._private: dict[str, Any] = {}
        self._programs = ShapedPrograms(
            body.inputs, lambda shapes: compile_body(body, shapes, self._private)
        )

    def __call__(self, *args: Any) -> tuple[Any, ...]:
        """Runs it on run-time values.

        Raises:
          tf.errors.OpError: a node failed; the message names it and the line that made it.
        """
        return execute(self._programs.program(args), args)

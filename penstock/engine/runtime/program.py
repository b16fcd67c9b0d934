"""A linked program: the function that runs a step, and what its lines mean.

The text is registered in ``linecache``, so tracebacks and debuggers show it.  When a line raises,
the line map gives the node; the node's input values are read from the failed frame.  A program that
does not fail pays nothing for that.
"""

from __future__ import annotations

import builtins
import itertools
import linecache
import time
import traceback
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType
from typing import Any, Protocol

import numpy as np
import torch

from penstock.compiler.codegen.source import Source
from penstock.engine.resources import ending, waiting
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.resources.variable import Variable
from penstock.engine.runtime import values
from penstock.engine.runtime.failures import error_of, made_at
from penstock.engine.runtime.teams import CORES, team_of
from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.handles import resource_key, written_keys
from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef import opdef
from penstock.foundation.opdef.shared_state import Request, SharedState

_numbers = itertools.count()
# Programs of other graphs may have the same text.  Long ones seldom do, and 256 of them would hold
# many times the memory.
_LONG = 4000
_compiled = lru_cache(256)(builtins.compile)

# Makes a callable of a function's body: ``session.function`` has it.
Compile = Callable[[FunctionGraph], Any]


# Files of programs that are gone.  `linecache` looks through its entries one by one, and the
# collector may end a program meanwhile: its text is dropped as the next program is made.
_ended: list[str] = []


class Tier(Protocol):
    """What gives a program a native form: sets its ``function`` between two steps."""

    def explain(self, text: str) -> str:
        """The program's text, with remarks about its native form."""

    def native_source(self) -> str:
        """What its native calls were made of."""


class Program:
    """A step's function, linked to torch and to state.

    Args:
      source: its text.
      resources: the state that it works on.
      name: the function's name in the text.
      compile: makes callables of the functions that nodes call.
      private: state of single nodes (random streams), by the node's name; None: the session's.
        Each iterator that uses a function has its own.
      threads: that its kernels are split among; 0: as many as are fastest.
    """

    def __init__(
        self,
        source: Source,
        resources: ResourceManager,
        name: str,
        compile: Compile | None = None,
        private: dict[str, Any] | None = None,
        threads: int = 0,
    ) -> None:
        self.source = source
        # Whether a node of it may wait for another step.
        self.blocking = any(op.op_def.blocking for op in source.line_ops.values())
        # Whether closing the session can end it before its last line.
        loops = any(op.op_def.role == "loop" for op in source.line_ops.values())
        self.can_be_ended = self.blocking or loops
        # Sets the team of threads of each run; None where no kernel is split.
        self.team = team_of(source.step, CORES, threads, self.blocking)
        self.filename = f"<penstock program {next(_numbers)}>"
        scope = self._link(source, resources, compile or _no_functions, private)
        with suppress(IndexError):  # no more
            while True:
                linecache.cache.pop(_ended.pop(), None)
        linecache.cache[self.filename] = (
            len(source.text), None, source.text.splitlines(keepends=True), self.filename,
        )  # fmt: skip
        if source.code is None:
            compiled = _compiled if len(source.text) < _LONG else builtins.compile
            source.code = compiled(source.text, "<penstock program>", "exec")
        exec(_of_file(source.code, self.filename), scope)
        self.function: Callable[..., tuple[Any, ...]] = scope[name]
        self.scope = scope
        # What gives the program a native form, if something does.
        self.tier: Tier | None = None
        # Whether all that it does is to put something where other steps take it from.
        self.feeds = self._only_feeds()

    def _only_feeds(self) -> bool:
        ops = self.source.line_ops.values()
        gives = any(op.op_def.blocking and not op.outputs for op in ops)
        if not gives or self.source.step.fetches:
            return False
        written = set().union(*map(written_keys, ops))
        return not any(
            resource_key(op) in written and isinstance(self.scope[name], Variable)
            for name, op in self.source.resources.items()
        )

    def __del__(self) -> None:
        _ended.append(self.filename)

    @staticmethod
    def _link(
        source: Source, resources: ResourceManager, compile: Compile, private: dict[str, Any] | None
    ) -> dict[str, Any]:
        scope: dict[str, Any] = {
            "torch": torch,
            "check": waiting.check_running,
            "get_alarm": waiting.alarm,
            "fetched": values.fetched,
            "scalar_truth": values.scalar_truth,
            "bfloat16_array": values.bfloat16_array,
            **values.SCALAR_NAMES,
        }
        for name, array in source.constants.items():
            scope[name] = values.from_array(np.asarray(array), copy=True)
        for name, memory in source.memories.items():
            scope[name] = scope[name].to(memory)
        for name, op in source.resources.items():
            scope[name] = _state(op, resources, compile)
        for name, op in source.states.items():
            if private is None or "shared_name" in op.attrs:
                scope[name] = _state(op, resources, compile)
                continue
            _, key = resource_key(op)
            scope[name] = private.get(key) or private.setdefault(key, _maker(op, compile)())
        for op in source.step.operations:
            # Several nodes of one key have one line above, but each must agree with the state.
            if isinstance(op.op_def.state, SharedState) and op.op_def.state.mismatch is not None:
                _state(op, resources, compile)
        for name, body in source.bodies.items():
            scope[name] = compile(body)
        for name, layout in source.layouts.items():
            scope[name].prefer_layout(layout)
        scope.update(source.functions)
        return scope

    def explain(self) -> str:
        """The text of the program; where it has a native form, which lines are one call."""
        text = self.source.text
        return text if self.tier is None else self.tier.explain(text)

    def error(self, raised: BaseException) -> errors.OpError | None:
        """The ``tf.errors`` error that ``raised`` means, or None when no line of ours raised it."""
        return error_of(raised, self.filename, self.source, self.scope)

    def native_source(self) -> str:
        """The C++ of its native calls, each below the numbers of its lines; empty without one."""
        return "" if self.tier is None else self.tier.native_source()


def _of_file(code: CodeType, filename: str) -> CodeType:
    """Code that says it is of another file, its functions too."""
    if code.co_filename == filename:
        return code
    constants = tuple(
        _of_file(each, filename) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    return code.replace(co_filename=filename, co_consts=constants)


def _state(op: Operation, resources: ResourceManager, compile: Compile) -> Any:
    """The state that the node shares, found or made.

    Raises:
      tf.errors.InvalidArgumentError: it was made by a node that asked for something else.
    """
    container, key = resource_key(op)
    maker = _maker(op, compile)
    shared = op.op_def.state
    if not isinstance(shared, SharedState) or shared.mismatch is None:
        return resources.lookup_or_create(container, key, maker)
    mismatch = shared.mismatch
    asked = Request(op.type, op.name, op.attrs.get("shared_name") or op.name, dict(op.attrs))

    def check(first: Request) -> None:
        why = mismatch(first, asked)
        if why is not None:
            made_by = f"; node {first.node!r} made it" if first.node != op.name else ""
            raise errors.InvalidArgumentError(
                None, op, f"{op.type} {op.name!r} failed: {why}{made_by}{made_at(op)}"
            )

    return resources.lookup_or_create(container, key, maker, asked, check)


def _maker(op: Operation, compile: Compile) -> Callable[[], Any]:
    factory = op.op_def.state
    if factory is None:
        raise LookupError(f"op {op.type} ({op.name}) has no state")
    attrs = {k: compile(v) if isinstance(v, FunctionGraph) else v for k, v in op.attrs.items()}
    shared = isinstance(factory, SharedState) and op.attrs.get("shared_name")
    return lambda: factory(attrs, shared or op.name)


def _no_functions(body: FunctionGraph) -> Any:
    raise LookupError(f"function {body.name} cannot be called here")


# What compiling is reckoned to cost, in seconds: for a program, and for a line of it.
_COST, _COST_OF_LINE = 20.0, 0.1


def when_hot(program: Program, then: Callable[[], object]) -> None:
    """Calls ``then``, once, when the runs of a program have taken as long as compiling it would.

    It is called between two steps, by a thread that runs them; ``program.function`` is then what
    it is now.
    """
    run, held, clock = program.function, weakref.ref(program), time.perf_counter
    limit = _COST + _COST_OF_LINE * len(program.source.line_ops)
    taken, waiting = 0.0, [then]

    def counted(*args: Any) -> Any:
        nonlocal taken
        begin = clock()
        result = run(*args)
        taken += clock() - begin
        if taken > limit:
            with suppress(IndexError):  # another thread was first
                call, now = waiting.pop(), held()
                if now is not None and now.function is counted:
                    now.function = run
                    call()
        return result

    program.function = counted


def evaluate(op: Operation, inputs: list[np.ndarray]) -> list[np.ndarray] | None:
    """Runs one pure node on arrays, for constant folding.

    Args:
      op: the node.
      inputs: values of its flat inputs.

    Returns:
      The output arrays, or None when the node cannot be evaluated ahead of time.
    """
    definition = op.op_def
    named: dict[str, Any] = {}
    position = 0
    for arg_name, tensors in op.inputs_by_name().items():
        host = arg_name in definition.host
        count = len(tensors) if isinstance(tensors, list) else 1
        made = [_operand(a, host) for a in inputs[position : position + count]]
        named[arg_name] = made if isinstance(tensors, list) else made[0]
        position += count
    for name in definition.parameters:
        if name not in named:
            named[name] = attr_value(op.attrs.get(name))
    with torch.inference_mode():
        result = opdef.call_kernel(definition, named)
    flat: list[Any] = []
    if definition.has_list_output or len(op.outputs) > 1:
        groups = [result] if len(definition.outputs) == 1 else list(result)
        for group in groups:
            flat.extend(group if isinstance(group, list | tuple) else [group])
    else:
        flat = [result]
    return [np.array(values.to_array(v)) for v in flat]


def _operand(array: np.ndarray, host: bool) -> Any:
    return array.tolist() if host else values.from_array(array, copy=True)


def attr_value(value: Any) -> Any:
    """What a kernel is given for an attr: torch's dtype, dims, tensors."""
    if isinstance(value, dtypes.DType):
        return values.torch_dtype(value) or object
    if isinstance(value, shapes.TensorShape):
        return value.sizes
    if isinstance(value, list):
        return [attr_value(v) for v in value]
    if isinstance(value, np.ndarray):
        return values.from_array(value, copy=True)
    return value


# The guard itself: its context manager takes five times as long.
InferenceMode = torch._C._InferenceMode


def execute(program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
    """Runs a program on run-time values.

    Raises:
      tf.errors.OpError: a node failed; the message names it and the line that made it.
    """
    if ending.begun:
        ending.check()
    guard = InferenceMode(True)
    team = program.team
    entered = team.enter() if team is not None else None
    try:
        return program.function(*args)
    except BaseException as raised:
        error = program.error(raised)
        if error is None:
            raise
        # The failed frame must not outlive the step: it holds temporaries.
        traceback.clear_frames(raised.__traceback__)
        cause = raised.with_traceback(None)
    finally:
        if entered is not None:
            team.leave(entered)  # type: ignore[union-attr]
        del guard
    raise error from (None if isinstance(cause, errors.OpError) else cause)

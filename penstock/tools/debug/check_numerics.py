"""The first-NaN report: which node of a step made a NaN or an Inf first, and from what.

A checked step runs a program of its own: without the optimizing passes, so that every node of the
user's graph has a line, and with an observer that looks at each value as it is made.  It stops at
the first node that *computes* a value that is not finite.  Nodes that only move elements (reshape,
gather, assign, ...) hand on what they were given; the report's path goes back through them to the
feed, constant or variable that was not finite to begin with.

Nothing is undone: updates of nodes that ran before the reported one have happened.

State: the hook ``BaseSession.inspect``, on the class for the process-wide switch, on a session for
``check_numerics_session``.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock.compiler.codegen.source import Observe
from penstock.engine.runtime.program import Program
from penstock.engine.session.session import BaseSession
from penstock.engine.session.users_graph import users_node
from penstock.foundation.base import errors
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.tools.debug.ledger import Ledger
from penstock.tools.debug.ranges import Range


def _observer(
    session: BaseSession, lines: int, length: int, program: Program, args: list[Any]
) -> Observe:
    ledger = Ledger(program, args)
    source = program.source

    def observe(line: int, outputs: tuple[Any, ...]) -> None:
        op = source.line_ops[line]
        if line not in source.line_inputs:
            ledger.enter_read(op, outputs[0] if outputs else None)
            return
        inputs = [(tensor, ledger.of(tensor)) for tensor in op.inputs]
        for label, found in ledger.enter(op, outputs):
            if found.finite or _handed_on(op, inputs):
                continue
            users = users_node(session.graph, op.name)
            text = _report(op, users, label, found, inputs, ledger, lines, length)
            raise errors.InvalidArgumentError(None, users, text)

    return observe


def _handed_on(op: Operation, inputs: list[tuple[Tensor, Range | None]]) -> bool:
    """Whether the node moves elements that were bad already, or whose values nobody has set."""
    if not op.op_def.moves:
        return False
    known = [found for _, found in inputs if found is not None]
    return not known or any(not found.finite for found in known)


def _report(
    op: Operation,
    users: Operation | None,
    label: str,
    found: Range,
    inputs: list[tuple[Tensor, Range | None]],
    ledger: Ledger,
    lines: int,
    length: int,
) -> str:
    clean = all(seen is None or seen.finite for _, seen in inputs)
    how = "made it" if clean else "computed with one that was there"
    text = [f"the first NaN or Inf of this step: {op.type} {op.name!r} {how}, {label}: {found}"]
    text += ["its inputs:"] if inputs else ["it has no inputs"]
    for tensor, seen in inputs:
        text.append(f"  {ledger.describe(tensor)}: {seen or tensor.dtype.base_dtype.name}")
    for tensor, seen in inputs:
        if seen is not None and not seen.finite:
            text.append(_blame(op, tensor, ledger, length))
    return "\n".join(text + _lines_of_code(users or op, lines))


def _blame(op: Operation, tensor: Tensor, ledger: Ledger, length: int) -> str:
    """Where an input that was bad came from."""
    path = [op.name]
    while True:
        path.append(ledger.describe(tensor))
        if ledger.is_source(tensor):
            break
        bad = [t for t in tensor.op.inputs if (seen := ledger.of(t)) and not seen.finite]
        if not bad:
            break
        tensor = bad[0]
    when = "was not finite to begin with"
    key = ledger.variable_key(tensor)
    if key is not None and key not in ledger.bad_at_start:
        when = "was given such a value in this step"
    if len(path) > length:
        path = [*path[: length - 1], f"({len(path) - length} more)", path[-1]]
    return f"{path[-1]} {when}: {' <- '.join(path)}"


def _lines_of_code(op: Operation, lines: int) -> list[str]:
    found = _made_at("made at", op, lines)
    original = op._original_op
    if original is not None and original.origin is not None:
        found += _made_at(f"for {original.type} {original.name!r}, made at", original, lines)
    return found


def _made_at(lead: str, op: Operation, lines: int) -> list[str]:
    return [
        f"{lead} {filename}:{line}, in {function}" + (f"\n    {text}" if text else "")
        for filename, line, function, text in op.traceback[-lines:]
    ]


def _checked(session: BaseSession, fetches: Any, feed_dict: Any, *, lines: int, length: int) -> Any:
    make = functools.partial(_observer, session, lines, length)
    return session.observed(fetches, feed_dict or {}, make, optimize=False)


def _hook(stack_height_limit: int, path_length_limit: int) -> Any:
    for name, limit in (
        ("stack_height_limit", stack_height_limit),
        ("path_length_limit", path_length_limit),
    ):
        if limit < 2 and (name == "path_length_limit" or limit < 1):
            raise ValueError(f"{name} is {limit}; it must be positive (a path has two ends)")
    return functools.partial(_checked, lines=stack_height_limit, length=path_length_limit)


def enable_check_numerics(stack_height_limit: int = 30, path_length_limit: int = 50) -> None:
    """From now on, every step of every session stops at the first NaN or Inf, and reports it.

    A checked step raises ``tf.errors.InvalidArgumentError``, whose text names the node that first
    made a NaN or Inf, its op type and output, how many elements are NaN, +Inf and -Inf, the
    inputs with shapes and ranges, where a bad input came from, and the line of the program.

    Steps under it are compiled without optimizations and are slow.  Updates of variables that come
    before the reported node have happened when the error is raised.  Partial runs are not checked,
    and options of ``Session.run`` (timeouts, traces) are not looked at.

    Args:
      stack_height_limit: at most so many lines of the program's stack are shown for a node
        (Penstock keeps one, the innermost outside itself).
      path_length_limit: at most so many nodes of the path to a bad feed or variable are shown.
    """
    hook = _hook(stack_height_limit, path_length_limit)

    def inspect(session: BaseSession, fetches: Any, feed_dict: Any) -> Any:
        return hook(session, fetches, feed_dict)

    BaseSession.inspect = inspect


def disable_check_numerics() -> None:
    """Ends what ``enable_check_numerics`` began; without it, does nothing."""
    BaseSession.inspect = None


@contextmanager
def check_numerics_session(
    session: BaseSession, stack_height_limit: int = 30, path_length_limit: int = 50
) -> Iterator[BaseSession]:
    """Within it, the steps of one session are checked as by ``enable_check_numerics``.

    Args:
      session: the session.
      stack_height_limit, path_length_limit: as for ``enable_check_numerics``.

    Yields:
      The session.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     bad = tf.log(tf.constant([0.0, 1.0]))
      ...     with check_numerics_session(sess):
      ...         try:
      ...             sess.run(bad)
      ...         except tf.errors.InvalidArgumentError as error:
      ...             print(error.message.splitlines()[0])
      the first NaN or Inf of this step: Log 'Log' made it, output 0: float32[2], 0 NaN, 0 +Inf
      and 1 -Inf of 2 elements; the finite ones from 0 to 0
    """
    before = session.__dict__.get("inspect")
    session.inspect = functools.partial(_hook(stack_height_limit, path_length_limit), session)
    try:
        yield session
    finally:
        if before is None:
            del session.inspect
        else:
            session.inspect = before

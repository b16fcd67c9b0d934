"""A program's text, line by line: what each reads, sets and lets go of, and what may be compiled.

What may be compiled is asked of the ops' traits: a node that computes with numbers of known shapes,
or updates a variable, and that draws nothing, waits for nothing and does nothing else.  Whether its
kernel can be traced is for ``engine.native.tracing`` to find out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from penstock.compiler.codegen.source import Source
from penstock.foundation.base import dtypes
from penstock.foundation.graph.handles import is_handle
from penstock.foundation.graph.operation import Operation, blocks_of, is_marked
from penstock.foundation.graph.tensor import Tensor

# Numbers of half precision are rounded after each line, and not where lines are fused.
_NOT_COMPILED = (
    dtypes.string, dtypes.variant, dtypes.resource, dtypes.float16, dtypes.bfloat16,
    dtypes.complex64, dtypes.complex128,
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A line of a program: the statements that begin there.

    Of a loop or a branch it is the head alone: what it asks, not what it holds.

    Args:
      number: in the text.
      statements: without those that let go of names.
      released: the names that are let go of after it.
      sets, uses: the names that it sets, and those that it reads of locals and globals.
      compiles: whether it may be part of a native call.
      reads_variable: whether all that it does is to name a variable's value.
      is_view: whether what it sets is other names for memory that it was given.
    """

    number: int
    statements: tuple[ast.stmt, ...]
    released: tuple[str, ...]
    sets: tuple[str, ...]
    uses: frozenset[str]
    compiles: bool
    reads_variable: bool
    is_view: bool

    @property
    def text(self) -> str:
        """The statements as Python, without remarks."""
        return "; ".join(map(ast.unparse, self.statements))


def parse(text: str) -> ast.FunctionDef:
    """The function that a program is."""
    [function] = ast.parse(text).body
    if not isinstance(function, ast.FunctionDef):
        raise ValueError("a program is a function")
    return function


@dataclass(frozen=True)
class Program:
    """What cutting needs to know of a program.

    Args:
      arguments: its names of what is fed.
      blocks: lines that are run one after another: those at its top, the return included; those
        of each loop and of each branch.
      resources, constants: its names of those.
    """

    arguments: tuple[str, ...]
    blocks: tuple[tuple[Line, ...], ...]
    resources: tuple[str, ...]
    constants: tuple[str, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """All of them, in the order of the text."""
        return tuple(sorted((x for b in self.blocks for x in b), key=lambda line: line.number))


def program_of(source: Source, marked: bool = False) -> Program:
    """A program's lines.

    Args:
      source: the program.
      marked: whether only lines of nodes that ask for it (``is_marked``) may be compiled.
    """
    function = parse(source.text)
    return Program(
        tuple(argument.arg for argument in function.args.args),
        tuple(tuple(_lines(block, source, marked)) for block in blocks(function)),
        tuple(source.resources),
        tuple(source.constants),
    )


def marked_lines(source: Source) -> list[int]:
    """The numbers of the lines of nodes that ask to be compiled."""
    return sorted(number for number, op in source.line_ops.items() if is_marked(op))


def blocks(node: ast.stmt) -> list[list[ast.stmt]]:
    """The lists of statements that a function, a loop or a conditional holds, at every depth.

    What stands on the line of its head (``if alarm: check()``) is part of that line.
    """
    found: list[list[ast.stmt]] = []
    for field in ("body", "orelse"):
        inside: list[ast.stmt] = getattr(node, field, [])
        if inside and inside[0].lineno > node.lineno:
            found.append(inside)
            for statement in inside:
                found += blocks(statement)
    return found


def _lines(block: Sequence[ast.stmt], source: Source, marked: bool) -> list[Line]:
    by_number: dict[int, list[ast.stmt]] = {}
    for statement in block:
        by_number.setdefault(statement.lineno, []).append(statement)
    return [_judged(number, found, source, marked) for number, found in by_number.items()]


def _head(statement: ast.stmt) -> ast.stmt:
    """Of a loop or a conditional, what it asks."""
    if isinstance(statement, ast.While | ast.If) and blocks(statement):
        return ast.copy_location(ast.Expr(statement.test), statement)
    return statement


def _judged(number: int, found: list[ast.stmt], source: Source, marked: bool) -> Line:
    kept = [_head(s) for s in found if not isinstance(s, ast.Delete)]
    gone = [t.id for s in found if isinstance(s, ast.Delete) for t in s.targets if _is_name(t)]
    op = source.line_ops.get(number)
    plain = ast.Assign | ast.Expr | ast.Delete
    simple = op is not None and all(isinstance(s, plain) for s in found) and bool(kept)
    compiles = simple and op is not None and (_reads_variable(kept) or may_compile(op))
    compiles = compiles and (
        not marked or _reads_variable(kept) or is_marked(source.line_ops[number])
    )
    view = simple and op is not None and bool(op.op_def.aliases) and not op.op_def.writes
    view |= simple and op is not None and op.op_def.role == "identity" and _renames(kept)
    return line_of(number, kept, gone, compiles, view)


def line_of(
    number: int,
    statements: Sequence[ast.stmt],
    released: Sequence[str],
    compiles: bool,
    is_view: bool,
) -> Line:
    """A line of which these things are known; see ``Line``."""
    names = [node for s in statements for node in ast.walk(s) if isinstance(node, ast.Name)]
    return Line(
        number=number,
        statements=tuple(statements),
        released=tuple(released),
        sets=tuple(n.id for n in names if isinstance(n.ctx, ast.Store)),
        uses=frozenset(n.id for n in names if isinstance(n.ctx, ast.Load)),
        compiles=compiles,
        reads_variable=_reads_variable(statements),
        is_view=is_view,
    )


def _is_name(node: ast.expr) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name)


def _reads_variable(statements: Sequence[ast.stmt]) -> bool:
    """Whether it is ``v0 = r_x.value``."""
    if len(statements) != 1 or not isinstance(statements[0], ast.Assign):
        return False
    value = statements[0].value
    return isinstance(value, ast.Attribute) and value.attr == "value" and _is_name(value.value)


def _renames(statements: Sequence[ast.stmt]) -> bool:
    """Whether it is ``v1 = v0``."""
    [statement] = statements if len(statements) == 1 else [None]
    return isinstance(statement, ast.Assign) and _is_name(statement.value)


def may_compile(op: Operation) -> bool:
    """Whether a node's line may be part of a native call, as far as its traits say."""
    definition = op.op_def
    if definition.random or definition.blocking or definition.on_host:
        return False
    if (
        definition.control
        or definition.role not in (None, "identity")
        or blocks_of(op)
        or op.refusal is not None
    ):
        return False
    if (definition.stateful or definition.effect) and not (definition.writes or definition.reads):
        return False
    # A native call holds no lock.
    if op.attrs.get("use_locking"):
        return False
    return _are_numbers(op.inputs) and _are_numbers(op.outputs)


def _are_numbers(tensors: Iterable[Tensor]) -> bool:
    """Whether all are tensors of numbers of known shapes, or variables."""
    for tensor in tensors:
        if is_handle(tensor):
            continue
        dims = tensor.sizes
        if tensor.dtype.base_dtype in _NOT_COMPILED or dims is None or None in dims:
            return False
    return True

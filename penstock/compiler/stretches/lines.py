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
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.tensor import Tensor

# Numbers of half precision are rounded after each line, and not where lines are fused.
_NOT_COMPILED = (
    dtypes.string, dtypes.variant, dtypes.resource, dtypes.float16, dtypes.bfloat16,
    dtypes.complex64, dtypes.complex128,
)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """A line at the top of a program: the statements that begin there.

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
      lines: at its top, the return included.
      resources, constants: its names of those.
    """

    arguments: tuple[str, ...]
    lines: tuple[Line, ...]
    resources: tuple[str, ...]
    constants: tuple[str, ...]


def program_of(source: Source) -> Program:
    """A program's lines."""
    function = parse(source.text)
    by_number: dict[int, list[ast.stmt]] = {}
    for statement in function.body:
        by_number.setdefault(statement.lineno, []).append(statement)
    return Program(
        tuple(argument.arg for argument in function.args.args),
        tuple(_judged(number, found, source) for number, found in by_number.items()),
        tuple(source.resources),
        tuple(source.constants),
    )


def _judged(number: int, found: list[ast.stmt], source: Source) -> Line:
    kept = [s for s in found if not isinstance(s, ast.Delete)]
    gone = [t.id for s in found if isinstance(s, ast.Delete) for t in s.targets if _is_name(t)]
    op = source.line_ops.get(number)
    simple = op is not None and all(isinstance(s, ast.Assign | ast.Expr) for s in kept)
    compiles = simple and op is not None and (_reads_variable(kept) or may_compile(op))
    view = simple and op is not None and bool(op.op_def.aliases) and not op.op_def.writes
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


def may_compile(op: Operation) -> bool:
    """Whether a node's line may be part of a native call, as far as its traits say."""
    definition = op.op_def
    if definition.random or definition.blocking or definition.on_host:
        return False
    if definition.control or definition.role or blocks_of(op) or op.refusal is not None:
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

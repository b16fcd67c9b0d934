"""What the modules of the package import, and where: read from their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).resolve().parents[2] / "penstock"
# What a statement holds other statements in.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


class Imported(NamedTuple):
    """One import: a module in full, and whether it stands inside a function."""

    module: str
    in_function: bool


def name_of(path: Path) -> str:
    """The full name of a file's module."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def files() -> dict[str, Path]:
    """Every module of the package by its full name."""
    return {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def tree(name: str) -> ast.Module:
    """A module's syntax tree; none is kept: the collector would go through millions of nodes."""
    return ast.parse(files()[name].read_text())


def statements(block: ast.AST) -> Iterator[ast.AST]:
    """What stands in a block, in blocks of that, and so on; handlers and cases among them."""
    for field in _BLOCKS:
        for each in getattr(block, field, ()):
            yield each
            yield from statements(each)


@cache
def imports(name: str) -> tuple[Imported, ...]:
    """What a module imports, but for what only type checkers see."""
    return tuple(_imports(tree(name), False))


def _imports(block: ast.AST, in_function: bool) -> Iterator[Imported]:
    if isinstance(block, ast.If) and _of_type_checkers(block.test):
        return
    for module in _modules(block):
        yield Imported(module, in_function)
    within = in_function or isinstance(block, ast.FunctionDef | ast.AsyncFunctionDef)
    inner = (each for field in _BLOCKS for each in getattr(block, field, ()))
    for each in inner:
        yield from _imports(each, within)


def _of_type_checkers(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in (getattr(test, "id", ""), getattr(test, "attr", ""))


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module is not None:
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield full if full in files() else node.module


def circles(arrows: dict[str, set[str]]) -> list[list[str]]:
    """The sets of modules that import each other: strongly connected, of more than one."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = lowest[name] = len(order)
        stack.append(name)
        for other in sorted(arrows.get(name, ())):
            if other not in order:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], order[other])
        if lowest[name] == order[name]:
            start = stack.index(name)
            circle = stack[start:]
            del stack[start:]
            if len(circle) > 1:
                found.append(sorted(circle))

    for name in sorted(arrows):
        if name not in order:
            visit(name)
    return found

"""The syntax tree of a function, found in the file that it was read from."""

from __future__ import annotations

import ast
import functools
import linecache
from types import CodeType, FunctionType


class SourceError(ValueError):
    """The source of a function is not to be had."""


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def source_of(function: FunctionType) -> ast.FunctionDef:
    """The definition of a function; a lambda as a function that returns its value.

    Raises:
      SourceError: there is no file, or several lambdas in a line cannot be told apart.
    """
    code = function.__code__
    text = "".join(linecache.getlines(code.co_filename, function.__globals__))
    if not text:
        raise SourceError(f"the source of {function.__qualname__!r} is not to be had")
    try:
        tree = _parsed(text)
    except SyntaxError as error:
        raise SourceError(f"{code.co_filename} has changed: {error}") from None
    return _as_lambda(tree, code) if function.__name__ == "<lambda>" else _as_def(tree, code)


def _as_def(tree: ast.Module, code: CodeType) -> ast.FunctionDef:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return node
    raise SourceError(f"{code.co_filename} has no function {code.co_name!r} at its line")


def _as_lambda(tree: ast.Module, code: CodeType) -> ast.FunctionDef:
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno)
        and _arguments(node) == names
        and _covers(node, code)
    ]
    if len(found) != 1:
        raise SourceError(f"which lambda of line {code.co_firstlineno} it is cannot be told")
    node = found[0]
    result = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.FunctionDef("ag__lambda", node.args, [result], [])
    return ast.copy_location(made, node)


def _arguments(node: ast.Lambda) -> list[str]:
    arguments = node.args
    return [a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _covers(node: ast.Lambda, code: CodeType) -> bool:
    """Whether the code's columns are those of the lambda's body."""
    body = node.body
    places = [p for p in code.co_positions() if p[2] is not None and p[3] and p[0] == body.lineno]
    inside = [p for p in places if p[2] >= body.col_offset]  # type: ignore[operator]
    if body.lineno != body.end_lineno or not places:
        return True
    ends = [p[3] for p in places]
    return len(inside) >= len(places) - 1 and max(ends) == body.end_col_offset  # type: ignore[type-var]

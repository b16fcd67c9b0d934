"""Pieces of syntax trees from text, at the place of what they stand for."""

from __future__ import annotations

import ast
from typing import Any, TypeVar

_Node = TypeVar("_Node", bound=ast.AST)


def located(made: _Node, like: ast.AST) -> _Node:
    """``made``, it and all in it that has no place at that of ``like``."""
    ast.copy_location(made, like)
    return ast.fix_missing_locations(made)


def statements(text: str, like: ast.AST) -> list[Any]:
    """The statements of a text, all at the place of ``like``."""
    return [_moved(node, like) for node in ast.parse(text).body]


def expression(text: str, like: ast.AST) -> Any:
    """The expression of a text, at the place of ``like``."""
    return _moved(ast.parse(text, mode="eval").body, like)


def _moved(node: ast.AST, like: ast.AST) -> ast.AST:
    for each in ast.walk(node):
        if hasattr(each, "lineno"):
            ast.copy_location(each, like)
    return node

"""What is written twice: pairs of eight or more equal lines of code.

Imports, docstrings and the arguments of a function do not count: they are TensorFlow's signatures
and what they mean, which stand where a reader looks for them.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from itertools import combinations

import pytest

from tests.architecture import modules

_LINES = 8
# What there is today, to be made less.
PAIRS = 39


def _code(text: str) -> list[str]:
    """The lines of a module that count, without their indentation."""
    left_out: set[int] = set()
    tree = ast.parse(text)
    for node in (tree, *modules.statements(tree)):
        left_out.update(_docstring(node))
        if isinstance(node, ast.Import | ast.ImportFrom):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left_out.update(range(node.lineno + 1, node.body[0].lineno))
    numbered = enumerate(map(str.strip, text.split("\n")), 1)
    return [one for n, one in numbered if one and one[0] != "#" and n not in left_out]


def _docstring(node: ast.AST) -> range:
    """The lines of a node's docstring, if it has one."""
    body = getattr(node, "body", None)
    first = body[0] if isinstance(body, list) and body else None
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return range(first.lineno, (first.end_lineno or first.lineno) + 1)
    return range(0)


def _pairs(texts: dict[str, str]) -> list[tuple[str, str, str]]:
    """The pairs of modules that share lines, with the first of these; each stretch once."""
    code = {name: _code(text) for name, text in texts.items()}
    places = defaultdict(list)
    for name, lines in code.items():
        for start in range(len(lines) - _LINES + 1):
            places[tuple(lines[start : start + _LINES])].append((name, start))
    return [
        (one, other, code[one][i])
        for found in places.values()
        for (one, i), (other, j) in combinations(found, 2)
        if not (i and j and code[one][i - 1] == code[other][j - 1])
    ]


def test_few_lines_are_written_twice(capsys: pytest.CaptureFixture[str]) -> None:
    found = _pairs({name: path.read_text() for name, path in modules.files().items()})
    with capsys.disabled():
        print(f"\npairs of {_LINES} or more equal lines of code: {len(found)}")
    assert len(found) <= PAIRS, "\n".join(map(str, found))


def test_a_pair_is_found_once() -> None:
    body = "\n".join(f"    x{i} = {i}" for i in range(12))
    texts = {name: f"def {name}(\n    a,\n):\n{body}\n" for name in ("one", "other")}
    assert _pairs(texts) == [("one", "other", "x0 = 0")]
    assert not _pairs({"one": texts["one"], "doc": f'"""{body}"""'})

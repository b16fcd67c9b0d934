"""Nothing from outside reaches program text but as a literal, an identifier or a comment.

``text_flow`` follows what flows through the source of all that writes programs.  The places where
program text is made are listed here; the last tests show that the analysis sees what it must.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compiler.codegen.text_flow import SANITIZERS, TextFlow, _Scope

PENSTOCK = Path(__file__).resolve().parents[3] / "penstock"
# Text that others bring: the source of a value, and the name that the session gives a program.
_WRITING = re.compile(r"\b(inline|inplace|program_text)\b|Source of")
BROUGHT = {
    ("fetch_source", "source"), ("value_source", "source"), ("function", "name"),
}  # fmt: skip
# `exec`, `eval` and `compile` stand in these files and no others.
COMPILED_IN = {
    "cli/run.py",  # the user's own program
    "tf1/old_methods.py",  # the same, in today's words
    "library/autograph/functions.py",  # the user's own functions, converted
    "library/eager/calls.py",  # names of op definitions alone
    "library/eager/shortcuts.py",  # what ops write themselves, and numbers as literals
    "foundation/opdef/opdef.py", "ops/data/dataset.py", "ops/linalg/product_forms.py",
    "engine/runtime/program.py",
    # Lines of programs that `codegen` has written.
    "engine/native/tier.py", "engine/native/tracing.py", "engine/native/compiling.py",
}  # fmt: skip


def _sources(*patterns: str) -> dict[str, str]:
    found = {}
    for pattern in patterns:
        for path in sorted(PENSTOCK.glob(pattern)):
            parts = path.relative_to(PENSTOCK).with_suffix("").parts
            found[".".join(("penstock", *parts))] = path.read_text()
    assert found
    return found


@pytest.fixture(scope="module")
def generator() -> TextFlow:
    sources = _sources(
        "codegen/*.py", "engine/runtime/dataflow_program.py", "engine/runtime/values.py"
    )
    return TextFlow(sources, BROUGHT)


@pytest.fixture(scope="module")
def op_families() -> TextFlow:
    found = _sources("ops/**/*.py", "foundation/graph/region.py")
    # What is left out counts as not plain where a writer uses it.
    return TextFlow({k: v for k, v in found.items() if _WRITING.search(v)}, BROUGHT)


def test_every_line_of_a_program_is_plain(generator: TextFlow) -> None:
    for module in ("penstock.compiler.codegen.emit", "penstock.engine.runtime.dataflow_program"):
        assert not generator.put_into("lines", module)
        assert not generator.put_into("text", module)


def test_what_a_program_returns_is_written_plainly(generator: TextFlow) -> None:
    for name in ("fetch_source", "value_source"):
        assert not generator.returned(generator.scope_of("penstock.engine.runtime.values", name))


def test_what_ops_write_themselves_is_plain(op_families: TextFlow) -> None:
    writers = list(_writers(op_families))
    assert len(writers) > 40
    assert not [part for scope in writers for part in op_families.returned(scope)]


def _writers(flow: TextFlow) -> Iterator[_Scope]:
    """The functions that give ops their text: what ``inline=`` and ``inplace=`` name."""
    seen: set[str] = set()
    for scope in flow.modules.values():
        for node in ast.walk(scope.node):
            if isinstance(node, ast.keyword) and node.arg in ("inline", "inplace"):
                first = "call" if node.arg == "inline" else "op"
                for found in _named(flow, node.value, scope, first):
                    if found.key not in seen:
                        seen.add(found.key)
                        yield found


def _named(
    flow: TextFlow, node: ast.AST, scope: _Scope, first: str, depth: int = 0
) -> Iterator[_Scope]:
    """Functions of a node that an expression names, or that a function it calls makes."""
    for each in ast.walk(node):
        if isinstance(each, ast.Lambda):
            yield from (s for s in flow.scopes if s.node is each)
        if not isinstance(each, ast.Name | ast.Attribute):
            continue
        for function in flow._callees(each, scope):
            inner = function.functions.values()
            yield from (f for f in (function, *inner) if f.params[:1] == [first])
        if isinstance(each, ast.Name) and depth < 4:
            for value in scope.bound.get(each.id, ()):
                if value is not None:
                    yield from _named(flow, value, scope, first, depth + 1)


def test_nothing_else_compiles_text() -> None:
    found = set()
    for path in PENSTOCK.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in ("exec", "eval", "compile", "builtins.compile", "__import__"):
                    found.add(path.relative_to(PENSTOCK).as_posix())
    assert found == COMPILED_IN


WRITER = """
from penstock.foundation.opdef.program_text import comment, identifier, literal

class Emitter:
    def __init__(self, step):
        self.lines = []
        self.local = {}
        self.count = 0
        self.step = step

    def write(self, text, remark):
        self.lines.append(f"    {text}  # {comment(remark)}")

    def new(self, tensor):
        name = self.local[tensor] = f"v{self.count}"
        return name

    def line(self, op):
        parts = [self.local[t] for t in op.inputs]
        self.write(f"{self.new(op)} = f({', '.join(parts)}, BODY)", op.name)
"""


@pytest.mark.parametrize(
    "body",
    [
        "{literal(op.attrs['x'])}", "{identifier(op.name)}", "{self.new(op)}", "{len(op.inputs)}",
        "{'y' if op.name else 'z'}", "{', '.join([literal(v) for v in op.attrs])}",
    ],
)  # fmt: skip
def test_plain_text_is_taken(body: str) -> None:
    assert not TextFlow({"made": WRITER.replace("BODY", body)}).put_into("lines", "made")


@pytest.mark.parametrize(
    "body",
    [
        "{op.name}", "{op.name!r}", "{op.attrs['x']}", "{str(op.attrs)}", "{op.name.lower()}",
        "{repr(op)}", "{self.step.name}", "{self.step}", "{', '.join(op.names)}",
        "{other(op)}", "{literal(op.name) + op.name}", "{'' if op else op.name}",
    ],
)  # fmt: skip
def test_text_from_outside_is_found(body: str) -> None:
    flow = TextFlow({"made": WRITER.replace("BODY", body)})
    assert flow.put_into("lines", "made")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("comment(remark)", "remark"),
        ('f"v{self.count}"', "tensor.name"),
        ("self.count = 0", "self.count = step.count"),
        ("parts = [self.local[t] for t in op.inputs]", "parts = [t.name for t in op.inputs]"),
        ("parts = [self.local[t] for t in op.inputs]", "parts = []; parts.append(op.name)"),
        ("parts = [self.local[t] for t in op.inputs]", "parts = []; parts += op.names"),
        ("self.local = {}", "self.local = dict(step.names)"),
        ("        return name", "        return tensor.name"),
    ],
)
def test_text_from_outside_is_found_behind_names(old: str, new: str) -> None:
    """Through variables, parameters, attributes and results."""
    source = WRITER.replace("BODY", "1")
    assert old in source
    assert not TextFlow({"made": source}).put_into("lines", "made")
    assert TextFlow({"made": source.replace(old, new)}).put_into("lines", "made")


@pytest.mark.parametrize("name", sorted(SANITIZERS - {"torch_dtype_name"}))
def test_nobody_else_is_called_as_what_makes_text_plain(name: str) -> None:
    defined = [
        path.relative_to(PENSTOCK).as_posix()
        for path in PENSTOCK.rglob("*.py")
        if path.parts[-2] in ("codegen", "ops", "runtime", "opdef")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    assert defined == ["foundation/opdef/program_text.py"]

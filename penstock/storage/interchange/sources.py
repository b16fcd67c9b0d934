"""Functions with all that they need, as text that stands alone: torch and the standard library.

An exported program calls kernels.  Their definitions, and those of whatever they name, are taken
out of Penstock's own modules and written into the program, each once, in an order in which they can
be executed.  Nothing of a graph gets into this text: it is a part of Penstock's.

Branches for tensors of strings, which are NumPy's arrays in Penstock and nothing in torch, are left
out.  A kernel that is a function inside another is written with the values that it closes over.

What cannot stand alone makes the kernel unportable: other packages, classes of the engine, names
that are not defined by one statement.  ``INSTEAD`` says what is written in place of some.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Callable, Container, Iterable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy
import torch

from penstock.foundation.opdef.program_text import literal

_OWN = "penstock."
# The rooms whose definitions may be written out: kernels, and what is about numbers and words.
_ROOMS = ("penstock.ops.", "penstock.foundation.base.mismatch", "penstock.storage.interchange.")
_STANDARD = frozenset(
    ["bisect", "cmath", "collections", "collections.abc", "dataclasses", "functools", "itertools",
     "math", "operator", "re", "string", "typing"]
)  # fmt: skip
_HERE = "penstock.storage.interchange.stand_ins"
# Definitions in whose place others are written.
_ERRORS = ("AbortedError", "FailedPreconditionError", "InvalidArgumentError", "NotFoundError",
           "OutOfRangeError", "UnimplementedError")  # fmt: skip
INSTEAD = {
    ("penstock.engine.resources.tensor_array", "TensorArray"): (_HERE, "TensorArray"),
    ("penstock.engine.resources.tensor_list", "TensorList"): (_HERE, "TensorList"),
    ("penstock.engine.resources.tensor_list", "add"): (_HERE, "added"),
    ("penstock.engine.resources.tensor_list", "as_dims"): (_HERE, "as_dims"),
    ("penstock.engine.runtime.values", "scalar_truth"): (_HERE, "scalar_truth"),
    ("penstock.foundation.base.errors", "invalid"): (_HERE, "invalid"),
    **{("penstock.foundation.base.errors", name): (_HERE, "KernelError") for name in _ERRORS},
    ("penstock.foundation.base.shapes", "broadcast_static"): (_HERE, "broadcast_static"),
    ("penstock.foundation.opdef.inference", "FailsAtRun"): ("builtins", "ValueError"),
    # Kernels whose own form goes by NumPy.
    ("penstock.ops.array.gather", "rows_out_of_range"): (_HERE, "out_of_range"),
    ("penstock.ops.array.gather", "flat_index"): (_HERE, "flat_index"),
    ("penstock.ops.array.integer_order", "all_differ"): (_HERE, "all_differ"),
    ("penstock.ops.array.integer_order", "first_seen"): (_HERE, "first_seen"),
    ("penstock.ops.array.pad", "mirrored"): (_HERE, "mirrored"),
    ("penstock.ops.array.patches", "_patches_kernel"): (_HERE, "patches"),
    ("penstock.ops.array.where", "_places_of_many"): (_HERE, "places_of"),
    ("penstock.ops.sparse.sparse_products", "_are_in_order"): (_HERE, "are_in_order"),
    ("penstock.ops.sparse.sparse_products", "_by_rows"): (_HERE, "by_rows"),
    ("penstock.ops.control.tensor_list", "_parts"): (_HERE, "parts"),
    ("penstock.ops.control.tensor_list", "_length"): (_HERE, "list_length"),
}


# Kernels that call what the stand-ins do not have.
_REFUSED = {
    ("penstock.ops.control.tensor_array", name): "it makes the array of a gradient"
    for name in ("_gradient", "_gradient_and_flow", "_gradient_with_shape", "_begin_gradient")
}


class NotAlone(ValueError):
    """Why a function cannot be written out."""


class _Place(NamedTuple):
    module: str
    name: str


# A replacement: from where to where in a module's text, and what stands there instead.
Edit = tuple[int, int, str]


class Sources:
    """Definitions to be written out: ``text`` gives them, and ``imports`` what they need."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._taken: set[str] = set()
        self._texts: list[str] = []
        self._imports: dict[str, None] = {}

    def add(self, function: Callable[..., Any]) -> str:
        """Takes a function in; returns what the text calls it.

        Raises:
          NotAlone: it, or something that it needs, cannot be written out.
        """
        known = _torch_name(function)
        if known is not None:
            self._imports["torch"] = None
            return known
        module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
        if module is None or not hasattr(function, "__code__"):
            raise NotAlone(f"its kernel {function!r} is no function with a source")
        if name.isidentifier():
            return self._add(_Place(module, name))
        return self._inner(function)

    def reserve(self, name: str) -> None:
        """Keeps a name for something else."""
        self._taken.add(name)

    @property
    def imports(self) -> frozenset[str]:
        """The modules that the definitions need."""
        return frozenset(self._imports)

    def text(self) -> str:
        """All definitions that were taken in."""
        return "\n\n\n".join(self._texts)

    # ---- one definition ----------------------------------------------------------------------

    def _add(self, place: _Place) -> str:
        place = _Place(*INSTEAD.get(place, place))
        known = self._names.get(place)
        if known is not None:
            return known
        if place.module == "builtins":
            return place.name
        if place in _REFUSED:
            raise NotAlone(_REFUSED[place])
        if not place.module.startswith(_ROOMS):
            raise NotAlone(f"it needs {place.name} of {place.module}")
        node = _definition(place)
        name = self._names[place] = self._new(place.name)
        self._write(place.module, node, name, {place.name: name})
        return name

    def _new(self, name: str) -> str:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def _inner(self, function: Any) -> str:
        """A function inside another: what it closes over is written in place of its names."""
        known = self._names.get(function)
        if known is not None:
            return known
        node = _inner_node(function)
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        given = {name: self._value(cell.cell_contents) for name, cell in cells}
        name = getattr(node, "name", "kernel")
        name = self._names[function] = self._new(f"{name}_{len(self._names)}")
        self._write(_module_of(function), node, name, given)
        return name

    def _value(self, value: Any) -> str:
        """Text for what a function closes over."""
        if isinstance(value, torch.dtype):
            self._imports["torch"] = None
            return str(value)
        if callable(value):
            return self.add(value)
        if isinstance(value, tuple | list):
            items = ", ".join(map(self._value, value))
            return f"({items}{',' * bool(items)})"
        try:
            return literal(value)
        except TypeError as error:
            raise NotAlone(f"its kernel closes over what is no number: {error}") from None

    def _write(self, module: str, node: Any, name: str, given: dict[str, str]) -> None:
        edits = self._edits(module, node, given)
        text = _segment(module, node, edits)
        if isinstance(node, ast.Lambda):
            text = f"{name} = {text}"
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            pattern = rf"^((?:def|class) ){node.name}\b"
            text = re.sub(pattern, rf"\g<1>{name}", text, count=1, flags=re.MULTILINE)
        self._texts.append(text)

    def _edits(self, where: str, node: ast.AST, given: dict[str, str]) -> list[Edit]:
        """What the definition names of its module, with what the text calls it."""
        module = importlib.import_module(where)
        edits, left_out = _dead_branches(where, node)
        inside = set(left_out)
        local = _bound(node) - set(given)
        for each in _evaluated(node, left_out):
            if not isinstance(each, ast.Attribute) or not isinstance(each.value, ast.Name):
                continue
            target = getattr(module, each.value.id, None)
            if each.value.id in local or not isinstance(target, ModuleType):
                continue
            if target is numpy and each.attr == "ndarray":
                inside.add(id(each.value))
                edits.append((*_span(where, each), self._add(_Place(_HERE, "NumpyArray"))))
            elif target.__name__.startswith(_OWN):
                inside.add(id(each.value))
                found = self._name_of(target.__name__, target, each.attr)
                edits.append((*_span(where, each), self._beside(found, local)))
        for each in _evaluated(node, left_out):
            if not isinstance(each, ast.Name) or id(each) in inside or each.id in local:
                continue
            if each.id in given:
                edits.append((*_span(where, each), given[each.id]))
            elif hasattr(module, each.id) or not hasattr(builtins, each.id):
                edits.append((*_span(where, each), self._name_of(where, module, each.id)))
        return edits

    def _beside(self, name: str, local: set[str]) -> str:
        """Another global name for a definition, where a local variable has its own."""
        if name not in local:
            return name
        key = ("beside", name)
        if key not in self._names:
            self._names[key] = self._new(f"{name}_of")
            self._texts.append(f"{self._names[key]} = {name}")
        return self._names[key]

    def _name_of(self, where: str, module: ModuleType, name: str) -> str:
        if not hasattr(module, name):
            raise NotAlone(f"{name} of {where} is not known")
        target = getattr(module, name)
        if isinstance(target, ModuleType):
            return self._module(target)
        place = _found(where, name)
        if not place.module.startswith(_OWN):
            return self._foreign(place)
        value = getattr(importlib.import_module(place.module), place.name, None)
        if isinstance(value, torch._ops.OpOverload):
            return self.add(value)
        return self._add(place)

    def _module(self, target: ModuleType) -> str:
        name = target.__name__
        if name.partition(".")[0] != "torch" and name not in _STANDARD:
            raise NotAlone(f"its kernel needs {name}")
        self._imports[name] = None
        return name

    def _foreign(self, place: _Place) -> str:
        if place.module.partition(".")[0] != "torch" and place.module not in _STANDARD:
            raise NotAlone(f"its kernel needs {place.name} of {place.module}")
        self._imports[place.module] = None
        return f"{place.module}.{place.name}"


# ---- where a name is defined -----------------------------------------------------------------


@functools.cache
def _bindings(module: str) -> dict[str, list[ast.stmt]]:
    """The statements of a module that bind each of its names."""
    found: dict[str, list[ast.stmt]] = {}
    for statement in _tree(module).body:
        for name in _names_bound(statement):
            found.setdefault(name, []).append(statement)
    return found


def _names_bound(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    else:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _found(module: str, name: str) -> _Place:
    """Where a module has a name from: itself, or what it imports."""
    if (module, name) in INSTEAD or not module.startswith(_OWN):
        return _Place(module, name)
    statements = _bindings(module).get(name, [])
    if len(statements) == 1 and isinstance(statements[0], ast.ImportFrom):
        alias = next(a for a in statements[0].names if (a.asname or a.name) == name)
        return _found(str(statements[0].module), alias.name)
    return _Place(module, name)


def _definition(place: _Place) -> ast.stmt:
    statements = _bindings(place.module).get(place.name, [])
    simple = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign
    if len(statements) != 1 or not isinstance(statements[0], simple):
        raise NotAlone(f"{place.name} of {place.module} is not defined by one statement")
    return statements[0]


def _inner_node(function: Any) -> Any:
    """The syntax of a function that stands in another, or of a lambda."""
    code = function.__code__
    module = _module_of(function)
    kind = ast.Lambda if code.co_name == "<lambda>" else ast.FunctionDef
    found = [
        node
        for node in ast.walk(_tree(module))
        if isinstance(node, kind) and _first_line(node) == code.co_firstlineno
    ]
    if len(found) != 1:
        raise NotAlone(f"its kernel in line {code.co_firstlineno} of {module} is not the only one")
    return found[0]


def _module_of(function: Any) -> str:
    """The module whose text a function stands in; a decorator may have given it another."""
    file = function.__code__.co_filename
    own = sys.modules.get(function.__module__)
    if own is not None and getattr(own, "__file__", None) == file:
        return str(function.__module__)
    for name, module in list(sys.modules.items()):
        if name.startswith(_OWN) and getattr(module, "__file__", None) == file:
            return name
    raise NotAlone(f"its kernel {function.__qualname__} is in no module of Penstock")


def _first_line(node: Any) -> int:
    return int(min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]))


def _evaluated(node: ast.AST, left_out: Container[int] = ()) -> Iterator[ast.AST]:
    """The nodes of a definition that are ever evaluated: no annotations."""
    waiting: list[ast.AST] = [node]
    while waiting:
        each = waiting.pop()
        if id(each) in left_out:
            continue
        yield each
        for field, value in ast.iter_fields(each):
            if field not in ("annotation", "returns"):
                items = value if isinstance(value, list) else [value]
                waiting.extend(item for item in items if isinstance(item, ast.AST))


def _bound(node: ast.AST) -> set[str]:
    """Names that are local in a definition, taken generously: one meaning a name is enough."""
    nodes = list(ast.walk(node))
    found = {each.arg for each in nodes if isinstance(each, ast.arg)}
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
        found |= _stored(nodes)
    for each in nodes:
        if isinstance(each, ast.comprehension):
            found |= _stored(ast.walk(each.target))
        elif isinstance(each, ast.FunctionDef | ast.ClassDef) and each is not node:
            found.add(each.name)
        elif isinstance(each, ast.ExceptHandler) and each.name:
            found.add(each.name)
    return found


def _stored(nodes: Iterable[ast.AST]) -> set[str]:
    names = (each for each in nodes if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Store)}


# ---- branches for strings --------------------------------------------------------------------


def _never(test: ast.expr) -> bool:
    """Whether a test asks for strings: an array of NumPy's, or the type ``object``."""
    if isinstance(test, ast.BoolOp):
        quantifier = any if isinstance(test.op, ast.And) else all
        return quantifier(map(_never, test.values))
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        right = test.comparators[0]
        asked = isinstance(right, ast.Name) and right.id == "object"
        return asked and isinstance(test.ops[0], ast.Is | ast.Eq)
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Name):
        return False
    kind = test.args[1] if test.func.id == "isinstance" else None
    return isinstance(kind, ast.Attribute) and ast.unparse(kind) == "np.ndarray"


def _dead_branches(module: str, node: ast.AST) -> tuple[list[Edit], set[int]]:
    """What takes branches for strings out, and the ids of the syntax that is gone."""
    edits: list[Edit] = []
    gone: set[int] = set()
    for each in ast.walk(node):
        if id(each) in gone or not isinstance(each, ast.If | ast.IfExp) or not _never(each.test):
            continue
        if isinstance(each, ast.If):
            edits.append(_without_branch(module, each))
            dropped: list[ast.AST] = [each.test, *each.body]
        else:
            start, end = _span(module, each)[0], _span(module, each.orelse)[0]
            edits.append((start, end, ""))
            dropped = [each.test, each.body]
        gone.update(id(inner) for part in dropped for inner in ast.walk(part))
    # A branch in one that is gone is gone with it.
    return [e for e in edits if not any(_holds(o, e) for o in edits if o is not e)], gone


def _holds(outer: Edit, inner: Edit) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _without_branch(module: str, node: ast.If) -> Edit:
    start, (_, end) = _span(module, node)[0], _span(module, node.body[-1])
    if not node.orelse:
        return start, end, "pass  # strings" if len(node.body) == 0 else "pass"
    text, following = _text(module), _span(module, node.orelse[0])[0]
    between = text[end:following]
    if between.strip() == b"" and text[following : following + 4] == b"elif":
        return start, following + 2, ""  # "elif" becomes "if"
    return start, following - len(between) + between.index(b"else") + 4, "if True"


# ---- text ------------------------------------------------------------------------------------


@functools.cache
def _text(module: str) -> bytes:
    importlib.import_module(module)
    return inspect.getsource(sys.modules[module]).encode()


@functools.cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_text(module))


@functools.cache
def _line_starts(module: str) -> list[int]:
    starts = [0]
    for line in _text(module).splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _span(module: str, node: Any) -> tuple[int, int]:
    """Where a piece of syntax stands in its module's text."""
    starts = _line_starts(module)
    return starts[node.lineno - 1] + node.col_offset, starts[
        node.end_lineno - 1
    ] + node.end_col_offset


def _segment(module: str, node: Any, edits: list[Edit]) -> str:
    """The text of a definition, with some parts replaced."""
    start, end = _span(module, node)
    if not isinstance(node, ast.Lambda):
        start = _line_starts(module)[_first_line(node) - 1]
    text = _text(module)
    parts, position = [], start
    for first, last, new in sorted(edits):
        if first < position:
            continue  # in a part that is replaced
        parts += [text[position:first], new.encode()]
        position = last
    whole = b"".join([*parts, text[position:end]]).decode().rstrip()
    whole = re.sub(r"\n *pass(?=\n)", "", whole)
    return textwrap.dedent(whole)


def _torch_name(function: Any) -> str | None:
    """How torch calls a function that is its own."""
    name = getattr(function, "__name__", "")
    if isinstance(function, torch._ops.OpOverload):
        return f"torch.ops.{function}"
    for scope, where in (
        ("torch", torch), ("torch.nn.functional", torch.nn.functional), ("torch.fft", torch.fft),
        ("torch.special", torch.special), ("torch._C._nn", torch._C._nn),
    ):  # fmt: skip
        for short in (name, name.partition("_")[2]):
            if short and getattr(where, short, None) is function:
                return f"{scope}.{short}"
    return None

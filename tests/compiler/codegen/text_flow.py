"""What flows into program text, followed through the source of what writes it.

An expression is *plain* when nothing from outside can be in it but by way of
``opdef.program_text``: constants, what its functions return, numbers that are counted here, and
what is put together of such.  Everything that is not understood counts as not plain.

The analysis assumes that all variables, parameters, attributes and results are plain, takes back
what an assignment, a call or a ``return`` contradicts, and goes on until nothing changes.  What is
left of the places where program text is made is then held to be plain.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

# What makes plain text of anything.
SANITIZERS = {"literal", "identifier", "comment", "torch_dtype_name"}
_COUNTED = {"len", "int", "bool"}
# Plain where what they are given is.
_HANDING_ON = {
    "list", "tuple", "sorted", "reversed", "set", "str", "min", "max", "filter", "zip", "iter",
    "fromkeys", "join", "format", "lstrip", "rstrip", "strip", "removeprefix", "removesuffix",
    "replace", "lower", "upper",
}  # fmt: skip
# It puts sources into a template, each in one place.
_TRUSTED = {"fill"}
_TAKING_FROM = {"get", "pop", "values", "copy"}
# The sources of a node's operands, and the templates and functions of op definitions.
_PLAIN_ATTRIBUTES = {
    "call.arg", "self._call.arg", "definition.template", "definition.number", "line.overwrites",
}  # fmt: skip
_PLAIN_CALLS = {"call.function", "self._call.function", "definition.inline"}
_PUTTING = {"append", "add", "insert", "extend", "setdefault", "update"}
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)

Fact = tuple[str, ...]


@dataclass
class _Scope:
    """A module, a function or a lambda, with what its names are bound to."""

    module: str
    node: ast.AST
    outer: _Scope | None
    key: str
    bound: dict[str, list[ast.expr | None]] = field(default_factory=dict)
    params: list[str] = field(default_factory=list)
    functions: dict[str, _Scope] = field(default_factory=dict)

    @functools.cached_property
    def own(self) -> list[ast.AST]:
        """The nodes in it, without those of the functions in it."""
        return list(_own(self.node))

    @property
    def name(self) -> str:
        return getattr(self.node, "name", "<lambda>")


class TextFlow:
    """The analysis of some modules.

    Args:
      sources: text by module name.
      outer_text: parameters that are program text whoever calls: ``(function, parameter)``.
    """

    def __init__(self, sources: dict[str, str], outer_text: Iterable[tuple[str, str]] = ()) -> None:
        self.scopes: list[_Scope] = []
        self.modules: dict[str, _Scope] = {}
        self.imports: dict[str, dict[str, tuple[str, str]]] = {}
        self.methods: dict[str, list[_Scope]] = {}
        self.dirty: set[Fact] = set()
        self.called: set[str] = set()
        self.outer_text = set(outer_text)
        for name, text in sources.items():
            tree = ast.parse(text)
            self.imports[name] = dict(_imported(tree))
            self.modules[name] = scope = _Scope(name, tree, None, name)
            self._collect(scope)
        while True:
            count = len(self.dirty)
            for scope in self.scopes:
                self._contradict(scope)
            if len(self.dirty) == count:
                break
        # Only now is it known who is called by nobody here.
        self._close()

    def _close(self) -> None:
        for scope in self.scopes:
            if scope.params and scope.key not in self.called:
                for param in scope.params:
                    if (scope.name, param) not in self.outer_text:
                        self.dirty.add(("param", scope.key, param))
        while True:
            count = len(self.dirty)
            for scope in self.scopes:
                self._contradict(scope)
            if len(self.dirty) == count:
                return

    # ---- what is there -----------------------------------------------------------------------

    def _collect(self, scope: _Scope) -> None:
        self.scopes.append(scope)
        for node in scope.own:
            if isinstance(node, _FUNCTIONS):
                made = _Scope(scope.module, node, scope, f"{scope.module}:{node.lineno}:"
                              f"{node.col_offset}")  # fmt: skip
                args = node.args
                names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
                names += [a.arg for a in (args.vararg, args.kwarg) if a is not None]
                made.params = [n for n in names if n not in ("self", "cls")]
                if isinstance(node, ast.FunctionDef):
                    scope.functions[node.name] = made
                    self.methods.setdefault(node.name, []).append(made)
                self._collect(made)
            for target, value in _bindings(node):
                _bind(scope.bound, target, value)

    def _contradict(self, scope: _Scope) -> None:
        for node in scope.own:
            if isinstance(node, ast.Return) and node.value is not None:
                if not self.plain(node.value, scope):
                    self.dirty.add(("return", scope.key))
            elif isinstance(node, ast.Call):
                self._pass_arguments(node, scope)
            for target, value in _bindings(node):
                owner = target
                while isinstance(owner, ast.Subscript):
                    owner = owner.value
                if isinstance(owner, ast.Attribute) and not self._plain_or_none(value, scope):
                    self.dirty.add(("attribute", scope.module, owner.attr))
        if isinstance(scope.node, ast.Lambda) and not self.plain(scope.node.body, scope):
            self.dirty.add(("return", scope.key))

    def _pass_arguments(self, call: ast.Call, scope: _Scope) -> None:
        for callee in self._callees(call.func, scope):
            self.called.add(callee.key)
            values: list[tuple[str | None, ast.expr]] = []
            for index, value in enumerate(call.args):
                name = callee.params[index] if index < len(callee.params) else None
                values.append((None if isinstance(value, ast.Starred) else name, value))
            values += [(keyword.arg, keyword.value) for keyword in call.keywords]
            for name, value in values:
                if self.plain(value, scope):
                    continue
                for param in callee.params if name is None else [name]:
                    self.dirty.add(("param", callee.key, param))

    def _callees(self, function: ast.expr, scope: _Scope) -> list[_Scope]:
        if isinstance(function, ast.Name):
            found = self._function(function.id, scope)
            return [found] if found is not None else []
        if isinstance(function, ast.Attribute):
            if isinstance(function.value, ast.Name):
                module = self.imports[scope.module].get(function.value.id)
                if module is not None:
                    place = self.modules.get(f"{module[0]}.{module[1]}")
                    return (
                        [place.functions[function.attr]]
                        if (place is not None and function.attr in place.functions)
                        else []
                    )
            found = self.methods.get(function.attr, [])
            if isinstance(function.value, ast.Name) and function.value.id == "self":
                found = [each for each in found if each.module == scope.module] or found
            return found
        return []

    def _function(self, name: str, scope: _Scope | None) -> _Scope | None:
        module = scope.module if scope is not None else ""
        while scope is not None:
            if name in scope.functions:
                return scope.functions[name]
            scope = scope.outer
        origin = self.imports[module].get(name)
        if origin is not None and origin[0] in self.modules:
            return self.modules[origin[0]].functions.get(origin[1])
        return None

    # ---- what is plain -----------------------------------------------------------------------

    def _plain_or_none(self, node: ast.expr | None, scope: _Scope) -> bool:
        return node is None or self.plain(node, scope)

    def plain(self, node: ast.expr, scope: _Scope) -> bool:
        """Whether nothing from outside is in what an expression gives."""
        match node:
            case ast.Constant() | ast.Compare():
                return True
            case ast.UnaryOp(op=ast.Not()):
                return True
            case ast.UnaryOp(operand=operand):
                return self.plain(operand, scope)
            case ast.JoinedStr(values=values):
                return all(self.plain(v, scope) for v in values)
            case ast.FormattedValue(value=value, conversion=conversion):
                return conversion == -1 and self.plain(value, scope)
            case ast.BinOp(left=left, right=right):
                return self.plain(left, scope) and self.plain(right, scope)
            case ast.BoolOp(values=values) | ast.List(elts=values) | ast.Tuple(elts=values):
                return all(self.plain(v, scope) for v in values)
            case ast.Set(elts=values):
                return all(self.plain(v, scope) for v in values)
            case ast.Dict(values=values):
                return all(self.plain(v, scope) for v in values)
            case ast.IfExp(body=body, orelse=orelse):
                return self.plain(body, scope) and self.plain(orelse, scope)
            case ast.Starred(value=value) | ast.NamedExpr(value=value):
                return self.plain(value, scope)
            case ast.Subscript(value=value):
                return self.plain(value, scope)
            case ast.ListComp(elt=elt) | ast.GeneratorExp(elt=elt) | ast.SetComp(elt=elt):
                return self.plain(elt, scope)
            case ast.DictComp(value=value):
                return self.plain(value, scope)
            case ast.Name(id=name):
                return self._plain_name(name, scope)
            case ast.Attribute(value=value, attr=attr):
                return self._plain_attribute(value, attr, scope.module)
            case ast.Call():
                return self._plain_call(node, scope)
        return False

    def _plain_name(self, name: str, scope: _Scope | None) -> bool:
        while scope is not None:
            if name in scope.params and ("param", scope.key, name) in self.dirty:
                return False
            if name in scope.bound:
                values = scope.bound[name]
                self_bound = ("local", scope.key, name)
                if self_bound not in self.dirty:
                    # Guards against a variable that is bound to what is made of itself.
                    if self_bound in self._open:
                        return True
                    self._open.add(self_bound)
                    ok = all(self._plain_or_none(v, scope) for v in values)
                    self._open.discard(self_bound)
                    if not ok and not self._open:
                        self.dirty.add(self_bound)
                    return ok
                return False
            if name in scope.params:
                return True
            scope = scope.outer
        return False

    @property
    def _open(self) -> set[Fact]:
        return self.__dict__.setdefault("_opened", set())  # type: ignore[no-any-return]

    def _plain_attribute(self, value: ast.expr, attr: str, module: str) -> bool:
        if f"{_dotted(value)}.{attr}" in _PLAIN_ATTRIBUTES:
            return True
        return _dotted(value) == "self" and ("attribute", module, attr) not in self.dirty

    def _plain_call(self, node: ast.Call, scope: _Scope) -> bool:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name in SANITIZERS | _COUNTED:
            return True
        if _dotted(function) in _PLAIN_CALLS:
            return True
        if name in _TRUSTED:
            return all(self.plain(v, scope) for v in given)
        callees = self._callees(function, scope)
        if callees:
            return all(("return", callee.key) not in self.dirty for callee in callees)
        if name == "enumerate":
            return all(self.plain(v, scope) for v in given)
        if name == "map":
            mapped = self._callees(node.args[0], scope)
            good = bool(mapped) and all(("return", m.key) not in self.dirty for m in mapped)
            sanitized = getattr(node.args[0], "id", "") in SANITIZERS | {"str"}
            if getattr(node.args[0], "id", "") == "str":
                return all(self.plain(v, scope) for v in node.args[1:])
            return good or sanitized
        if name in _TAKING_FROM and isinstance(function, ast.Attribute):
            return self.plain(function.value, scope) and all(
                self.plain(v, scope) for v in given[1:]
            )
        if name in _HANDING_ON:
            of = [function.value] if isinstance(function, ast.Attribute) and not (
                isinstance(function.value, ast.Name) and function.value.id == "dict"
            ) else []  # fmt: skip
            return all(self.plain(v, scope) for v in (*of, *given))
        return False

    # ---- what is asked -----------------------------------------------------------------------

    def scope_of(self, module: str, *path: str) -> _Scope:
        """The function of a module; methods stand by their own name, inner functions by a path."""
        scope = self.modules[module]
        for name in path:
            scope = scope.functions[name]
        return scope

    def parts_not_plain(self, node: ast.expr, scope: _Scope) -> list[str]:
        """Where something not plain comes into an expression, for a failing test."""
        if self.plain(node, scope):
            return []
        if isinstance(node, ast.JoinedStr):
            values = (v.value for v in node.values if isinstance(v, ast.FormattedValue))
            found = [part for v in values for part in self.parts_not_plain(v, scope)]
            if found:
                return found
        return [f"{scope.module}:{node.lineno}: {ast.unparse(node)}"]

    def returned(self, scope: _Scope) -> list[str]:
        """What a function returns that is not plain."""
        if isinstance(scope.node, ast.Lambda):
            return self.parts_not_plain(scope.node.body, scope)
        return [
            part
            for node in scope.own
            if isinstance(node, ast.Return) and node.value is not None
            for part in self.parts_not_plain(node.value, scope)
        ]

    def put_into(self, name: str, module: str) -> list[str]:
        """What is put into a list of lines, or an attribute of text, that is not plain."""
        found = []
        for scope in self.scopes:
            if scope.module != module:
                continue
            for node in scope.own:
                for target, value in _bindings(node):
                    if _last_name(target) == name and value is not None:
                        found += self.parts_not_plain(value, scope)
        return found


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else "?"


def _last_name(node: ast.expr) -> str:
    while isinstance(node, ast.Subscript):
        node = node.value
    return getattr(node, "attr", None) or getattr(node, "id", "")


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of the functions in it; of a class, the functions."""
    body = node.body if isinstance(node, ast.Module | ast.FunctionDef) else [node.body]  # type: ignore[attr-defined]
    waiting = list(body)
    while waiting:
        one = waiting.pop()
        yield one
        if not isinstance(one, _FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(one))


def _imported(tree: ast.AST) -> Iterator[tuple[str, tuple[str, str]]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                yield alias.asname or alias.name, (node.module, alias.name)


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What a node binds to what; None for what is plain."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield target, node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value
    elif isinstance(node, ast.AugAssign | ast.NamedExpr):
        yield node.target, node.value
    elif isinstance(node, ast.For | ast.comprehension):
        yield from _iterated(node.target, node.iter)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _PUTTING and isinstance(node.func.value, ast.Name | ast.Attribute):
            values = node.args[1:] if node.func.attr in ("insert", "setdefault") else node.args
            for value in values:
                yield node.func.value, value


def _iterated(target: ast.expr, source: ast.expr) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    if isinstance(target, ast.Tuple) and isinstance(source, ast.Call):
        name = getattr(source.func, "id", "")
        if name == "enumerate":
            yield target.elts[0], None
            yield from _iterated(target.elts[1], source.args[0])
            return
        if name == "zip" and len(source.args) == len(target.elts):
            for one, of in zip(target.elts, source.args, strict=True):
                yield from _iterated(one, of)
            return
    if isinstance(source, ast.Call) and getattr(source.func, "id", "") == "range":
        yield target, None
        return
    rows = source.elts if isinstance(source, ast.Tuple | ast.List) else []
    if isinstance(target, ast.Tuple) and rows and all(isinstance(r, ast.Tuple) for r in rows):
        # A table: each column for itself.
        for row in rows:
            yield target, row
        return
    yield target, source


def _bind(
    bound: dict[str, list[ast.expr | None]], target: ast.expr, value: ast.expr | None
) -> None:
    if isinstance(target, ast.Name):
        bound.setdefault(target.id, []).append(value)
    elif isinstance(target, ast.Starred | ast.Subscript):
        _bind(bound, target.value, value)
    elif isinstance(target, ast.Tuple | ast.List):
        values: list[ast.expr | None] = [value] * len(target.elts)
        if isinstance(value, ast.Tuple) and len(value.elts) == len(target.elts):
            values = list(value.elts)
        for one, of in zip(target.elts, values, strict=True):
            _bind(bound, one, of)

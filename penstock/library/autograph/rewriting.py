"""The pass: conditionals, loops, logic and calls become calls of ``operators``.

A block becomes a function without arguments that shares the variables around it (``nonlocal``), so
that the statements in it stay as they are, at their lines.  Beside the blocks an operator is given
how to read and set the state: the names that the blocks write and that are live.

    if x > 0:           def ag__then(): nonlocal y; y = x
        y = x     ->    def ag__else(): nonlocal y; y = -x
    else:               def ag__set(values): nonlocal y; y = values[0]
        y = -x          ag__.if_statement(x > 0, ag__then, ag__else, lambda: (y,), ag__set, ...)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from penstock.library.autograph.jumps import lowered
from penstock.library.autograph.names import Access, Liveness
from penstock.library.autograph.trees import expression, located, statements

# Functions that look at the frame that calls them.
_FRAME = {"super", "locals", "globals", "vars", "dir", "eval", "exec", "__import__"}
_UNTOUCHED = (ast.AsyncFunctionDef, ast.ClassDef)


def rewritten(function: ast.FunctionDef) -> ast.FunctionDef:
    """The definition of a function, converted; the one given is used up."""
    return _Function(function).made()


class _Function(ast.NodeTransformer):
    """The conversion of one function; functions inside have their own."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self._node, self._count = function, 0
        function.body = lowered(function.body, self._fresh)
        access = Access(function.body)
        parameters = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
        self._declared: dict[str, str] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Global | ast.Nonlocal):
                word = "global" if isinstance(node, ast.Global) else "nonlocal"
                self._declared |= dict.fromkeys(node.names, word)
        plain = {name for name in access.writes if "." not in name}
        self._locals = (plain | parameters) - set(self._declared)
        self._parameters = parameters
        self._shared: set[str] = set()
        self._live = Liveness(function.body)

    def made(self) -> ast.FunctionDef:
        node = self._node
        body = self._block(node.body)
        unbound = sorted((self._shared & self._locals) - self._parameters)
        first = [statements(f"{name} = ag__.Undefined('{name}')", node)[0] for name in unbound]
        documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        declared = [s for s in body if isinstance(s, ast.Global | ast.Nonlocal)]
        rest = [s for s in body[documented:] if s not in declared]
        node.body = [*body[:documented], *declared, *first, *rest]
        return node

    def _fresh(self, name: str) -> str:
        self._count += 1
        return f"{name}_{self._count}"

    def _block(self, body: Sequence[ast.stmt]) -> list[Any]:
        done: list[Any] = []
        for statement in body:
            found = self.visit(statement)
            done.extend(found if isinstance(found, list) else [found])
        return done

    # ---- functions inside ------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        if any(isinstance(n, ast.Yield | ast.YieldFrom | ast.Await) for n in ast.walk(node)):
            return node
        return rewritten(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> Any:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return node

    # ---- statements ------------------------------------------------------------------------------

    def visit_Return(self, node: ast.Return) -> Any:
        if node.value is not None:
            call = expression("ag__.returned(0)", node)
            call.args = [self.visit(node.value)]
            node.value = call
        return node

    def visit_Assert(self, node: ast.Assert) -> Any:
        (made,) = statements("ag__.assert_statement(0, lambda: None)", node)
        made.value.args[0] = self.visit(node.test)
        if node.msg is not None:
            made.value.args[1].body = self.visit(node.msg)
        return made

    def visit_If(self, node: ast.If) -> Any:
        access = Access([*node.body, *node.orelse])
        live = self._live.at(node)
        state = self._state(access)
        outputs = [n for n in state if n in live or "." in n]
        inner = [n for n in state if n not in outputs]
        test = self.visit(node.test)
        then, other = self._fresh("ag__then"), self._fresh("ag__else")
        made = [
            *self._as_function(then, node.body, access, node),
            *self._as_function(other, node.orelse, access, node),
        ]
        return [*made, *self._call("if_statement", [test, then, other], [*outputs, *inner], node,
                                   f"count={len(outputs)}")]  # fmt: skip

    def visit_While(self, node: ast.While) -> Any:
        access = Access(node.body)
        live = self._live.at(node)
        state = [n for n in self._state(access) if n in live or "." in n]
        options = _options(node.body)
        test = expression("lambda: 0", node.test)
        test.body = self.visit(node.test)
        body = self._fresh("ag__body")
        made = self._as_function(body, node.body, access, node)
        return [*made, *self._call("while_statement", [test, body], state, node, options=options)]

    def visit_For(self, node: ast.For) -> Any:
        access = Access([node.target, *node.body])
        live = self._live.at(node)
        state = [n for n in self._state(access) if n in live or "." in n]
        options = _options(node.body)
        extra = expression("None", node)
        if getattr(node, "extra", None) is not None:
            extra = expression("lambda: 0", node)
            extra.body = self.visit(node.extra)  # type: ignore[attr-defined]
        iterated = self.visit(node.iter)
        body = self._fresh("ag__body")
        item = f"{body}_item"
        (bind,) = statements(f"x = {item}", node)
        bind.targets = [node.target]
        made = self._as_function(body, [bind, *node.body], access, node, item)
        given = [iterated, body, extra]
        return [*made, *self._call("for_statement", given, state, node, options=options)]

    def _state(self, access: Access) -> list[str]:
        """The names written that can be state, plain ones first."""
        plain = sorted(n for n in access.writes if "." not in n and not n.startswith("ag__body"))
        bases = set(plain)
        paths = sorted(n for n in access.writes if "." in n and n.partition(".")[0] not in bases)
        return [*plain, *paths]

    def _as_function(
        self, name: str, body: Sequence[ast.stmt], access: Access, like: ast.AST, item: str = ""
    ) -> list[Any]:
        (made,) = statements(f"def {name}({item}):\n    pass", like)
        made.body = [*self._sharing(access.writes, like), *self._block(body), ast.Pass()]
        return [located(made, like)]

    def _sharing(self, names: set[str], like: ast.AST) -> list[Any]:
        plain = sorted(n for n in names if "." not in n)
        self._shared |= set(plain)
        outer = [n for n in plain if self._declared.get(n) == "global"]
        inner = [n for n in plain if n not in outer]
        made: list[Any] = []
        if outer:
            made.append(located(ast.Global(outer), like))
        if inner:
            made.append(located(ast.Nonlocal(inner), like))
        return made

    def _call(
        self, operator: str, given: Sequence[Any], state: Sequence[str], like: ast.AST,
        more: str = "", options: Any = None,
    ) -> list[Any]:  # fmt: skip
        setter = self._fresh("ag__set")
        values = f"{setter}_values"
        lines = "".join(f"\n    {_assigned(n, f'{values}[{i}]')}" for i, n in enumerate(state))
        (made,) = statements(f"def {setter}({values}):\n    pass{lines}", like)
        made.body[:0] = self._sharing(set(state), like)
        read = "".join(f"{_read(n)}, " for n in state)
        text = f"ag__.{operator}(lambda: ({read}), {setter}, {tuple(state)!r}, {more})"
        (call,) = statements(text, like)
        first = [expression(g, like) if isinstance(g, str) else g for g in given]
        call.value.args[:0] = first
        if options is not None:
            call.value.keywords.append(ast.keyword("options", options))
        return [located(made, like), located(call, like)]

    # ---- expressions -----------------------------------------------------------------------------

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        values = [self.visit(v) for v in node.values]
        made = values[-1]
        for value in reversed(values[:-1]):
            made = _lazy(name, node, value, made)
        return made

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Not):
            return node
        made = expression("ag__.not_(0)", node)
        made.args = [node.operand]
        return made

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        self.generic_visit(node)
        made = expression("ag__.if_expression(0, lambda: 0, lambda: 0)", node)
        made.args[0] = node.test
        made.args[1].body, made.args[2].body = node.body, node.orelse
        return made

    def visit_Call(self, node: ast.Call) -> Any:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name):
            if node.func.id == "super" and not node.args:
                first = self._node.args.posonlyargs + self._node.args.args
                if first:
                    return expression(f"super(__class__, {first[0].arg})", node)
            if node.func.id in _FRAME or node.func.id == "ag__":
                return node
        if isinstance(node.func, ast.Attribute) and _is_operator(node.func):
            return node
        made = expression("ag__.converted(0)", node)
        made.args = [node.func]
        node.func = made
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        node.body = self.visit(node.body)
        return node


def _is_operator(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "ag__"


def _lazy(name: str, like: ast.AST, first: Any, second: Any) -> Any:
    made = expression(f"ag__.{name}(lambda: 0, lambda: 0)", like)
    made.args[0].body, made.args[1].body = first, second
    return made


def _read(name: str) -> str:
    return f"ag__.attribute(lambda: {name}, {name!r})" if "." in name else name


def _assigned(name: str, value: str) -> str:
    if "." not in name:
        return f"{name} = {value}"
    base, _, attribute = name.rpartition(".")
    return f"ag__.set_attribute({base}, {attribute!r}, {value})"


def _options(body: list[ast.stmt]) -> Any:
    """What ``set_loop_options`` at the beginning of a loop is given, taken out of it."""
    for statement in body:
        call = getattr(statement, "value", None)
        if isinstance(statement, ast.Expr) and isinstance(call, ast.Call):
            name = getattr(call.func, "attr", getattr(call.func, "id", ""))
            if name == "set_loop_options":
                body.remove(statement)
                made = expression("dict()", call)
                made.args, made.keywords = call.args, call.keywords
                return made
    return None

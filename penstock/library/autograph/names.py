"""What statements read and write, and which names are live where.

A name is that of a variable, or a path of attributes from one (``self.total``), which is state as
well.  A function that is defined inside reads what it reads whenever it is called: such names are
live everywhere.  Attributes outlive the function: they are live everywhere, too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def path_of(node: ast.AST) -> str | None:
    """``a`` or ``a.b.c`` of a name or attributes of a name; None of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = path_of(node.value)
        return None if base is None else f"{base}.{node.attr}"
    return None


class Access(ast.NodeVisitor):
    """The names that nodes read and write; ``inner`` are those that functions inside read."""

    def __init__(self, nodes: Iterable[ast.AST]) -> None:
        self.reads: set[str] = set()
        self.writes: set[str] = set()
        self.inner: set[str] = set()
        for node in nodes:
            self.visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        (self.reads if isinstance(node.ctx, ast.Load) else self.writes).add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        path = path_of(node)
        if path is not None:
            (self.reads if isinstance(node.ctx, ast.Load) else self.writes).add(path)
        self.visit(node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        path = path_of(node.target)
        if path is not None:
            self.reads.add(path)
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.writes.add(node.name)
        self._inside(node, [*node.decorator_list, node.args], node.args, node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._inside(node, [node.args], node.args, [node.body])

    def _inside(
        self,
        node: ast.AST,
        outside: Sequence[ast.AST],
        arguments: ast.arguments,
        body: Sequence[ast.AST],
    ) -> None:
        for part in outside:
            self.visit(part)
        found = Access(body)
        own = {a.arg for a in ast.walk(arguments) if isinstance(a, ast.arg)}
        free = (found.reads | found.inner) - own
        self.inner |= free
        self.reads |= free

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.writes.add(node.name)
        self.reads |= Access([*node.body, *node.bases, *node.decorator_list]).reads

    def _comprehension(self, node: ast.ListComp) -> None:
        found = Access(ast.iter_child_nodes(node))
        targets = Access(g.target for g in node.generators).writes
        self.reads |= found.reads - targets
        self.inner |= found.inner - targets
        self.writes |= {n.target.id for n in ast.walk(node) if isinstance(n, ast.NamedExpr)}

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension  # type: ignore[assignment]

    def visit_alias(self, node: ast.alias) -> None:
        self.writes.add((node.asname or node.name).partition(".")[0])

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.writes.add(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self.writes.add(node.name)
        self.generic_visit(node)


def reads(*nodes: ast.AST | None) -> set[str]:
    """The names that nodes read."""
    return Access(n for n in nodes if n is not None).reads


class Liveness:
    """Which names are live after each conditional, and at the head of each loop.

    Args:
      body: the statements of a function without ``break``, ``continue`` and inner ``return``.
    """

    def __init__(self, body: Sequence[ast.stmt]) -> None:
        self._always = Access(body).inner
        self._found: dict[ast.stmt, set[str]] = {}
        self._through(body, set())

    def at(self, node: ast.stmt) -> set[str]:
        """The live names of a conditional or loop, attributes apart."""
        return self._found[node] | self._always

    def _through(self, body: Sequence[ast.stmt], after: set[str]) -> set[str]:
        for statement in reversed(body):
            after = self._before(statement, after)
        return after

    def _before(self, node: ast.stmt, after: set[str]) -> set[str]:
        if isinstance(node, ast.If):
            self._found[node] = after
            both = self._through(node.body, after) | self._through(node.orelse, after)
            return reads(node.test) | both
        if isinstance(node, ast.While):
            return self._loop(node, after, reads(node.test), set())
        if isinstance(node, ast.For):
            extra = reads(getattr(node, "extra", None))
            head = self._loop(node, after, extra, Access([node.target]).writes)
            return head | reads(node.iter, node.target)
        if isinstance(node, ast.With):
            bound = Access(i.optional_vars for i in node.items if i.optional_vars).writes
            return (self._through(node.body, after) - bound) | reads(*node.items)
        if isinstance(node, ast.Try):
            return self._try(node, after)
        access = Access([node])
        if isinstance(node, ast.Return | ast.Raise):
            return access.reads
        return (after - access.writes) | access.reads

    def _loop(
        self, node: ast.While | ast.For, after: set[str], test: set[str], bound: set[str]
    ) -> set[str]:
        head = after | test
        while True:
            grown = head | (self._through(node.body, head) - bound)
            if grown == head:
                break
            head = grown
        self._found[node] = head
        return head

    def _try(self, node: ast.Try, after: set[str]) -> set[str]:
        """Any statement may be the last: what the rest reads is live throughout."""
        end = self._through(node.finalbody, after)
        rest = end | reads(*node.handlers, *node.orelse)
        for handler in node.handlers:
            self._through(handler.body, end | after)
        found = self._through(node.body, self._through(node.orelse, end) | rest)
        return found | rest | reads(*node.body)

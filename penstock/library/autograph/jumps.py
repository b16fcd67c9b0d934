"""``break``, ``continue`` and inner ``return`` become flags, and tests of them.

    while a:                        done = False
        if b:                       while not done and a:
            break           ->          if b:
        c()                                 done = True
                                        if not done:
                                            c()

Where one branch of a conditional always jumps, what follows moves into the other: so a value that
is returned comes from both.  A loop with a flag keeps it as ``extra`` (``for``), or in its test.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from penstock.library.autograph.names import FUNCTIONS
from penstock.library.autograph.trees import expression, located, statements

Body = list[ast.stmt]
RESULT = "ag__result"
_RETURNED = "ag__returned"
_LOOPS = (ast.While, ast.For)


def lowered(body: Sequence[ast.stmt], fresh: Callable[[str], str]) -> Body:
    """The statements of a function without jumps but for a ``return`` at the end.

    Args:
      body: the statements; they may be changed.
      fresh: makes a name that the function does not have.
    """
    body = list(body)
    if _returns_inside(body):
        body = _without_returns(body)
    return _Loops(fresh).block(body)


# ---- returning -------------------------------------------------------------------------------


def _returns_inside(body: Body) -> bool:
    last = body[-1] if body else None
    return any(_has(s, ast.Return) for s in body if not (s is last and isinstance(s, ast.Return)))


def _has(node: ast.stmt, *kinds: type[ast.stmt]) -> bool:
    """Whether a jump of these kinds, out of the statement, is in it."""
    if isinstance(node, kinds):
        return True
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return False
    within = isinstance(node, _LOOPS) and ast.Return not in kinds
    parts = node.orelse if within else _parts(node)  # type: ignore[attr-defined]
    return any(_has(part, *kinds) for part in parts)


def _parts(node: ast.stmt) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for field in ("body", "orelse", "finalbody"):
        found.extend(getattr(node, field, ()))
    for handler in getattr(node, "handlers", ()):
        found.extend(handler.body)
    for case in getattr(node, "cases", ()):
        found.extend(case.body)
    return found


def _without_returns(body: Body) -> Body:
    first = body[0]
    start = statements(f"{_RETURNED} = False\n{RESULT} = ag__.Undefined('return value')", first)
    end = statements(f"return {RESULT}", body[-1])
    return [*start, *_Jumps(_RETURNED, (ast.Return,), _returned).block(body), *end]


def _returned(node: ast.stmt) -> Body:
    made = statements(f"{_RETURNED} = True\n{RESULT} = None", node)
    if isinstance(node, ast.Return) and node.value is not None:
        made[1].value = node.value
    return made


# ---- one kind of jump ------------------------------------------------------------------------


class _Jumps:
    """Replaces jumps of some kinds in blocks.

    Args:
      flag: the name of what says that a jump was made.
      kinds: the kinds.
      replaced: gives the statements for a jump.
    """

    def __init__(
        self, flag: str, kinds: tuple[type[ast.stmt], ...], replaced: Callable[[ast.stmt], Body]
    ) -> None:
        self._flag, self._kinds, self._replaced = flag, kinds, replaced

    def block(self, body: Sequence[ast.stmt]) -> Body:
        done: Body = []
        for index, node in enumerate(body):
            if isinstance(node, self._kinds):
                return [*done, *self._replaced(node)]
            if not _has(node, *self._kinds):
                done.append(node)
                continue
            rest = list(body[index + 1 :])
            if isinstance(node, ast.If):
                return [*done, *self._conditional(node, rest)]
            return [*done, self._statement(node), *self._guarded(rest)]
        return done

    def _conditional(self, node: ast.If, rest: Body) -> Body:
        if _always(node.body, self._kinds):
            node.orelse, rest = [*node.orelse, *rest], []
        elif _always(node.orelse, self._kinds):
            node.body, rest = [*node.body, *rest], []
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return [node, *self._guarded(rest)]

    def _guarded(self, rest: Body) -> Body:
        if not rest:
            return []
        (made,) = statements(f"if not {self._flag}:\n    pass", rest[0])
        made.body = self.block(rest)
        return [made]

    def _statement(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, _LOOPS) and ast.Return in self._kinds:
            # Leaving the loop is what is left to do there; the flag is seen after it.
            node.body = _Leaving(self._replaced).block(node.body)
            node.orelse = self.block(node.orelse)
            return node
        for field in ("body", "orelse", "finalbody"):
            if getattr(node, field, None):
                setattr(node, field, self.block(getattr(node, field)))
        for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            part.body = self.block(part.body)
        return node


class _Leaving(_Jumps):
    """Replaces ``return`` in a loop: the flag is set, and the loop is left."""

    def __init__(self, replaced: Callable[[ast.stmt], Body]) -> None:
        super().__init__(_RETURNED, (ast.Return,), replaced)

    def block(self, body: Sequence[ast.stmt]) -> Body:
        done: Body = []
        for node in body:
            if isinstance(node, ast.Return):
                return [*done, *self._replaced(node), located(ast.Break(), node)]
            if not _has(node, ast.Return):
                done.append(node)
                continue
            done.append(self._statement(node))
            if isinstance(node, _LOOPS):
                (left,) = statements(f"if {_RETURNED}:\n    pass", node)
                left.body = [located(ast.Break(), node)]
                done.append(left)
        return done


def _always(body: Sequence[ast.stmt], kinds: tuple[type[ast.stmt], ...]) -> bool:
    """Whether a block always jumps or raises."""
    if not body:
        return False
    last = body[-1]
    if isinstance(last, (*kinds, ast.Raise)):
        return True
    if isinstance(last, ast.If):
        return _always(last.body, kinds) and _always(last.orelse, kinds)
    return isinstance(last, ast.With) and _always(last.body, kinds)


# ---- loops -----------------------------------------------------------------------------------


class _Loops:
    """Replaces ``break``, ``continue`` and ``else`` of loops, inner ones first."""

    def __init__(self, fresh: Callable[[str], str]) -> None:
        self._fresh = fresh

    def block(self, body: Sequence[ast.stmt]) -> Body:
        done: Body = []
        for node in body:
            for field in ("body", "orelse", "finalbody"):
                inner = getattr(node, field, None)
                if inner and not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                    setattr(node, field, self.block(inner))
            for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
                part.body = self.block(part.body)
            done.extend(self._loop(node) if isinstance(node, _LOOPS) else [node])
        return done

    def _loop(self, node: ast.While | ast.For) -> Body:
        before: Body = []
        after = node.orelse
        node.orelse = []
        if any(_has(s, ast.Continue) for s in node.body):
            flag = self._fresh("ag__continue")
            set_flag = _setter(flag)
            body = _Jumps(flag, (ast.Continue,), set_flag).block(node.body)
            node.body = [*statements(f"{flag} = False", node), *body]
        if any(_has(s, ast.Break) for s in node.body):
            flag = self._fresh("ag__break")
            node.body = _Jumps(flag, (ast.Break,), _setter(flag)).block(node.body)
            before = statements(f"{flag} = False", node)
            if isinstance(node, ast.While):
                test = expression(f"not {flag}", node)
                node.test = located(ast.BoolOp(ast.And(), [test, node.test]), node)
            else:
                node.extra = expression(f"not {flag}", node)  # type: ignore[attr-defined]
            if after:
                (guard,) = statements(f"if not {flag}:\n    pass", node)
                guard.body = after
                after = [guard]
        return [*before, node, *after]


def _setter(flag: str) -> Callable[[ast.stmt], Body]:
    return lambda node: statements(f"{flag} = True", node)

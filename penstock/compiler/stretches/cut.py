"""Cutting a program into stretches, and writing the program that calls them.

A stretch is a run of lines of which each can be compiled.  Before: ::

    v0 = r_w.value                      # 4
    v1 = torch.mm(f0, v0)               # 5
    v2 = sample(s0)                     # 6, draws numbers
    v3 = torch.mul(v1, v2); del v1, v2  # 7
    v4 = v3.sum(); del v3               # 8
    r_w.value.sub_(v4); del v4          # 9

the stretch 7 to 9 is given ``v1`` and ``v2``, updates ``r_w`` and gives nothing, and after: ::

    v0 = r_w.value
    v1 = torch.mm(f0, v0)
    v2 = sample(s0)
    native_0(v1, v2); del v1, v2

Everything is done on Python's syntax trees, which keep the numbers of the lines: what fails in the
program that is written, or in a stretch's own lines, is found by the same map from lines to nodes.
Lines that give another name to memory that is there (reads of variables, views of what is given)
and are used after the stretch stand before the call once more.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from penstock.compiler.codegen.source import Source
from penstock.compiler.stretches.lines import Line, Program, parse

# A stretch of fewer lines than this, reads of variables not counted, saves no more than it costs.
FEWEST_LINES = 4


@dataclass(frozen=True)
class Stretch:
    """Lines that become one call.

    Args:
      first, last: numbers of its lines.
      given: locals that it is given, in the order of their first use.
      resources, constants: globals that it uses.
      gives: locals that are used after it, and made by it alone.
      released: those of ``given`` that nothing needs after it.
      repeated: numbers of the lines that stand before the call as well.
    """

    first: int
    last: int
    given: tuple[str, ...]
    resources: tuple[str, ...]
    constants: tuple[str, ...]
    gives: tuple[str, ...]
    released: tuple[str, ...]
    repeated: tuple[int, ...]


def cut(program: Program, refused: Collection[int] = ()) -> list[Stretch]:
    """The stretches of a program.

    Args:
      program: its lines.
      refused: numbers of lines that cannot be compiled for other reasons than their ops' traits.
    """
    lines = program.lines
    found: list[Stretch] = []
    begin = 0
    for end, line in enumerate(lines):
        if line.compiles and line.number not in refused:
            continue
        found += _stretch(program, begin, end)
        begin = end + 1
    return found


def _stretch(program: Program, begin: int, end: int) -> list[Stretch]:
    """The stretch of these lines, if it is worth a call."""
    lines = program.lines
    while begin < end and lines[begin].reads_variable and not _used_in(lines, begin, end):
        begin += 1
    inside, after = lines[begin:end], lines[end:]
    if sum(not line.reads_variable for line in inside) < FEWEST_LINES:
        return []
    made = {name for line in inside for name in line.sets}
    local = {name for line in lines for name in line.sets} | set(program.arguments)
    used = [name for line in inside for name in sorted(line.uses, key=_by_number)]
    later = {name for line in after for name in line.uses}
    given = tuple(dict.fromkeys(n for n in used if n in local and n not in made))
    repeated = _repeated(inside, later, set(given))
    known = {name for line in repeated for name in line.sets}
    gone = {name for line in inside for name in line.released}
    outside = known | {"_"}
    return [
        Stretch(
            first=inside[0].number,
            last=inside[-1].number,
            given=given,
            resources=tuple(dict.fromkeys(n for n in used if n in program.resources)),
            constants=tuple(dict.fromkeys(n for n in used if n in program.constants)),
            gives=tuple(n for x in inside for n in x.sets if n in later and n not in outside),
            released=tuple(n for n in (*given, *sorted(known, key=_by_number)) if n in gone),
            repeated=tuple(line.number for line in repeated),
        )
    ]


def _used_in(lines: Sequence[Line], index: int, end: int) -> bool:
    """Whether a line of the rest of the stretch uses what a line sets."""
    names = set(lines[index].sets)
    return any(names & line.uses for line in lines[index + 1 : end])


def _by_number(name: str) -> tuple[int, str]:
    """Sorts ``v9`` before ``v10``."""
    return (int(name[1:]) if name[1:].isdigit() else -1, name)


def _repeated(inside: Sequence[Line], later: set[str], known: set[str]) -> list[Line]:
    """Lines that only name memory that is there before the stretch, for what comes after it."""
    names = set(known)
    reachable = []
    for line in inside:
        views = line.is_view and all(n in names or n[:1] != "v" for n in line.uses)
        if line.reads_variable or views:
            reachable.append(line)
            names.update(line.sets)
    wanted: set[str] = set(later)
    found: list[Line] = []
    for line in reversed(reachable):
        if wanted & set(line.sets):
            found.append(line)
            wanted |= line.uses
    return found[::-1]


def with_calls(source: Source, stretches: Sequence[Stretch], name: str) -> ast.Module:
    """The program in which each stretch is one call.

    Args:
      source: the program.
      stretches: of it.
      name: of the function; the calls are of ``native_0``, ``native_1`` and so on.
    """
    function = parse(source.text)
    function.name = name
    body: list[ast.stmt] = []
    for index, part in enumerate(stretches):
        before = [s for s in function.body if s.lineno < part.first]
        body += before
        inside = [s for s in function.body if part.first <= s.lineno <= part.last]
        function.body = [s for s in function.body if s.lineno > part.last]
        body += [s for s in inside if s.lineno in part.repeated and not isinstance(s, ast.Delete)]
        body += _call(part, index)
    function.body = body + function.body
    return _module(function)


def _call(part: Stretch, index: int) -> list[ast.stmt]:
    call = f"native_{index}({', '.join(part.given)})"
    text = f"{', '.join(part.gives)}, = {call}" if part.gives else call
    if part.released:
        text += f"; del {', '.join(part.released)}"
    return [_placed(statement, part.first) for statement in ast.parse(text).body]


def _placed(statement: ast.stmt, number: int) -> ast.stmt:
    for node in ast.walk(statement):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = number  # type: ignore[attr-defined]
    return statement


def lines_alone(source: Source, part: Stretch, name: str) -> ast.Module:
    """A function of a stretch's own lines, which takes what the call of it is given.

    Args:
      source: the program.
      part: a stretch of it.
      name: of the function.
    """
    function = parse(source.text)
    function.name = name
    function.args.args = [ast.arg(given) for given in part.given]
    function.body = [s for s in function.body if part.first <= s.lineno <= part.last]
    gives = ", ".join(part.gives) + ("," if part.gives else "")
    result = parse(f"def f(): return ({gives})").body[0]
    return _module(function, [_placed(result, part.last)])


def with_notes(source: Source, name: str) -> ast.Module:
    """The program that calls ``note(name, value)`` of each local as it is set.

    Args:
      source: the program.
      name: of the function.
    """
    function = parse(source.text)
    body: list[ast.stmt] = []
    for argument in function.args.args:
        body += _note(argument.arg, function.lineno)
    for statement in function.body:
        body.append(statement)
        if isinstance(statement, ast.Assign):
            stored = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
            for node in stored:
                if isinstance(node.ctx, ast.Store) and node.id != "_":
                    body += _note(node.id, statement.lineno)
    function.name, function.body = name, body
    return _module(function)


def _note(name: str, number: int) -> list[ast.stmt]:
    return [_placed(s, number) for s in ast.parse(f"note({name!r}, {name})").body]


def _module(function: ast.FunctionDef, more: Sequence[ast.stmt] = ()) -> ast.Module:
    whole = copy.copy(function)
    whole.body = [*function.body, *more]
    return ast.fix_missing_locations(ast.Module([whole], type_ignores=[]))

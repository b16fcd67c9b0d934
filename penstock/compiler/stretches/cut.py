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

Lines of a loop's body and of a branch are cut like those at the top; what a stretch there gives is
whatever any other line of the program uses, the next round's among them.

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
from penstock.compiler.stretches.lines import Line, Program, blocks, may_compile, parse

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


def may_be_cut(source: Source) -> bool:
    """Whether a program has as many lines that may be compiled as a stretch needs."""
    count = 0
    for op in source.line_ops.values():
        count += may_compile(op)
        if count == FEWEST_LINES:
            return True
    return False


def cut(program: Program, refused: Collection[int] = ()) -> list[Stretch]:
    """The stretches of a program.

    Args:
      program: its lines.
      refused: numbers of lines that cannot be compiled for other reasons than their ops' traits.
    """
    found: list[Stretch] = []
    for block in program.blocks:
        begin = 0
        for end, line in enumerate(block):
            if line.compiles and line.number not in refused:
                continue
            found += _stretch(program, block, begin, end)
            begin = end + 1
        found += _stretch(program, block, begin, len(block))
    return sorted(found, key=lambda part: part.first)


def _stretch(program: Program, lines: Sequence[Line], begin: int, end: int) -> list[Stretch]:
    """The stretch of these lines of a block, if it is worth a call."""
    while begin < end and lines[begin].reads_variable and not _used_in(lines, begin, end):
        begin += 1
    inside = lines[begin:end]
    if sum(not line.reads_variable for line in inside) < FEWEST_LINES:
        return []
    first, last = inside[0].number, inside[-1].number
    made = {name for line in inside for name in line.sets}
    local = {name for line in program.lines for name in line.sets} | set(program.arguments)
    used = [name for line in inside for name in sorted(line.uses, key=_by_number)]
    elsewhere = [line for line in program.lines if not first <= line.number <= last]
    later = {name for line in elsewhere for name in line.uses}
    given = tuple(dict.fromkeys(n for n in used if n in local and n not in made))
    repeated = _repeated(inside, later, set(given))
    known = {name for line in repeated for name in line.sets}
    gone = {name for line in inside for name in line.released}
    outside = known | {"_"}
    return [
        Stretch(
            first=first,
            last=last,
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
    for block in blocks(function):
        for index, part in enumerate(stretches):
            inside = [s for s in block if part.first <= s.lineno <= part.last]
            if inside:
                at = block.index(inside[0])
                named = [s for s in inside if s.lineno in part.repeated and not _deletes(s)]
                block[at : at + len(inside)] = [*named, *_call(part, index)]
    return _module(function)


def _deletes(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Delete)


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
    every = [s for block in blocks(function) for s in block]
    function.body = [s for s in every if part.first <= s.lineno <= part.last]
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
    for block in blocks(function):
        noted = [each for statement in block for each in (statement, *_notes(statement))]
        if block is function.body:
            given = [_note(argument.arg, function.lineno) for argument in function.args.args]
            noted = [*sum(given, []), *noted]
        block[:] = noted
    function.name = name
    return _module(function)


def _notes(statement: ast.stmt) -> list[ast.stmt]:
    """The notes of what a statement sets."""
    if not isinstance(statement, ast.Assign):
        return []
    stored = [n for n in ast.walk(statement) if isinstance(n, ast.Name)]
    names = [n.id for n in stored if isinstance(n.ctx, ast.Store) and n.id != "_"]
    return [note for name in names for note in _note(name, statement.lineno)]


def _note(name: str, number: int) -> list[ast.stmt]:
    return [_placed(s, number) for s in ast.parse(f"note({name!r}, {name})").body]


def _module(function: ast.FunctionDef, more: Sequence[ast.stmt] = ()) -> ast.Module:
    whole = copy.copy(function)
    whole.body = [*function.body, *more]
    return ast.fix_missing_locations(ast.Module([whole], type_ignores=[]))

"""The Plan: every decision about a step's program, taken before a line of it is written.

For each node, in order: which values it reads, which die after it, which buffer it may overwrite,
and when a variable is read, re-read or copied.  The rules:

* A *root* is a piece of memory.  Every value has roots: its own, or, where its op declares that the
  output may share an input's memory, those of the inputs.  Feeds, constants and variable reads are
  *external* roots: memory that others hold.
* A variable is read where its first consumer stands, and again after each write.  If some value on
  that read's memory is still used after a later write of the variable, the read copies.
* A node may overwrite an input when the op says how, the input's roots are not external, and no
  value on those roots is used later.
* A fetched value on an external root, or on the root of another fetch, is copied at the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.graph.handles import handle_of, is_handle, resource_key, wants_handle, written_keys
from penstock.graph.operation import Operation
from penstock.graph.step import StepGraph
from penstock.graph.tensor import Tensor

Root = Any
END = 1 << 60


@dataclass(eq=False)
class Read:
    """One read of a variable into a local."""

    handle: Operation
    position: int
    copies: bool = False


@dataclass(eq=False)
class Line:
    """One node of the program and what was decided about it."""

    op: Operation
    position: int
    reads: list[Read] = field(default_factory=list)
    # Input position to the Read that supplies it, for inputs that are variables' values.
    read_of: dict[int, Read] = field(default_factory=dict)
    releases: list[Any] = field(default_factory=list)
    overwrites: str | None = None
    needed: list[bool] = field(default_factory=list)


@dataclass(eq=False)
class Plan:
    """The lines of a step and its fetches."""

    step: StepGraph
    lines: list[Line]
    fetch_copies: list[bool]
    # For each fetch of a variable's value directly: the Read that supplies it.
    fetch_reads: list[Read | None]


class _Planner:
    def __init__(self, step: StepGraph) -> None:
        self.step = step
        self.lines: list[Line] = []
        self.current_read: dict[tuple[str, str], Read] = {}
        self.writes: dict[tuple[str, str], list[int]] = {}
        self.roots: dict[Any, frozenset[Root]] = {}
        self.external: set[Root] = set()
        self.last_use: dict[Root, int] = {}
        self.fetch_reads: list[Read | None] = []
        self.all_reads: list[Read] = []

    def plan(self) -> Plan:
        for op in self.step.operations:
            if not is_silent(op):
                self.lines.append(self._line(op))
            else:
                self._note_silent(op)
        self._fetches()
        self._use_counts()
        self._decide_copies()
        self._decide_releases()
        self._decide_overwrites()
        return Plan(self.step, self.lines, self._fetch_copies(), self.fetch_reads)

    def _note_silent(self, op: Operation) -> None:
        for tensor in op.outputs:
            self.roots[tensor] = frozenset([tensor])
            self.external.add(tensor)

    def _line(self, op: Operation) -> Line:
        position = len(self.lines)
        line = Line(op, position)
        wants = wants_handle(op)
        for index, tensor in enumerate(op._inputs):
            if is_handle(tensor) and not wants[index]:
                line.read_of[index] = self._read(tensor, position, line)
        self._output_roots(line)
        for key in written_keys(op):
            self.writes.setdefault(key, []).append(position)
            self.current_read.pop(key, None)
        return line

    def _read(self, tensor: Tensor, position: int, line: Line | None) -> Read:
        handle = handle_of(tensor)
        key = resource_key(handle)
        read = self.current_read.get(key)
        if read is None:
            read = self.current_read[key] = Read(handle, position)
            self.roots[read] = frozenset([read])
            self.external.add(read)
            self.all_reads.append(read)
            if line is not None:
                line.reads.append(read)
        return read

    def _output_roots(self, line: Line) -> None:
        op = line.op
        shared: set[Root] = set()
        names = op.op_def.aliases
        if names:
            by_position = _positions_by_name(op)
            for name in names:
                for index in by_position[name]:
                    value = line.read_of.get(index) or op._inputs[index]
                    if not (isinstance(value, Tensor) and is_handle(value)):
                        shared |= self.roots.get(value, frozenset())
        state_roots: set[Root] = set()
        for name in op.op_def.reads:
            # The output is the state's own memory: a read like any other.
            for tensor in _as_list(op.inputs_by_name()[name]):
                if is_handle(tensor) and name in op.op_def.aliases:
                    read = self._read(tensor, line.position, line)
                    state_roots |= self.roots[read]
                    line.read_of[_positions_by_name(op)[name][0]] = read
        shared |= state_roots
        for tensor in op.outputs:
            self.roots[tensor] = frozenset(shared) if shared else frozenset([tensor])

    def _fetches(self) -> None:
        for tensor in self.step.fetches:
            read = None
            if is_handle(tensor) and tensor.dtype.is_ref:
                read = self._read(tensor, len(self.lines), None)
            self.fetch_reads.append(read)

    def _use_counts(self) -> None:
        for line in self.lines:
            for index, tensor in enumerate(line.op._inputs):
                value = line.read_of.get(index) or tensor
                for root in self.roots.get(value, ()):
                    self.last_use[root] = max(self.last_use.get(root, -1), line.position)
        for tensor, read in zip(self.step.fetches, self.fetch_reads, strict=True):
            for root in self.roots.get(read or tensor, ()):
                self.last_use[root] = END

    def _decide_copies(self) -> None:
        for read in self.all_reads:
            last = self.last_use.get(read, -1)
            writes = self.writes.get(resource_key(read.handle), ())
            # A write at the line of the last use happens inside its kernel, after the read.
            read.copies = any(read.position <= w < last for w in writes)
            if read.copies:
                self.external.discard(read)

    def _decide_releases(self) -> None:
        used: dict[Any, int] = {}
        made: dict[Any, int] = {}
        for line in self.lines:
            for read in line.reads:
                made[read] = line.position
            for tensor in line.op.outputs:
                made[tensor] = line.position
            for index, tensor in enumerate(line.op._inputs):
                used[line.read_of.get(index) or tensor] = line.position
        fetched = set(self.step.fetches) | {r for r in self.fetch_reads if r is not None}
        consumed = set(used) | fetched
        for line in self.lines:
            line.needed = [t in consumed for t in line.op.outputs]
        for value, position in used.items():
            if value not in fetched and value in made and not _is_plain_handle(value):
                self.lines[position].releases.append(value)

    def _decide_overwrites(self) -> None:
        for line in self.lines:
            op = line.op
            choices = op.op_def.inplace
            if not choices or len(op.outputs) != 1:
                continue
            positions = _positions_by_name(op)
            for name, choice in choices.items():
                template = choice(op) if callable(choice) else choice
                if template is not None and self._may_overwrite(line, positions[name]):
                    line.overwrites = template
                    break

    def _may_overwrite(self, line: Line, positions: list[int]) -> bool:
        if len(positions) != 1 or positions[0] in line.read_of:
            return False
        op = line.op
        tensor = op._inputs[positions[0]]
        output = op.outputs[0]
        if tensor.dtype is not output.dtype or not _same_size(op, tensor, output):
            return False
        roots = self.roots.get(tensor, frozenset())
        if not roots or roots & self.external:
            return False
        if any(self.last_use.get(r, -1) > line.position for r in roots):
            return False
        if len(roots) != 1:
            return False
        # The same memory must not also come in through another operand.
        others = [
            self.roots.get(line.read_of.get(i) or t, frozenset())
            for i, t in enumerate(op._inputs)
            if i != positions[0]
        ]
        return not any(roots & other for other in others) and _is_whole(tensor)

    def _fetch_copies(self) -> list[bool]:
        seen: set[Root] = set()
        copies = []
        for tensor, read in zip(self.step.fetches, self.fetch_reads, strict=True):
            roots = self.roots.get(read or tensor, frozenset())
            copies.append(bool(roots & self.external) or bool(roots & seen))
            seen |= roots
        return copies


def is_silent(op: Operation) -> bool:
    """Whether the node needs no line: constants, feeds and resource handles are globals or args."""
    if op.type in ("Const", "_Feed"):
        return True
    definition = op.op_def
    if definition.kernel is not None or definition.template is not None:
        return False  # it begins its state anew in each step
    return definition.state is not None and bool(op.outputs) and is_handle(op.outputs[0])


def _is_plain_handle(value: Any) -> bool:
    return isinstance(value, Tensor) and is_handle(value)


def _is_whole(tensor: Tensor) -> bool:
    """Whether the value is its root itself, not a (possibly broadcast or partial) view of it."""
    return not tensor.op.op_def.aliases or bool(tensor.op.op_def.inplace)


def _same_size(op: Operation, tensor: Tensor, output: Tensor) -> bool:
    """Whether the output certainly has the input's shape."""
    if len(op._inputs) == 1:
        return True
    mine = tensor._dims
    if mine is None:
        return all(t is tensor or t._dims == () for t in op._inputs)
    if mine == output._dims and None not in mine:
        return True
    for other in op._inputs:
        dims = other._dims
        if other is tensor:
            continue
        if dims is None or len(dims) > len(mine):
            return False
        for own, theirs in zip(mine[len(mine) - len(dims) :], dims, strict=True):
            if theirs != 1 and (theirs is None or own != theirs):
                return False
    return True


def _positions_by_name(op: Operation) -> dict[str, list[int]]:
    result: dict[str, list[int]] = {}
    position = 0
    for name, value in op.inputs_by_name().items():
        count = len(value) if isinstance(value, list) else 1
        result[name] = list(range(position, position + count))
        position += count
    return result


def _as_list(value: Any) -> list[Tensor]:
    return value if isinstance(value, list) else [value]


def make_plan(step: StepGraph) -> Plan:
    """Takes every decision about the program of ``step``."""
    return _Planner(step).plan()

"""The Plan: every decision about a step's program, taken before a line of it is written.

For each node, in order: which values it reads, which die after it, which buffer it may overwrite,
and when a variable is read, re-read or copied.  The rules:

* A *root* is a piece of memory.  Every value has roots: its own, or, where its op declares that the
  output may share an input's memory, those of the inputs.  Feeds, constants and variable reads are
  *external* roots: memory that others hold.
* A variable is read where its first consumer stands, and again after each write.  If some value on
  that read's memory is still used after a later write of the variable, the read copies.
* What a node *keeps* (a tensor pushed on a stack) counts as used until the end of the step, and
  what a node *lends* (the tensor popped) is external: it may be anybody's memory.
* A node may overwrite an input when the op says how, the input's roots are not external, and no
  value on those roots is used later.
* A fetched value on an external root, or on the root of another fetch, is copied at the end.

A region is one line with a plan for each of its blocks.  Inside, what it is given is external; a
variable's memory never leaves it uncopied; outside, its outputs lie where its blocks' fetches do.
A loop's variable that each round only adds to is overwritten in place; what it begins with is
copied if anybody else may see it.
"""

from __future__ import annotations

from typing import Any

from penstock.compiler.codegen.lines import Line, Plan, Read, Root
from penstock.compiler.codegen.plan_blocks import Blocks
from penstock.foundation.graph.handles import (
    handle_of,
    is_handle,
    moved_keys,
    resource_key,
    wants_handle,
    written_keys,
)
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.tensor import Tensor

END = 1 << 60


class _Planner(Blocks):
    def __init__(self, step: StepGraph, owned: frozenset[Tensor]) -> None:
        self.step = step
        # Feeds that the step may overwrite.
        self.owned = owned
        self.lines: list[Line] = []
        self.current_read: dict[tuple[str, str], Read] = {}
        self.writes: dict[tuple[str, str], list[int]] = {}
        self.roots: dict[Any, frozenset[Root]] = {}
        self.external: set[Root] = set()
        self.last_use: dict[Root, int] = {}
        self.fetch_reads: list[Read | None] = []
        self.all_reads: list[Read] = []
        self.kept: set[Root] = set()

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
        self._decide_loop_copies()
        fetched = [
            self.roots.get(read or tensor, frozenset())
            for tensor, read in zip(self.step.fetches, self.fetch_reads, strict=True)
        ]
        copies = self._fetch_copies(fetched)
        reads = self.fetch_reads
        return Plan(self.step, self.lines, copies, reads, fetched, self.external, self.kept)

    @staticmethod
    def _plan_of(block: StepGraph, owned: frozenset[Tensor] = frozenset()) -> Plan:
        return _Planner(block, owned).plan()

    def _note_silent(self, op: Operation) -> None:
        for tensor in op.outputs:
            self.roots[tensor] = frozenset([tensor])
            if tensor not in self.owned:
                self.external.add(tensor)

    def _line(self, op: Operation) -> Line:
        position = len(self.lines)
        line = Line(op, position)
        wants = wants_handle(op)
        for index, tensor in enumerate(op.inputs):
            if is_handle(tensor) and not wants[index]:
                line.read_of[index] = self._read(tensor, position, line)
        if blocks_of(op):
            line.blocks = [self._plan_of(block) for block in blocks_of(op)]
            if op.op_def.role == "loop":
                self._overwrite_sums(line)
            self._region_roots(line)
        else:
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
                    value = line.read_of.get(index) or op.inputs[index]
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
            if op.op_def.lends:
                self.external.add(tensor)

    # ---- regions -----------------------------------------------------------------------------

    # ---- the whole step ----------------------------------------------------------------------

    def _fetches(self) -> None:
        for tensor in self.step.fetches:
            read = None
            if is_handle(tensor) and tensor.dtype.is_ref:
                read = self._read(tensor, len(self.lines), None)
            self.fetch_reads.append(read)

    def _use_counts(self) -> None:
        for line in self.lines:
            for index, tensor in enumerate(line.op.inputs):
                value = line.read_of.get(index) or tensor
                for root in self.roots.get(value, ()):
                    self.last_use[root] = max(self.last_use.get(root, -1), line.position)
            self._use_kept(line)
        self.last_use.update(dict.fromkeys(self.kept, END))
        for tensor, read in zip(self.step.fetches, self.fetch_reads, strict=True):
            for root in self.roots.get(read or tensor, ()):
                self.last_use[root] = END

    def _use_kept(self, line: Line) -> None:
        names = line.op.op_def.keeps
        positions = _positions_by_name(line.op) if names else {}
        for name in names:
            for index in positions[name]:
                value = line.read_of.get(index) or line.op.inputs[index]
                self.kept.update(self.roots.get(value, ()))

    def _decide_copies(self) -> None:
        moved = moved_keys(self.step.every_operation())
        for read in self.all_reads:
            if resource_key(read.handle) in moved and not self._is_viewed(read):
                continue  # it keeps the memory that the variable has here, whatever that becomes
            last = self.last_use.get(read, -1)
            writes = self.writes.get(resource_key(read.handle), ())
            # A write at the line of the last use happens inside its kernel, after the read; a
            # region has lines of its own.
            read.copies = any(
                read.position <= w and (w < last or (w == last and bool(self.lines[w].blocks)))
                for w in writes
            )
            if read.copies:
                self.external.discard(read)

    def _is_viewed(self, read: Read) -> bool:
        """Whether a line has made a value of its own in the memory that was read."""
        return any(
            read in self.roots.get(tensor, ())
            for line in self.lines
            if not line.op.op_def.passes_through
            for tensor in line.op.outputs
        )

    def _decide_releases(self) -> None:
        used: dict[Any, int] = {}
        made: dict[Any, int] = {}
        for line in self.lines:
            for read in line.reads:
                made[read] = line.position
            for tensor in line.op.outputs:
                made[tensor] = line.position
            for index, tensor in enumerate(line.op.inputs):
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

    def _decide_loop_copies(self) -> None:
        """What a loop overwrites must be its own from the start."""
        for line in self.lines:
            for index in line.overwritten:
                tensor = line.op.inputs[index]
                readers = sum(op.inputs.count(tensor) for op in self.step.uses(tensor))
                own = index not in line.read_of and readers == 1
                own = own and self.roots.get(tensor) == frozenset([tensor])
                if not own or tensor in (self.external | self.kept | set(self.step.fetches)):
                    line.copied.add(index)

    def _may_overwrite(self, line: Line, positions: list[int]) -> bool:
        if len(positions) != 1 or positions[0] in line.read_of:
            return False
        op = line.op
        tensor = op.inputs[positions[0]]
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
            for i, t in enumerate(op.inputs)
            if i != positions[0]
        ]
        return not any(roots & other for other in others) and _is_whole(tensor)

    def _fetch_copies(self, fetched: list[frozenset[Root]]) -> list[bool]:
        seen: set[Root] = set()
        copies = []
        for roots in fetched:
            copies.append(bool(roots & self.external) or bool(roots & seen))
            seen |= roots
        return copies


def is_silent(op: Operation) -> bool:
    """Whether the node needs no line: constants, feeds and resource handles are globals or args."""
    definition = op.op_def
    if definition.role in ("constant", "feed"):
        return True
    if definition.kernel is not None or definition.template is not None:
        return False  # it begins its state anew in each step
    return definition.state is not None and bool(op.outputs) and is_handle(op.outputs[0])


def _is_plain_handle(value: Any) -> bool:
    return isinstance(value, Tensor) and is_handle(value)


def _is_whole(tensor: Tensor) -> bool:
    """Whether the value is its root itself, not a (possibly broadcast or partial) view of it."""
    op = tensor.op
    return not (op.op_def.aliases or blocks_of(op)) or bool(op.op_def.inplace)


def _same_size(op: Operation, tensor: Tensor, output: Tensor) -> bool:
    """Whether the output certainly has the input's shape."""
    if len(op.inputs) == 1:
        return True
    mine = tensor.sizes
    if mine is None:
        return all(t is tensor or t.sizes == () for t in op.inputs)
    if mine == output.sizes and None not in mine:
        return True
    for other in op.inputs:
        dims = other.sizes
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


def make_plan(step: StepGraph, owned: frozenset[Tensor] = frozenset()) -> Plan:
    """Takes every decision about the program of ``step``; it may overwrite the feeds ``owned``."""
    return _Planner(step, owned).plan()

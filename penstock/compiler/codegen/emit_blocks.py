"""Writing conditionals and loops: Python's ``if`` and ``while``, with the lines of their blocks.

Integer counters and the tests made of them are Python numbers (``host_numbers``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.compiler.codegen.host_numbers import Numbers, expression, literal_of
from penstock.compiler.codegen.lines import Line, Plan, Read
from penstock.compiler.codegen.plan_blocks import fed_by, returns_state
from penstock.compiler.codegen.source import (
    Source,
    Watch,
    copied,
)  # fmt: skip
from penstock.foundation.graph.tensor import Tensor


def _truth(test: Tensor, source: str) -> str:
    """A predicate, which only a run can tell for a scalar if its shape does not."""
    return source if test.sizes == () else f"scalar_truth({source})"


class Blocks:
    """The lines of conditionals and loops; a base class of what writes a program."""

    indent: str
    rounds: int
    watch: Watch
    lines: list[str]
    source: Source
    local: dict[Any, str]
    count: int
    decided: Numbers
    numbers: dict[Tensor, str]
    made: list[list[Tensor]]

    if TYPE_CHECKING:

        def _body(self, plan: Plan) -> None: ...

        def _write(self, text: str, remark: str) -> int: ...

        def _operand(self, tensor: Tensor) -> str: ...

        def _dead(self, line: Line) -> str: ...

        def _source(self, tensor: Tensor, read: Read | None) -> str: ...

        def _named_inputs(self, line: Line) -> list[tuple[str, Tensor]]: ...

        def _read_line(self, read: Read) -> None: ...

        def _observe(self, number: int, outputs: list[str]) -> None: ...

        def _observed(self, tensor: Tensor) -> str: ...

        def _new_local(self, value: Any) -> str: ...

        def _input(self, line: Line, index: int, host: bool) -> str: ...

    def _number_line(self, line: Line) -> None:
        """A node that computes with Python numbers."""
        op = line.op
        source = expression(op, [self._number(t) for t in op.inputs], self.decided)
        name = self.numbers[op.outputs[0]] = f"v{self.count}"
        self.count += 1
        number = self._write(f"{name} = {source}", op.name)
        self.source.line_ops[number] = op
        self.source.line_inputs[number] = [(self._number(t), t) for t in op.inputs]
        if self.watch == "observe":
            self._observe(number, [self._observed(op.outputs[0])])

    def _number(self, tensor: Tensor) -> str:
        """Source for the Python number that a scalar is."""
        known = self.numbers.get(tensor)
        if known is None:
            known = literal_of(tensor)
        if known is None:
            known = f"{self._operand(tensor)}.item()"
        return known

    def _region(self, line: Line) -> None:
        for read in line.reads:
            self._read_line(read)
        if line.op.op_def.role == "conditional":
            self._branch(line)
        else:
            self._loop(line)
        if self.watch == "observe":
            number = len(self.lines) + 1
            self.source.line_ops[number] = line.op
            self._observe(number, [self._observed(t) for t in line.op.outputs])
        dead = self._dead(line)
        if dead:
            self.lines.append(f"{self.indent}{dead}")

    def _head(self, line: Line, text: str) -> None:
        number = self._write(text, line.op.name)
        self.source.line_ops[number] = line.op
        self.source.line_inputs[number] = self._named_inputs(line)

    def _branch(self, line: Line) -> None:
        given = [self._input(line, index, False) for index in fed_by(line.op)]
        test = line.op.inputs[0]
        pred = self.numbers.get(test) or _truth(test, self._input(line, 0, False))
        names = [
            self._new_local(tensor) if needed else None
            for tensor, needed in zip(line.op.outputs, line.needed, strict=True)
        ]
        self._head(line, f"if {pred}:")
        then, orelse = line.blocks
        self._side(then, given, names)
        mark = len(self.lines)
        self.lines.append(f"{self.indent}else:")
        self._side(orelse, given, names)
        if self.lines[-1].strip() == "pass" and len(self.lines) == mark + 2:
            del self.lines[mark:]

    def _loop(self, line: Line) -> None:
        op = line.op
        count = len(op.outputs)
        values = self.decided.values
        given = [self._first(line, index) for index in range(count)]
        args = [self._input(line, index, False) for index in fed_by(op)[count:]]
        limits = {i: self._limit(line, i) for i in self.decided.converted.get(op, ())}
        names = []
        for tensor in op.outputs:
            names.append(self._new_local(tensor))
            if tensor in values:
                self.numbers[tensor] = self.local.pop(tensor)
        if count:
            self._head(line, f"{', '.join(names)} = {', '.join(given)}")
        if not self.rounds and self.watch != "alone":
            self.lines.append(f"{self.indent}alarm = get_alarm()")
        self.rounds += 1
        self._head(line, "while True:")
        self._open()
        if self.watch != "alone":  # nothing else ends a loop whose condition stays true
            self.lines.append(f"{self.indent}if alarm: check()")
        condition, body = line.blocks
        self._feed(condition, names + args, limits)
        self._body(condition)
        test = condition.step.fetches[0]
        pred = self.numbers.get(test) or _truth(test, self._fetch(condition, 0))
        number = self._write(f"if not {pred}: break", test.op.name)
        self.source.line_ops[number] = op
        self._feed(body, names + args, limits)
        self._body(body)
        following = [
            self._number(body.step.fetches[i]) if op.outputs[i] in values else self._fetch(body, i)
            for i in range(count)
        ]
        changed = [(n, f) for n, f in zip(names, following, strict=True) if n != f]
        if changed:
            targets, sources = (", ".join(side) for side in zip(*changed, strict=True))
            self._write(f"{targets} = {sources}", "next round")
        self._close()
        self.rounds -= 1

    def _first(self, line: Line, index: int) -> str:
        """What a loop's variable begins with."""
        tensor = line.op.inputs[index]
        if line.op.outputs[index] in self.decided.values:
            return self._number(tensor)
        source = self._input(line, index, False)
        return copied(source, tensor.dtype) if index in line.copied else source

    def _limit(self, line: Line, index: int) -> str:
        """A Python number that a loop is given, made before it."""
        tensor = line.op.inputs[index]
        source = self._number(tensor)
        if not source.endswith(".item()"):
            return source
        name = f"v{self.count}"
        self.count += 1
        self._head(line, f"{name} = {source}")
        return name

    def _side(self, plan: Plan, given: list[str], names: list[str | None]) -> None:
        """A side of a conditional; it ends by naming what it gives."""
        self._open()
        start = len(self.lines)
        self._feed(plan, given, {})
        self._body(plan)
        for index, name in enumerate(names):
            if name is not None:
                self.lines.append(f"{self.indent}{name} = {self._fetch(plan, index)}")
        if len(self.lines) == start:
            self.lines.append(f"{self.indent}pass")
        self._close()

    def _open(self) -> None:
        self.indent += "    "
        self.made.append([])

    def _close(self) -> None:
        self.indent = self.indent[:-4]
        for tensor in self.made.pop():
            del self.local[tensor]

    def _feed(self, plan: Plan, given: list[str], limits: dict[int, str]) -> None:
        for index, (feed, name) in enumerate(zip(plan.step.feeds, given, strict=True)):
            if feed in self.decided.values:
                self.numbers[feed] = name
                continue
            self.local[feed] = name
            if index in limits:
                self.numbers[feed] = limits[index]

    def _fetch(self, plan: Plan, index: int) -> str:
        """Source for what a block gives."""
        tensor, read = plan.step.fetches[index], plan.fetch_reads[index]
        if read is not None and read not in self.local:
            self._read_line(read)
        source = self._source(tensor, read)
        return copied(source, tensor.dtype) if returns_state(plan, index) else source

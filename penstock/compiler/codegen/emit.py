"""Writing the Program: one line of Python a node.

The text names globals that linking supplies: ``c<i>`` constants, ``r_<name>`` resources, ``s<i>``
private state, kernel functions by their own names, and ``torch``.  Emitting needs none of them, so
this room stays free of torch.

An *observed* program takes one more argument, ``observe``, and calls ``observe(LINE, outputs)``
after each line: the one hook behind line times, traces, memory, first-NaN searches and dumps.  It
is an argument and no global, so that threads can run one program with observers of their own.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from penstock.compiler.codegen.host_numbers import Numbers, decide_numbers, expression, literal_of
from penstock.compiler.codegen.plan import Line, Plan, Read, fed_by, is_silent, returns_state
from penstock.compiler.codegen.source import (
    Call,
    FetchSource,
    Source,
    Watch,
    as_source,
    copied,
    fill,
    host_literal,
)  # fmt: skip
from penstock.foundation.base import dtypes, errors, shapes
from penstock.foundation.graph import node_attrs
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.handles import handle_of, is_handle, resource_key
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.opdef import torch_dtype_name
from penstock.foundation.opdef.program_text import comment, identifier, literal


class _Emitter:
    def __init__(self, plan: Plan, fetch_source: FetchSource, name: str, watch: Watch) -> None:
        self.plan = plan
        self.step = plan.step
        self.block = plan.step  # whose lines are being written
        self.indent = "    "
        self.rounds = 0  # loops that are open
        self.fetch_source = fetch_source
        self.watch = watch
        self.name = name
        self.lines: list[str] = []
        self.source = Source("", {}, {}, {}, {}, {}, {}, plan.step)
        self.local: dict[Any, str] = {}
        self.count = 0
        # Python numbers by tensor, and the tensors made of them that hold in the current block.
        self.decided = decide_numbers(plan) if plan.step.has_regions else Numbers()
        self.numbers: dict[Tensor, str] = {}
        self.made: list[list[Tensor]] = [[]]
        self.constant_names: dict[Tensor, str] = {}
        self.resource_names: dict[tuple[str, str], str] = {}

    def emit(self) -> Source:
        args = []
        for index, tensor in enumerate(self.step.feeds):
            self.local[tensor] = f"f{index}"
            args.append(f"f{index}")
        if self.watch == "observe":
            args.append("observe")
        self.lines.append(f"def {self.name}({', '.join(args)}):")
        for index, tensor in enumerate(self.step.feeds):
            self.lines.append(f"    # f{index}: {comment(self._feed_label(index, tensor))}")
        self._body(self.plan)
        self._return()
        self.source.text = "\n".join(self.lines) + "\n"
        return self.source

    def _body(self, plan: Plan) -> None:
        around, self.block = self.block, plan.step
        for op in plan.step.operations:
            self._note_silent(op)
        for line in plan.lines:
            if line.blocks:
                self._region(line)
            elif line.op.outputs and line.op.outputs[0] in self.decided.values:
                self._number_line(line)
            else:
                self._line(line)
        self.block = around

    def _feed_label(self, index: int, tensor: Tensor) -> str:
        names = self.step.feed_names
        label = names[index] if index < len(names) else tensor.name
        return f"{label} {tensor.dtype.name}{shapes.format_static(tensor.sizes)}"

    def _note_silent(self, op: Operation) -> None:
        if is_silent(op) and op.outputs and is_handle(op.outputs[0]):
            self._resource_name(op)

    # ---- names of globals --------------------------------------------------------------------

    def _resource_name(self, op: Operation) -> str:
        key = resource_key(op)
        name = self.resource_names.get(key)
        if name is None:
            stem = "r_" + identifier(op.name)
            taken = self.source.resources
            name = stem
            while name in taken:
                name = f"{stem}_{len(taken)}"
            self.resource_names[key] = name
            taken[name] = op
        return name

    def _constant_name(self, tensor: Tensor) -> str:
        name = self.constant_names.get(tensor)
        if name is None:
            name = self.constant_names[tensor] = f"c{len(self.constant_names)}"
            self.source.constants[name] = tensor.op.attrs["value"]
            if node_attrs.MEMORY in tensor.op.attrs:
                self.source.memories[name] = tensor.op.attrs[node_attrs.MEMORY]
        return name

    def _body_name(self, body: FunctionGraph) -> str:
        name = f"g_{identifier(body.name)}"
        # Names that differ may give one identifier, and functions of two graphs may have one name.
        while self.source.bodies.setdefault(name, body) is not body:
            name += "_"
        return name

    # ---- lines -------------------------------------------------------------------------------

    def _write(self, text: str, remark: str) -> int:
        """Adds a line and gives its number; the remark may be any text."""
        self.lines.append(f"{self.indent + text:<74}  # {comment(remark)}")
        return len(self.lines)

    def _line(self, line: Line) -> None:
        for read in line.reads:
            self._read_line(read)
        op = line.op
        call = Call(
            op, self._arguments(line), line.needed, self.source.functions,
            self._updated_layout(op), self._layout_behind, self.block.uses,
        )  # fmt: skip
        expression = self._expression(line, call)
        targets = self._targets(line)
        if expression == "None" and not targets:
            return
        text = f"{targets} = {expression}" if targets else expression
        dead = self._dead(line)
        if dead:
            text += f"; {dead}"
        if self.watch == "deadline":
            self.lines.append(f"{self.indent}check()")
        number = self._write(text, op.name)
        self.source.line_ops[number] = op
        if self.watch == "observe":
            self._observe(number, [self._observed(t) for t in op.outputs])
        self.source.line_inputs[number] = self._named_inputs(line)
        for name, layout in call.layouts.items():
            handle = _variable_behind(call.tensors[name])
            if handle is not None:
                self.source.layouts.setdefault(self._resource_name(handle), layout)

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

    def _operand(self, tensor: Tensor) -> str:
        """Source for a value as a tensor; a Python number is made one where it is first wanted."""
        known = self.local.get(tensor)
        if known is None and tensor in self.numbers:
            dtype = torch_dtype_name(tensor.dtype)
            known = self._new_local(tensor)
            self.made[-1].append(tensor)
            self._write(
                f"{known} = torch.scalar_tensor({self.numbers[tensor]}, dtype={dtype})",
                tensor.op.name,
            )
        return self.local[tensor] if known is None else known

    def _dead(self, line: Line) -> str:
        """Lets go of what nothing needs after the line."""
        live = {self.local.get(t) for t in line.op.outputs}
        names = [self.local[v] for v in line.releases if v in self.local]
        names = [name for name in dict.fromkeys(names) if name not in live]
        return f"del {', '.join(names)}" if names else ""

    # ---- regions -----------------------------------------------------------------------------

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

    def _source(self, tensor: Tensor, read: Read | None) -> str:
        """Source for a value at the end of a step or block."""
        if tensor.op.op_def.role == "constant" and read is None:
            return self._constant_name(tensor)
        if is_handle(tensor) and read is None:
            return self._resource_name(handle_of(tensor))
        return self._operand(tensor) if read is None else self.local[read]

    # ---- parts of lines ----------------------------------------------------------------------

    def _layout_behind(self, tensor: Tensor) -> tuple[int, ...] | None:
        """Layout of the variable whose value a tensor is; () where it is none's."""
        handle = _variable_behind(tensor)
        return () if handle is None else self.source.layouts.get(self._resource_name(handle))

    def _updated_layout(self, op: Operation) -> tuple[int, ...] | None:
        """Layout of the variable that the first output is the update of."""
        for consumer in self.block.uses(op.outputs[0]) if op.outputs else ():
            if not consumer.op_def.writes:
                continue
            by_name = {n: _as_list(v) for n, v in consumer.inputs_by_name().items()}
            states = by_name[consumer.op_def.writes[0]]
            for values in by_name.values():
                if len(values) == len(states) and op.outputs[0] in values:
                    state = states[values.index(op.outputs[0])]
                    if not is_handle(state):
                        continue
                    return self.source.layouts.get(self._resource_name(handle_of(state)))
        return None

    def _named_inputs(self, line: Line) -> list[tuple[str, Tensor]]:
        pairs = []
        for index, tensor in enumerate(line.op.inputs):
            name = self.local.get(line.read_of.get(index) or tensor)
            if name is None and tensor.op.op_def.role == "constant":
                name = self.constant_names.get(tensor)
            pairs.append((name or "", tensor))
        return pairs

    def _read_line(self, read: Read) -> None:
        handle = read.handle
        name = self._new_local(read)
        value = f"{self._resource_name(handle)}.value"
        if read.copies:
            value = copied(value, handle.attrs["dtype"])
        text = f"{name} = {value}"
        number = self._write(text, f"read {handle.name}")
        self.source.line_ops[number] = handle
        if self.watch == "observe":
            self._observe(number, [name])

    def _observe(self, number: int, outputs: list[str]) -> None:
        values = ", ".join(outputs) + ("," if len(outputs) == 1 else "")
        self.lines.append(f"{self.indent}observe({number}, ({values}))")

    def _observed(self, tensor: Tensor) -> str:
        """Source for an output that has just been made, as observers see it."""
        if tensor.dtype.is_ref:
            return f"getattr({self._resource_name(handle_of(tensor))}, 'value', None)"
        if tensor in self.numbers and tensor not in self.local:
            dtype = torch_dtype_name(tensor.dtype)
            return f"torch.scalar_tensor({self.numbers[tensor]}, dtype={dtype})"
        return self.local.get(tensor, "None")

    def _new_local(self, value: Any) -> str:
        name = self.local[value] = f"v{self.count}"
        self.count += 1
        return name

    def _targets(self, line: Line) -> str:
        op = line.op
        if not op.outputs:
            return ""
        if op.op_def.has_list_output or len(op.outputs) > 1:
            if not any(line.needed):
                return ""
            return self._unpacking(line)
        output = op.outputs[0]
        if is_handle(output) or not line.needed[0]:
            return ""
        return self._new_local(output)

    def _unpacking(self, line: Line) -> str:
        """Targets for several outputs, nested where a list output stands among others."""
        groups = []
        position = 0
        for value in line.op.outputs_by_name().values():
            if isinstance(value, list):
                names = [self._target(line, position + i) for i in range(len(value))]
                # A trailing comma keeps a list of one a list.
                groups.append("(" + ", ".join(names) + ("," if len(names) == 1 else "") + ")")
                position += len(value)
            else:
                groups.append(self._target(line, position))
                position += 1
        if len(groups) == 1:
            return groups[0]
        return ", ".join(groups)

    def _target(self, line: Line, index: int) -> str:
        output = line.op.outputs[index]
        return self._new_local(output) if line.needed[index] else "_"

    def _expression(self, line: Line, call: Call) -> str:
        definition = line.op.op_def
        if line.op.refusal is not None:
            reason, error = map(literal, line.op.refusal)
            return f"{call.function(_refuse, 'refuse')}({reason}, {error})"
        if line.overwrites is not None:
            return fill(line.overwrites, call.arg)
        if definition.inline is not None:
            text = definition.inline(call)
            if text is not None:
                return text
        if definition.template is not None:
            return fill(definition.template, call.arg)
        if definition.kernel is None:
            raise LookupError(f"op {definition.name} ({line.op.name}) has no kernel")
        name = call.function(definition.kernel, definition.kernel_name.lstrip("_"))
        return f"{name}({', '.join(as_source(call.arg[p]) for p in definition.parameters)})"

    def _arguments(self, line: Line) -> dict[str, Any]:
        op = line.op
        definition = op.op_def
        result: dict[str, Any] = {}
        position = 0
        for arg in definition.inputs:
            host = arg.name in definition.host
            if arg.is_list:
                count = arg.count(op.attrs)
                result[arg.name] = [self._input(line, position + i, host) for i in range(count)]
                position += count
            else:
                result[arg.name] = self._input(line, position, host)
                position += 1
        for name in definition.parameters:
            if name not in result:
                result[name] = self._attribute(op, name)
        if definition.inline is not None or definition.inplace:
            for name in definition.attrs:
                if name not in result:
                    result[name] = self._attribute(op, name)
        return result

    def _attribute(self, op: Operation, name: str) -> str:
        if name == "state":
            key = f"s{len(self.source.states)}"
            self.source.states[key] = op
            return key
        return self._literal(op.attrs.get(name))

    def _input(self, line: Line, index: int, host: bool) -> str:
        tensor = line.op.inputs[index]
        read = line.read_of.get(index)
        if read is None and is_handle(tensor):
            return self._resource_name(handle_of(tensor))
        if read is None and tensor.op.op_def.role == "constant":
            if host:
                known = host_literal(tensor.op.attrs["value"])
                if known is not None:
                    return known
            source = self._constant_name(tensor)
        elif read is not None:
            source = self.local[read]
        elif host and tensor in self.numbers:
            return self.numbers[tensor]
        else:
            source = self._operand(tensor)
        return f"{source}.tolist()" if host else source

    def _literal(self, value: Any) -> str:
        if isinstance(value, dtypes.DType):
            return torch_dtype_name(value)
        if isinstance(value, shapes.TensorShape):
            return literal(value.sizes)
        if isinstance(value, list | tuple):
            inner = ", ".join(self._literal(v) for v in value)
            return f"[{inner}]"
        if isinstance(value, FunctionGraph):
            return self._body_name(value)
        if isinstance(value, np.ndarray):
            name = f"a{len(self.source.constants)}"
            self.source.constants[name] = value
            return name
        return literal(value)

    def _return(self) -> None:
        parts = []
        for tensor, copy, read in zip(
            self.step.fetches, self.plan.fetch_copies, self.plan.fetch_reads, strict=True
        ):
            if read is not None and read not in self.local:
                self._read_line(read)
            copy = copy and (read is not None or not is_handle(tensor))
            source = self._source(tensor, read)
            parts.append(self.fetch_source(tensor.dtype.base_dtype, source, copy, tensor.sizes))
        self.lines.append(f"    return ({', '.join(parts)}{',' if len(parts) == 1 else ''})")


def _as_list(value: Any) -> list[Tensor]:
    return value if isinstance(value, list) else [value]


def _refuse(reason: str, error: str) -> NoReturn:
    """Stands for a node whose shape rule refuses what it is given."""
    raise getattr(errors, error)(None, None, reason)


def _truth(test: Tensor, source: str) -> str:
    """A predicate, which only a run can tell for a scalar if its shape does not."""
    return source if test.sizes == () else f"scalar_truth({source})"


def _variable_behind(tensor: Tensor) -> Operation | None:
    """The variable whose value the tensor is, if it is one."""
    if is_handle(tensor):
        return handle_of(tensor)
    definition = tensor.op.op_def
    if definition.reads and definition.aliases:
        return handle_of(tensor.op.inputs[0])
    return None


def emit(plan: Plan, fetch_source: FetchSource, *, name: str, watch: Watch = "") -> Source:
    """Writes the program of ``plan``.

    Args:
      plan: the decisions.
      fetch_source: ``(dtype, source, copy, dims) -> source`` that makes what is returned.
      name: the function's name.
      watch: ``"deadline"`` calls ``check()`` before every node's line.  ``"observe"`` gives the
        function a last argument ``observe`` and calls ``observe(LINE, outputs)`` after every line
        that runs a node or reads a variable.  ``"alone"``: no session is there to end its loops.

    Returns:
      The text, with the maps that linking and error reports need.

    What an observer is given:
      ``LINE`` is the number of the line observed: ``Source.line_ops[LINE]`` is its node in the
      step graph (for a read: the variable's node) and ``Source.line_inputs[LINE]`` the operands
      (absent for reads).  ``outputs`` is flat, in the order of ``op.outputs``: torch tensors,
      NumPy object arrays for strings, and for an output that is a reference to a variable the
      variable's value.  None stands for what the program does not make (an output that nothing
      uses) or what has no value (a handle, a variable not initialized).  Constants and feeds have
      no line: ``Source.constants`` and the arguments have their values.

      The values are the program's own memory: later lines may overwrite them, and keeping one
      keeps its memory.  Copy what is to be kept, and change nothing.  What an observer raises ends
      the step and reaches the caller as it is.
    """
    return _Emitter(plan, fetch_source, name, watch).emit()

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

from penstock.compiler.codegen.emit_blocks import Blocks
from penstock.compiler.codegen.host_numbers import Numbers, decide_numbers
from penstock.compiler.codegen.lines import Line, Plan, Read
from penstock.compiler.codegen.plan import is_silent
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


class _Emitter(Blocks):
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

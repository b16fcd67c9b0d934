"""Writing the Program: one line of Python a node.

The text names globals that linking supplies: ``c<i>`` constants, ``r_<name>`` resources, ``s<i>``
private state, kernel functions by their own names, and ``torch``.  Emitting needs none of them, so
this room stays free of torch.

An *observed* program takes one more argument, ``observe``, and calls ``observe(LINE, outputs)``
after each line: the one hook behind line times, traces, memory, first-NaN searches and dumps.  It
is an argument and no global, so that threads can run one program with observers of their own.
"""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from penstock.base import dtypes, shapes
from penstock.codegen.plan import Line, Plan, Read, is_silent
from penstock.graph.function import FunctionGraph
from penstock.graph.handles import handle_of, is_handle, resource_key
from penstock.graph.operation import Operation
from penstock.graph.step import StepGraph
from penstock.graph.tensor import Tensor
from penstock.opdef.opdef import torch_dtype_name

Watch = Literal["", "deadline", "observe"]
# ``observe(line, outputs)``: what an observed program calls; see ``emit``.
Observe = Callable[[int, tuple[Any, ...]], None]
FetchSource = Callable[[dtypes.DType, str, bool, Any], str]
_LITERAL_LIMIT = 64
_FIELD = re.compile(r"\{(\w+)\}")


@dataclass(eq=False)
class Source:
    """The text of a program and what its globals must be linked to."""

    text: str
    # Line number in the text (1-based) to the node it runs.
    line_ops: dict[int, Operation]
    # Line number to (local name, tensor) of that node's inputs, for error reports.
    line_inputs: dict[int, list[tuple[str, Tensor]]]
    constants: dict[str, np.ndarray]
    resources: dict[str, Operation]
    states: dict[str, Operation]
    functions: dict[str, Callable[..., Any]]
    # The step graph that the program runs, after all passes.
    step: StepGraph
    layouts: dict[str, tuple[int, ...]] = field(default_factory=dict)
    # Functions that nodes call: linked to something that compiles and runs them.
    bodies: dict[str, FunctionGraph] = field(default_factory=dict)


class Call:
    """One node's call while its source is being chosen; what ``OpDef.inline`` is given.

    ``call.arg[name]`` is source for an input (a list of sources for a list input) or for an attr's
    literal; ``call.needed[i]`` says whether output ``i`` is used.
    """

    __slots__ = ("op", "arg", "needed", "tensors", "layouts", "result_layout", "_functions")

    def __init__(
        self,
        op: Operation,
        arg: dict[str, Any],
        needed: list[bool],
        functions: dict[str, Callable[..., Any]],
        result_layout: tuple[int, ...] | None = None,
    ) -> None:
        self.op, self.arg, self.needed = op, arg, needed
        self._functions = functions
        # The order of dims in memory of the variable that the result updates, where it is special.
        self.result_layout = result_layout
        self.layouts = dict(op.op_def.layouts)
        self.tensors = op.inputs_by_name()

    def function(self, function: Callable[..., Any], name: str | None = None) -> str:
        """Source that names a function: a global of the program, by the function's own name."""
        name = _identifier(name or function.__name__.lstrip("_"))  # `_not` is no `not`
        while self._functions.setdefault(name, function) is not function:
            name += "_"
        return name

    def prefer_layout(self, name: str, layout: tuple[int, ...]) -> None:
        """Asks that the variable behind input ``name``, if there is one, be kept so in memory."""
        self.layouts[name] = layout

    def dims(self, name: str) -> Any:
        """Static dims of an input."""
        return self.tensors[name]._dims

    def dtype(self, name: str) -> dtypes.DType:
        """Base dtype of an input."""
        base: dtypes.DType = self.tensors[name].dtype.base_dtype
        return base

    def attr(self, name: str) -> Any:
        """Plain value of an attr."""
        return self.op.attrs[name]

    def value(self, name: str) -> np.ndarray | None:
        """Value of an input that is a constant of the program, else None."""
        return _const_array(self.tensors[name])

    def out_dims(self, index: int = 0) -> Any:
        """Static dims of an output."""
        return self.op.outputs[index]._dims


class _Emitter:
    def __init__(self, plan: Plan, fetch_source: FetchSource, name: str, watch: Watch) -> None:
        self.plan = plan
        self.step = plan.step
        self.fetch_source = fetch_source
        self.watch = watch
        self.name = name
        self.lines: list[str] = []
        self.source = Source("", {}, {}, {}, {}, {}, {}, plan.step)
        self.local: dict[Any, str] = {}
        self.count = 0
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
            self.lines.append(f"    # f{index}: {self._feed_comment(index, tensor)}")
        for op in self.step.operations:
            self._note_silent(op)
        for line in self.plan.lines:
            self._line(line)
        self._return()
        self.source.text = "\n".join(self.lines) + "\n"
        return self.source

    def _feed_comment(self, index: int, tensor: Tensor) -> str:
        names = self.step.feed_names
        label = names[index] if index < len(names) else tensor.name
        return f"{label} {tensor.dtype.name}{shapes.format_static(tensor._dims)}"

    def _note_silent(self, op: Operation) -> None:
        if is_silent(op) and op.outputs and is_handle(op.outputs[0]):
            self._resource_name(op)

    # ---- names of globals --------------------------------------------------------------------

    def _resource_name(self, op: Operation) -> str:
        key = resource_key(op)
        name = self.resource_names.get(key)
        if name is None:
            stem = "r_" + _identifier(op.name)
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
        return name

    # ---- lines -------------------------------------------------------------------------------

    def _line(self, line: Line) -> None:
        for read in line.reads:
            self._read_line(read)
        op = line.op
        call = Call(
            op, self._arguments(line), line.needed, self.source.functions, self._updated_layout(op)
        )
        expression = self._expression(line, call)
        targets = self._targets(line)
        if expression == "None" and not targets:
            return
        text = f"{targets} = {expression}" if targets else expression
        dead = [self.local[v] for v in line.releases if v in self.local]
        live_targets = {self.local.get(t) for t in op.outputs}
        dead = [d for d in dict.fromkeys(dead) if d not in live_targets]
        if dead:
            text += "; del " + ", ".join(dead)
        if self.watch == "deadline":
            self.lines.append("    check()")
        self.lines.append(f"    {text:<70}  # {op.name}")
        number = len(self.lines)
        self.source.line_ops[number] = op
        if self.watch == "observe":
            self._observe(number, [self._observed(t) for t in op.outputs])
        self.source.line_inputs[number] = self._named_inputs(line)
        for name, layout in call.layouts.items():
            handle = _variable_behind(call.tensors[name])
            if handle is not None:
                self.source.layouts.setdefault(self._resource_name(handle), layout)

    def _updated_layout(self, op: Operation) -> tuple[int, ...] | None:
        """Layout of the variable that the first output is the update of."""
        for consumer in op.outputs[0]._consumers if op.outputs else ():
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
        for index, tensor in enumerate(line.op._inputs):
            name = self.local.get(line.read_of.get(index) or tensor)
            if name is None and tensor.op.type == "Const":
                name = self.constant_names.get(tensor)
            pairs.append((name or "", tensor))
        return pairs

    def _read_line(self, read: Read) -> None:
        handle = read.handle
        name = self._new_local(read)
        copy = ".clone()" if read.copies else ""
        text = f"{name} = {self._resource_name(handle)}.value{copy}"
        self.lines.append(f"    {text:<70}  # read {handle.name}")
        number = len(self.lines)
        self.source.line_ops[number] = handle
        if self.watch == "observe":
            self._observe(number, [name])

    def _observe(self, number: int, outputs: list[str]) -> None:
        values = ", ".join(outputs) + ("," if len(outputs) == 1 else "")
        self.lines.append(f"    observe({number}, ({values}))")

    def _observed(self, tensor: Tensor) -> str:
        """Source for an output that has just been made, as observers see it."""
        if tensor.dtype.is_ref:
            return f"getattr({self._resource_name(handle_of(tensor))}, 'value', None)"
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
        if line.overwrites is not None:
            return _fill(line.overwrites, call.arg)
        if definition.inline is not None:
            text = definition.inline(call)
            if text is not None:
                return text
        if definition.template is not None:
            return _fill(definition.template, call.arg)
        if definition.kernel is None:
            raise LookupError(f"op {definition.name} ({line.op.name}) has no kernel")
        name = call.function(definition.kernel, definition.kernel_name.lstrip("_"))
        return f"{name}({', '.join(_as_source(call.arg[p]) for p in definition.parameters)})"

    def _arguments(self, line: Line) -> dict[str, Any]:
        op = line.op
        definition = op.op_def
        result: dict[str, Any] = {}
        position = 0
        for arg in definition.inputs:
            host = arg.name in definition.host
            if arg.is_list:
                count = arg.count(op.attrs)
                result[arg.name] = [
                    self._input(line, position + i, host) for i in range(count)
                ]
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
        tensor = line.op._inputs[index]
        read = line.read_of.get(index)
        if read is None and is_handle(tensor):
            return self._resource_name(handle_of(tensor))
        if read is None and tensor.op.type == "Const":
            if host:
                literal = _host_literal(tensor.op.attrs["value"])
                if literal is not None:
                    return literal
            source = self._constant_name(tensor)
        else:
            source = self.local[read or tensor]
        return f"{source}.tolist()" if host else source

    def _literal(self, value: Any) -> str:
        if isinstance(value, dtypes.DType):
            return torch_dtype_name(value)
        if isinstance(value, shapes.TensorShape):
            return repr(value._dims)
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if isinstance(value, list | tuple):
            inner = ", ".join(self._literal(v) for v in value)
            return f"[{inner}]"
        if isinstance(value, FunctionGraph):
            name = f"g_{_identifier(value.name)}"
            self.source.bodies[name] = value
            return name
        if isinstance(value, np.ndarray):
            name = f"a{len(self.source.constants)}"
            self.source.constants[name] = value
            return name
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return repr(value)
        raise TypeError(f"attr value {value!r} cannot be written into a program")

    def _return(self) -> None:
        parts = []
        for tensor, copy, read in zip(
            self.step.fetches, self.plan.fetch_copies, self.plan.fetch_reads, strict=True
        ):
            if read is not None and read not in self.local:
                self._read_line(read)
            if tensor.op.type == "Const" and read is None:
                source = self._constant_name(tensor)
            elif is_handle(tensor) and read is None:
                source, copy = self._resource_name(handle_of(tensor)), False
            else:
                source = self.local[read or tensor]
            parts.append(self.fetch_source(tensor.dtype.base_dtype, source, copy, tensor._dims))
        self.lines.append(f"    return ({', '.join(parts)}{',' if len(parts) == 1 else ''})")


def _as_list(value: Any) -> list[Tensor]:
    return value if isinstance(value, list) else [value]


def _variable_behind(tensor: Tensor) -> Operation | None:
    """The variable whose value the tensor is, if it is one."""
    if is_handle(tensor):
        return handle_of(tensor)
    definition = tensor.op.op_def
    if definition.reads and definition.aliases:
        return handle_of(tensor.op._inputs[0])
    return None


def _fill(template: str, arg: dict[str, Any]) -> str:
    return _FIELD.sub(lambda m: _as_source(arg[m.group(1)]), template)


def _as_source(value: Any) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, list) else value


def _identifier(name: str) -> str:
    text = re.sub(r"\W", "_", name)
    return f"{text}_" if keyword.iskeyword(text) else text


def _const_array(tensor: Any) -> np.ndarray | None:
    return tensor.op.attrs["value"] if tensor.op.type == "Const" else None


def _host_literal(array: np.ndarray) -> str | None:
    if array.size > _LITERAL_LIMIT or array.dtype.kind not in "biuf":
        return None
    value = array.tolist()
    if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
        return None
    return repr(value)


def emit(plan: Plan, fetch_source: FetchSource, *, name: str, watch: Watch = "") -> Source:
    """Writes the program of ``plan``.

    Args:
      plan: the decisions.
      fetch_source: ``(dtype, source, copy, dims) -> source`` that makes what is returned.
      name: the function's name.
      watch: ``"deadline"`` calls ``check()`` before every node's line.  ``"observe"`` gives the
        function a last argument ``observe`` and calls ``observe(LINE, outputs)`` after every line
        that runs a node or reads a variable.

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

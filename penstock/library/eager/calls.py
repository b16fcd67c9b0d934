"""How an operation is called eagerly: one short function for each (op type, attrs, dtypes).

The function hands the kernel what a generated program would: torch tensors, Python numbers of
``host`` inputs, resources, attrs.  The op type's shape rule looks at each combination of shapes
once; a kernel that accepts what the rule refuses is not believed.

State: of a call, the shapes that were looked at, and the state of its own (a random stream).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import torch

from penstock.compiler.codegen import source
from penstock.engine.resources import threads
from penstock.engine.resources.pending import storage_uses
from penstock.engine.resources.variable import Variable
from penstock.engine.runtime.program import InferenceMode, attr_value
from penstock.engine.runtime.words import in_tensorflows_words
from penstock.foundation.base import dtypes, errors
from penstock.foundation.graph.function import FunctionGraph
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.operation import Operation, infer_shapes
from penstock.foundation.graph.solve import output_types
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import RefusedAtBuild, broadcast, first_input
from penstock.foundation.opdef.opdef import OpDef
from penstock.foundation.opdef.program_text import literal
from penstock.foundation.opdef.registry import OPS
from penstock.library.eager.recorders import recorders, tell
from penstock.library.eager.tensor import EagerTensor

Compile = Callable[[FunctionGraph], Any]
# Where the operations that shape rules look at are made; it keeps none of them.
RULES = Graph()
# Numbers of elements between which kernels may split what one thread does sooner.
_LEAST_SPLIT, _MOST_ALONE = 512, 1 << 15


class Call:
    """A way to call one op type with one set of attrs.

    Args:
      op_def: the op type.
      attrs: all of them.
      types: the dtypes of the outputs.
      count: how many flat inputs there are.
      compile: makes callables of functions among the attrs.
    """

    __slots__ = (
        "op_def", "attrs", "types", "compile", "function", "checked", "single", "written",
        "_groups", "entry",
    )  # fmt: skip

    def __init__(
        self,
        op_def: OpDef,
        attrs: dict[str, Any],
        types: Sequence[dtypes.DType],
        count: int,
        compile: Compile,
    ) -> None:
        self.op_def, self.attrs, self.types, self.compile = op_def, attrs, tuple(types), compile
        # By the shapes: whether the kernel is to run on the calling thread alone.
        self.checked: dict[Any, bool] = {}
        self.single = len(op_def.outputs) == 1 and not op_def.has_list_output
        self._groups = [arg.count(attrs) if arg.is_list else -1 for arg in op_def.outputs]
        places, flat = places_of(op_def, attrs)
        self.written = tuple(places[name][0] for name in op_def.writes if places.get(name))
        given, expression, scope = _source(op_def, attrs, places, flat, count, compile)
        self.function: Callable[..., Any] = eval(f"lambda {given}: {expression}", scope)
        # The way from tensors to the tensor, where nothing but a kernel stands between; it tells
        # who listens.
        self.entry = _entry(self, given, expression, scope) if self._is_plain(flat) else None

    def _is_plain(self, flat: int) -> bool:
        op_def = self.op_def
        touches = self.written or (op_def.reads and op_def.aliases)
        handles = {dtypes.resource, dtypes.variant}.intersection(_input_types(op_def, self.attrs))
        return bool(flat and self.single and not touches and not handles)

    def run(self, inputs: Sequence[Any], run_values: Sequence[Any]) -> Any:
        """What the kernel returns for run-time values.

        Args:
          inputs: the tensors, for the shape rule.
          run_values: their values.

        Raises:
          tf.errors.OpError: the kernel fails, or the shape rule refuses the inputs.
        """
        try:
            seen = tuple([v.shape for v in run_values])
        except AttributeError:  # resources have none
            seen = tuple([getattr(v, "shape", None) for v in run_values])
        refused = None
        alone = self.checked.get(seen)
        if alone is None:
            refused = self.refusal(inputs)
            if refused is not None and self.written:
                raise refused
        for place in self.written:
            unshare(run_values[place])
        guard = InferenceMode(True)
        team = threads.settle() if alone else 1
        mkl = threads.resize(1) if team > 1 else 0
        try:
            result = self.function(*run_values)
        except errors.OpError:
            raise
        except Exception as raised:
            raise self.error(raised, run_values) from raised
        finally:
            if team > 1:
                threads.restore(team, mkl)
            del guard
        if refused is not None:
            raise refused
        if alone is None:
            self.checked[seen] = threads.CAN_RESIZE and _is_small(run_values)
        return result

    def flat(self, result: Any) -> list[Any]:
        """The values of the outputs, in order."""
        if not self.types:
            return []
        groups = [result] if len(self._groups) == 1 else list(result)
        found: list[Any] = []
        for group, count in zip(groups, self._groups, strict=True):
            found.extend(group) if count >= 0 else found.append(group)
        return found

    def refusal(self, inputs: Sequence[Any]) -> errors.OpError | None:
        """What the shape rule has against inputs, or None."""
        name = self.op_def.name
        shown = [_as_nodes(t) for t in inputs]
        op = Operation(RULES, self.op_def, name, shown, (), self.attrs, self.types, None)
        try:
            infer_shapes(op)
        except ValueError as error:
            cause = error.__cause__
            if isinstance(cause, RefusedAtBuild):
                kind = cause.at_run
                return None if kind is None else _made(kind, cause.run_message, self.op_def)
            return _made("InvalidArgumentError", str(cause or error), self.op_def)
        if op.refusal is None:
            return None
        return _made(op.refusal.error, op.refusal.reason, self.op_def)

    def error(self, raised: Exception, run_values: Sequence[Any]) -> errors.OpError:
        """What a kernel's exception is in TensorFlow's words."""
        if isinstance(raised, AttributeError) and isinstance(raised.obj, Variable):
            name = raised.obj.name
            return _made(
                "FailedPreconditionError",
                f"Error while reading resource variable {name} from Container: localhost. This"
                f" could mean that the variable was uninitialized.: {name!r} has no value",
                self.op_def,
            )
        given = [tuple(getattr(value, "shape", None) or ()) for value in run_values]
        kind = "InvalidArgumentError"
        if isinstance(raised, NotImplementedError):
            kind = "UnimplementedError"
        elif isinstance(raised, MemoryError):
            kind = "ResourceExhaustedError"
        reason = in_tensorflows_words(str(raised), given)
        if reason == "ZeroDivisionError":  # all that torch says
            reason = "Integer division by zero"
        return _made(kind, reason, self.op_def)


@functools.cache
def _sourceless() -> Operation:
    """What stands for the operation of a tensor that has none."""
    return Operation(RULES, OPS["Placeholder"], "input", (), (), {}, (), None)


def _is_small(run_values: Sequence[Any]) -> bool:
    """Whether a team of threads would wait for each other longer than it computes."""
    elements = sum(v.numel() for v in run_values if isinstance(v, torch.Tensor))
    return _LEAST_SPLIT < elements < _MOST_ALONE


def _as_nodes(tensor: Any) -> Any:
    """A tensor as a shape rule sees one of a graph: with a name, its dims and its value."""
    if hasattr(tensor, "handle_op"):
        return tensor
    made = Tensor(_sourceless(), 0, tensor.dtype)
    made.sizes = None if tensor.dtype in (dtypes.resource, dtypes.variant) else tensor.sizes
    if tensor.value is not None and made.sizes is not None and tensor.dtype.is_numpy_compatible:
        made.static_value = tensor.static_value
    return made


def _made(kind: str, reason: str, op_def: OpDef) -> errors.OpError:
    made: errors.OpError = getattr(errors, kind)(None, None, f"{reason} [Op:{op_def.name}]")
    return made


def places_of(op_def: OpDef, attrs: dict[str, Any]) -> tuple[dict[str, list[int]], int]:
    """The flat positions of each input by name, and how many there are."""
    places: dict[str, list[int]] = {}
    position = 0
    for arg in op_def.inputs:
        count = arg.count(attrs) if arg.is_list else 1
        places[arg.name] = list(range(position, position + count))
        position += count
    return places, position


def _source(
    op_def: OpDef,
    attrs: dict[str, Any],
    places: dict[str, list[int]],
    flat: int,
    count: int,
    compile: Compile,
) -> tuple[str, str, dict[str, Any]]:
    """The parameters and the body of the function of a call, and what the body names.

    All names are those of the definition; attrs come in as values.
    """
    if flat != count:
        raise RuntimeError(f"{op_def.name} was given {count} inputs; its attrs say {flat}")
    if op_def.kernel is None and op_def.template is None:
        raise NotImplementedError(
            f"{op_def.name} is not supported when eager execution is enabled: it has a meaning in"
            " a graph only"
        )
    scope: dict[str, Any] = {"live": _live, "torch": torch}
    arguments = parameters_of(op_def, attrs, places, scope, compile, {})
    given = ", ".join(f"x{i}" for i in range(flat))
    inputs = [Tensor(_sourceless(), 0, t) for t in _input_types(op_def, attrs)]
    types = output_types(op_def, attrs)
    op = Operation(RULES, op_def, op_def.name, inputs, (), attrs, types, None)
    return given, expression_of(op, arguments, scope), scope


def parameters_of(
    op_def: OpDef,
    attrs: dict[str, Any],
    places: dict[str, list[int]],
    scope: dict[str, Any],
    compile: Compile,
    kept: dict[int, Any],
) -> dict[str, Any]:
    """Source for each parameter of a kernel, by its name.

    Args:
      op_def, attrs: of the operation.
      places: the flat positions of each input.
      scope: gets what the source names.
      compile: makes callables of functions among the attrs.
      kept: the values of those inputs that are always the same, by position.
    """
    lists = {arg.name for arg in op_def.inputs if arg.is_list}
    arguments: dict[str, Any] = {}
    for name in places:
        made = [_operand(op_def, name, i, kept) for i in places[name]]
        arguments[name] = made if name in lists else made[0]
    for name in dict.fromkeys((*op_def.parameters, *(op_def.attrs if op_def.inline else ()))):
        if name not in places:
            scope[f"a_{name}"] = _parameter(op_def, name, attrs, compile)
            arguments[name] = f"a_{name}"
    return arguments


def expression_of(op: Operation, arguments: dict[str, Any], scope: dict[str, Any]) -> str:
    """The source of a call, as a program would have it for what is known of the inputs."""
    op_def = op.op_def
    if op_def.inline is not None:
        text = op_def.inline(source.Call(op, arguments, [True] * len(op.outputs), scope))
        if text is not None:
            return text
    if op_def.template is not None:
        return source.fill(op_def.template, arguments)
    scope["kernel"] = op_def.kernel
    return f"kernel({', '.join(source.as_source(arguments[p]) for p in op_def.parameters)})"


def _input_types(op_def: OpDef, attrs: dict[str, Any]) -> list[dtypes.DType]:
    found: list[dtypes.DType] = []
    for arg in op_def.inputs:
        if arg.type_list_attr is not None:
            found.extend(attrs[arg.type_list_attr])
        else:
            found.extend([arg.dtype or attrs[arg.type_attr or ""]] * arg.count(attrs))
    return found


_ENTRY = """\
def entry({tensors}):
    {given} = {values}
    if checked.get(({shapes},)) is not False:
        result = call.run(({tensors}), ({given}))
    else:
        guard = InferenceMode(True)
        try:
            result = {expression}
        except OpError:
            raise
        except Exception as raised:
            raise call.error(raised, ({given})) from raised
        finally:
            del guard
    made = new(EagerTensor)
    made.value = result
    made.dtype = dtype
    if recorders.active:
        tell(call, ({tensors}), (made,))
    return made
"""
# Shapes of numbers that broadcast, or that the result has, are looked at by the kernel itself, and
# by the rule when that fails.  The guard would take a quarter of its time, and is for kernels that
# change what they made.
_BARE_ENTRY = """\
def entry({tensors}):
    {given} = {values}
    try:
        result = {expression}
    except Exception as raised:
        raise call.refusal(({tensors})) or call.error(raised, ({given})) from raised
    made = new(EagerTensor)
    made.value = result
    made.dtype = dtype
    if recorders.active:
        tell(call, ({tensors}), (made,))
    return made
"""
_ONE_CALL_OF_ATEN: dict[Any, re.Pattern[str]] = {
    broadcast: re.compile(r"torch\.[a-z0-9]+\(x0, x1\)"),
    first_input: re.compile(r"torch\.[a-z0-9]+\(x0\)"),
}
# The same kernels, without looking for keywords.
_OPERATORS = {
    "torch.add(x0, x1)": "x0 + x1",
    "torch.sub(x0, x1)": "x0 - x1",
    "torch.mul(x0, x1)": "x0 * x1",
}


def _entry(
    call: Call, given: str, expression: str, scope: dict[str, Any]
) -> Callable[..., EagerTensor]:
    """A call as one function: what ``run`` does for shapes that need no more thought."""
    names = given.split(", ")
    op_def = call.op_def
    bare = _ONE_CALL_OF_ATEN.get(op_def.shape)
    is_bare = bare is not None and bare.fullmatch(expression) and not op_def.aliases
    text = (_BARE_ENTRY if is_bare else _ENTRY).format(
        tensors="".join(f"t_{name}, " for name in names),
        given="".join(f"{name}, " for name in names),
        values="".join(f"t_{name}.value, " for name in names),
        shapes=", ".join(f"{name}.shape" for name in names),
        expression=_OPERATORS.get(expression, expression),
    )
    scope = {
        **scope, "call": call, "checked": call.checked, "dtype": call.types[0],
        "InferenceMode": InferenceMode, "OpError": errors.OpError, "EagerTensor": EagerTensor,
        "new": object.__new__, "recorders": recorders, "tell": tell,
    }  # fmt: skip
    exec(text, scope)
    entry: Callable[..., EagerTensor] = scope["entry"]
    return entry


def _operand(op_def: OpDef, name: str, index: int, kept: dict[int, Any]) -> str:
    if index in kept:
        return literal(kept[index].tolist()) if name in op_def.host else f"k{index}"
    if name in op_def.host:
        return f"x{index}.tolist()"
    if name in op_def.reads and name in op_def.aliases:
        return f"live(x{index})"
    return f"x{index}"


def _live(variable: Any) -> Any:
    """The memory of a variable, which ``unshare`` leaves to who has it; strings are copied."""
    value = variable.value
    return value.detach() if isinstance(value, torch.Tensor) else value.copy()


def unshare(resource: Any) -> None:
    """Gives a variable memory of its own, where a tensor that was read still has its memory."""
    if not isinstance(resource, Variable) or not resource.initialized:
        return
    value = resource.value
    if isinstance(value, torch.Tensor):
        # One use is the variable's, one that of the storage's Python object here.
        if storage_uses(value.untyped_storage()) > 2:
            with torch.inference_mode():
                resource.value = value.clone()


def _parameter(op_def: OpDef, name: str, attrs: dict[str, Any], compile: Compile) -> Any:
    if name == "state":
        if op_def.state is None:
            raise LookupError(f"op {op_def.name} has no state")
        made = {k: compile(v) if isinstance(v, FunctionGraph) else v for k, v in attrs.items()}
        return op_def.state(made, op_def.name)
    value = attrs.get(name)
    return compile(value) if isinstance(value, FunctionGraph) else attr_value(value)

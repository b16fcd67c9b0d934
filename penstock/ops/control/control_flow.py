"""The primitives of control flow: what ``tf.cond`` and ``tf.while_loop`` are made of.

Op types and their meaning are those of the dataflow papers.  A ``Switch`` hands its data to one of
its two outputs and leaves the other *dead*; a node with a dead input does not run and is dead
itself, until a ``Merge`` takes the one input that lives.  ``Enter`` brings a value into a *frame*,
the run of a loop; ``NextIteration`` hands it to the next round, ``Exit`` out of the frame.  A loop
is therefore a cycle: of a loop's ``Merge`` the first input is an ``Enter``, the second a
``NextIteration``, put there by ``Operation._update_input`` once the body stands.

No kernel is here.  Lowering recovers ``if`` and ``while`` from the structure, and the dataflow
executor interprets what does not nest.

Each type has a twin for references (``RefSwitch``): what comes out stands for the same variable.  A
resource handle passes through the plain ones.  ``graph.handles`` sees through both.

Gradients belong to constructs, not to nodes: they are in ``autodiff``.
"""

from __future__ import annotations

import sys
from typing import Any

from penstock.foundation.base import errors, shapes
from penstock.foundation.graph import nest
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices, SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext, first_input, no_outputs
from penstock.foundation.opdef.kinds import Control
from penstock.ops.array import nodes, shape

# ---- shape rules -------------------------------------------------------------------------------


def _switch_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("pred", 0)
    dims = ctx["data"]
    return [dims, dims]


def _merge_shape(ctx: ShapeContext) -> list[Dims]:
    # A round of a loop may give what it likes until the back edge is there: ``tf.while_loop`` puts
    # the Enter in its place and checks the shape when it closes the loop.
    return [shapes.common_static(ctx["inputs"]), ()]


def _enter_shape(ctx: ShapeContext) -> Dims:
    """Only of a constant is the shape that of every round; ``enter`` says more where it can."""
    dims: Dims = ctx["data"]
    return dims if ctx.attr("is_constant") else None


def _loop_cond_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("input", 0)
    return ()


# ---- definitions -------------------------------------------------------------------------------

_ENTER = [
    "T: type", "frame_name: string", "is_constant: bool = False",
    "parallel_iterations: int = 10",
]  # fmt: skip
_MERGE = ["T: type", "N: int >= 1"]

# Kind, op type, signature (``{T}`` is the type, with ``Ref()`` around it for the twin), attrs, the
# rules of both.
_ROWS: tuple[tuple[Control, str, str, list[str], Any, Any], ...] = (
    ("switch", "Switch", "data: {T}, pred: bool -> output_false: {T}, output_true: {T}",
     ["T: type"], _switch_shape, _switch_shape),
    ("merge", "Merge", "inputs: N * {T} -> output: {T}, value_index: int32", _MERGE,
     _merge_shape, _merge_shape),
    ("enter", "Enter", "data: {T} -> output: {T}", _ENTER, _enter_shape, first_input),
    ("exit", "Exit", "data: {T} -> output: {T}", ["T: type"], first_input, first_input),
    ("next", "NextIteration", "data: {T} -> output: {T}", ["T: type"], first_input, first_input),
)  # fmt: skip

for _kind, _name, _signature, _attrs, _rule, _ref_rule in _ROWS:
    _carried = "inputs" if _kind == "merge" else "data"
    define_op(
        _name, _signature.format(T="T"), attrs=_attrs, shape=_rule, aliases=(_carried,),
        control=_kind, moves=True,
    )  # fmt: skip
    define_op(
        f"Ref{_name}", _signature.format(T="Ref(T)"), attrs=_attrs, shape=_ref_rule,
        aliases=(_carried,), control=_kind, moves=True,
    )  # fmt: skip

define_op(
    "LoopCond", "input: bool -> output: bool", shape=_loop_cond_shape, aliases=("input",),
    control="test",
)  # fmt: skip

define_op(
    "ControlTrigger", "->", shape=no_outputs, kernel="None", no_gradient="it has no inputs",
    control="trigger",
)  # fmt: skip


def _abort(error_msg: str, exit_without_error: bool) -> None:
    """Ends the program as far as a library may: an error, or the interpreter's exit."""
    if exit_without_error:
        sys.exit(0)
    raise errors.AbortedError(None, None, error_msg or "an Abort node was run")


define_op(
    "Abort",
    "->",
    attrs=['error_msg: string = ""', "exit_without_error: bool = False"],
    shape=no_outputs,
    kernel=_abort,
    effect=True,
    no_gradient="it has no inputs",
)


# ---- functions ---------------------------------------------------------------------------------


def enter(
    data: Tensor,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Tensor:
    """Brings ``data`` into the frame ``frame_name``.

    Args:
      data: a tensor.
      frame_name: the frame; all that enter one loop name the same.
      is_constant: whether every round sees this value; else the first alone.
      parallel_iterations: how many rounds may overlap.
      use_ref: whether a reference enters as one.
      use_input_shape: whether the static shape of ``data`` is that of what comes out.
    """
    op_type = "RefEnter" if use_ref and data.dtype.is_ref else "Enter"
    made: Tensor = make(
        op_type, data, name=name, frame_name=frame_name, is_constant=is_constant,
        parallel_iterations=parallel_iterations,
    )  # fmt: skip
    if use_input_shape:
        made.set_shape(data.shape)
    return made


def exit_(data: Tensor, name: str | None = None) -> Tensor:
    """Hands ``data`` out of the frame it is in."""
    return make("RefExit" if data.dtype.is_ref else "Exit", data, name=name)


def next_iteration(data: Tensor, name: str | None = None) -> Tensor:
    """Hands ``data`` to the next round of the loop it is in."""
    op_type = "RefNextIteration" if data.dtype.is_ref else "NextIteration"
    return make(op_type, data, name=name)


def identity(data: Tensor, name: str | None = None) -> Tensor:
    """``data`` by a node of its own; a reference stays one."""
    return make("RefIdentity" if data.dtype.is_ref else "Identity", data, name=name)


def loop_cond(input: Tensor, name: str | None = None) -> Tensor:
    """Marks ``input`` as what says whether a loop goes on."""
    return make("LoopCond", input, name=name)


def control_trigger(name: str | None = None) -> Operation:
    """An operation that does nothing and runs even after dead ones: a place for control edges."""
    return make("ControlTrigger", name=name)


def abort(
    error_msg: str = "", exit_without_error: bool = False, name: str | None = None
) -> Operation:
    """An operation that ends the step with ``tf.errors.AbortedError``, or the program."""
    return make("Abort", name=name, error_msg=error_msg, exit_without_error=exit_without_error)


def switch(data: Any, pred: Any, dtype: Any = None, name: str | None = None) -> tuple[Any, Any]:
    """``data`` at the output that ``pred`` chooses; the other is dead.

    Args:
      data: a tensor, IndexedSlices or SparseTensor.
      pred: a bool scalar.
      dtype: element type for a value that is converted.

    Returns:
      ``(output_false, output_true)``, each the same kind of value as ``data``.
    """
    with name_scope(name, "Switch", [data, pred]) as scope:
        if not isinstance(data, IndexedSlices | SparseTensor):
            data = convert_to_tensor(data, dtype, name="data", as_ref=True)
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return tuple(make("Switch", data, pred, name=scope))  # type: ignore[return-value]
        pairs = [make("Switch", part, pred) for part in parts_of(data)]
        no, yes = (with_parts(data, [p[i] for p in pairs]) for i in (0, 1))
        return no, yes


def merge(inputs: Any, name: str | None = None) -> tuple[Any, Tensor]:
    """The one of ``inputs`` that is not dead, and its index.

    Args:
      inputs: tensors, or values of several tensors of one kind; tensors among IndexedSlices become
        such.

    Returns:
      ``(output, value_index)``.

    Raises:
      ValueError: an input is None, or only some of the slices know their dense shape.
      TypeError: a mix of kinds.
    """
    if any(item is None for item in inputs):
        raise ValueError(f"merge takes values; one of its inputs is None: {inputs}")
    with name_scope(name, "Merge", list(inputs)) as scope:
        values = [
            v if isinstance(v, IndexedSlices | SparseTensor) else convert_to_tensor(v, as_ref=True)
            for v in inputs
        ]
        if all(isinstance(v, Tensor) for v in values):
            by_ref = all(v.dtype.is_ref for v in values)
            return tuple(make("RefMerge" if by_ref else "Merge", values, name=scope))  # type: ignore[return-value]
        if all(isinstance(v, IndexedSlices | Tensor) for v in values):
            values = as_indexed_slices_list(values, optimize=False)
        kinds = {(type(v), len(parts_of(v))) for v in values}
        if len(kinds) != 1:
            raise TypeError(f"merge takes values of one kind; found {values}")
        merged = [make("Merge", list(parts)) for parts in zip(*map(parts_of, values), strict=True)]
        return with_parts(values[0], [m[0] for m in merged]), merged[0][1]


# ---- what rooms above give ---------------------------------------------------------------------

_GIVEN: dict[str, Any] = {}


def give_conditional(cond: Any) -> None:
    """Gives the families of ops ``tf.cond``, which is built on them."""
    _GIVEN["cond"] = cond


def conditional() -> Any:
    """``tf.cond``, or None before it is given."""
    return _GIVEN.get("cond")


def give_loops(map_fn: Any, foldl: Any) -> None:
    """Gives the families of ops ``tf.map_fn`` and ``tf.foldl``."""
    _GIVEN.update(map_fn=map_fn, foldl=foldl)


def loop(name: str) -> Any:
    """``tf.map_fn`` or ``tf.foldl``, by its name."""
    return _GIVEN[name]


# ---- values of several tensors -----------------------------------------------------------------


def parts_of(value: Any) -> list[Tensor]:
    """The tensors of an IndexedSlices or SparseTensor, in TF's order; of a tensor, itself."""
    return nest.components(value) if nest.is_composite(value) else [value]


def with_parts(like: Any, parts: list[Any]) -> Any:
    """A value of the kind of ``like`` from other tensors."""
    return nest.like(like, parts) if nest.is_composite(like) else parts[0]


def as_indexed_slices(value: Any, optimize: bool = True) -> IndexedSlices:
    """``value`` as IndexedSlices: of a tensor, all its rows.

    Args:
      value: a tensor or IndexedSlices.
      optimize: whether a statically known shape becomes a constant.
    """
    if isinstance(value, IndexedSlices):
        return value
    dims = shape.shape_internal(value, optimize=optimize)
    rows = make("Range", 0, dims[0], 1, name="range")
    return IndexedSlices(value, rows, dims)


def as_indexed_slices_list(values: list[Any], optimize: bool = True) -> list[IndexedSlices]:
    """All ``values`` as IndexedSlices whose indices have one dtype, int64 where they differ."""
    made = [as_indexed_slices(v, optimize) for v in values]
    kinds = {v.indices.dtype for v in made}
    if len(kinds) == 1:
        return made
    return [
        v if v.indices.dtype.name == "int64"
        else IndexedSlices(v.values, nodes.cast(v.indices, "int64"), v.dense_shape)
        for v in made
    ]  # fmt: skip

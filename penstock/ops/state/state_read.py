"""Reading variables in the graph: their values, their shapes, and whether they have a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from penstock.foundation.opdef import define_op, static
from penstock.foundation.opdef.inference import (
    ShapeContext,
    scalar,
)
from penstock.ops.state.state import check_handle_dtype, state_dims


def _read_shape(ctx: ShapeContext) -> Any:
    check_handle_dtype(ctx)
    return state_dims(ctx.tensor("resource"))


define_op(
    "ReadVariableOp",
    "resource: resource -> value: dtype",
    attrs=["dtype: type"],
    shape=_read_shape,
    # The plan reads the variable for an op that both reads and aliases: this is that value.
    kernel="{resource}",
    reads=("resource",),
    aliases=("resource",),
    stateful=True,
    gradient=lambda op, grad: grad,
    moves=True,
    role="read",
)


define_op(
    "IsVariableInitialized",
    "ref: Ref(dtype) -> is_initialized: bool",
    attrs=["dtype: type"],
    shape=scalar,
    kernel="torch.tensor({ref}.initialized)",
    reads=("ref",),
    stateful=True,
    no_gradient="not a function of the value",
    on_host=True,
    moves=True,
    role="initialized",
)


define_op(
    "VarIsInitializedOp",
    "resource: resource -> is_initialized: bool",
    shape=scalar,
    kernel="torch.tensor({resource}.initialized)",
    reads=("resource",),
    stateful=True,
    no_gradient="not a function of the value",
    on_host=True,
    role="initialized",
)


def _shape_of_state(ctx: ShapeContext) -> tuple[int | None]:
    dims = state_dims(ctx.tensor("input"))
    return (None if dims is None else len(dims),)


def _fold_shape_of_state(ctx: ShapeContext, handle: Any) -> np.ndarray | None:
    dims = state_dims(ctx.tensor("input"))
    if dims is None or None in dims:
        return None
    return np.array(dims, ctx.attr("out_type").as_numpy_dtype)


def _variable_shape(input: Any, out_type: Any) -> torch.Tensor:
    return torch.tensor(tuple(input.value.shape), dtype=out_type)


define_op(
    "VariableShape",
    "input: resource -> output: out_type",
    attrs=["out_type: {int32, int64} = int32"],
    shape=_shape_of_state,
    kernel=_variable_shape,
    fold=_fold_shape_of_state,
    reads=("input",),
    stateful=True,
    no_gradient="a shape does not depend on the values",
    on_host=True,
)


static.partial_value("VariableShape")(lambda ctx: state_dims(ctx.tensor("input")))


def _initialized_or(ref: Any, initial_value: Any) -> Any:
    if not ref.initialized:
        return initial_value.clone() if isinstance(initial_value, torch.Tensor) else initial_value
    value = ref.value
    return value.clone() if isinstance(value, torch.Tensor) else value.copy()


for _name, _handle, _type in (
    ("_InitializedValue", "ref: Ref(T)", "T"),
    ("_ResourceInitializedValue", "ref: resource", "T"),
):
    define_op(
        _name,
        f"{_handle}, initial_value: {_type} -> output: {_type}",
        attrs=["T: type"],
        shape=lambda ctx: ctx["initial_value"],
        kernel=_initialized_or,
        reads=("ref",),
        role="initialized",
        stateful=True,
        no_gradient="only initial values are made of it",
        internal=True,
    )


define_op(
    "_RankOfValue",
    "value: T -> rank: int32",
    attrs=["T: type"],
    shape=scalar,
    kernel="torch.tensor(len({value}.shape), dtype=torch.int32)",
    stateful=True,
    no_gradient="a rank does not depend on the values",
    internal=True,
)

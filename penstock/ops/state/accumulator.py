"""Conditional accumulators in the graph; the state is in ``resources.accumulator``.

The dense ops have two forms, rows of one table: those of ``ResourceConditionalAccumulator`` name
their accumulator by a resource handle, the older ones by a reference to a string, which is also the
form of the sparse ones.  Taking may wait for another step: it is *blocking*.
"""

from __future__ import annotations

from typing import Any

import torch

from penstock.engine.resources.accumulator import Accumulator, DenseAccumulator, SparseAccumulator
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import no_outputs, scalar, unknown
from penstock.foundation.opdef.shared_state import SharedState
from penstock.ops.state.state import NUMBERS

_NO_GRADIENT = "accumulates gradients between steps"
_DTYPE = f"dtype: {NUMBERS}"
_HOLDER = [
    _DTYPE,
    "shape: shape",
    'container: string = ""',
    'shared_name: string = ""',
    'reduction_type: {"MEAN", "SUM"} = "MEAN"',
]


def _of_attrs(kind: type[Accumulator], attrs: dict[str, Any], name: str) -> Accumulator:
    dtype = getattr(torch, attrs["dtype"].name)
    return kind(name, dtype, attrs["shape"].sizes, attrs["reduction_type"] == "MEAN")


def _make_dense(attrs: dict[str, Any], name: str) -> Accumulator:
    return _of_attrs(DenseAccumulator, attrs, name)


def _make_sparse(attrs: dict[str, Any], name: str) -> Accumulator:
    return _of_attrs(SparseAccumulator, attrs, name)


def _apply(handle: DenseAccumulator, local_step: int, gradient: torch.Tensor) -> None:
    handle.apply(local_step, gradient)


def _apply_sparse(
    handle: SparseAccumulator,
    local_step: int,
    gradient_indices: torch.Tensor,
    gradient_values: torch.Tensor,
    gradient_shape: list[int],
    has_known_shape: bool,
) -> None:
    shape = tuple(gradient_shape) if has_known_shape else None
    handle.apply(local_step, gradient_indices, gradient_values, shape)


def _three_unknown(ctx: Any) -> Any:
    return [None, None, None]


def _define(
    name: str, signature: str, attrs: list[str], shape: Any, kernel: Any, **traits: Any
) -> None:
    define_op(
        name,
        signature,
        attrs=attrs,
        shape=shape,
        kernel=kernel,
        # As in TensorFlow; without the flag, what an op reads and writes keeps it in its place.
        stateful="-> handle" in signature or "resource" in signature,
        no_gradient=_NO_GRADIENT,
        **traits,
    )


for _name, _handle, _make in (
    ("ConditionalAccumulator", "Ref(string)", _make_dense),
    ("SparseConditionalAccumulator", "Ref(string)", _make_sparse),
    ("ResourceConditionalAccumulator", "resource", _make_dense),
):
    _define(
        _name,
        f"-> handle: {_handle}",
        _HOLDER,
        lambda ctx: (2,),
        None,
        state=SharedState("accumulator", _make),
    )

for _prefix, _handle in (("", "Ref(string)"), ("Resource", "resource")):
    _define(
        f"{_prefix}AccumulatorApplyGradient",
        f"handle: {_handle}, local_step: int64, gradient: dtype ->",
        [_DTYPE],
        no_outputs,
        _apply,
        host=("local_step",),
        writes=("handle",),
    )
    _define(
        f"{_prefix}AccumulatorTakeGradient",
        f"handle: {_handle}, num_required: int32 -> average: dtype",
        [_DTYPE],
        unknown,
        "{handle}.take({num_required})",
        host=("num_required",),
        writes=("handle",),
        blocking=True,
    )
    _define(
        f"{_prefix}AccumulatorSetGlobalStep",
        f"handle: {_handle}, new_global_step: int64 ->",
        [],
        no_outputs,
        "{handle}.set_global_step({new_global_step})",
        host=("new_global_step",),
        writes=("handle",),
    )
    _define(
        f"{_prefix}AccumulatorNumAccumulated",
        f"handle: {_handle} -> num_accumulated: int32",
        [],
        scalar,
        "torch.tensor({handle}.count, dtype=torch.int32)",
        reads=("handle",),
    )

_define(
    "SparseAccumulatorApplyGradient",
    "handle: Ref(string), local_step: int64, gradient_indices: int64, gradient_values: dtype,"
    " gradient_shape: int64 ->",
    [_DTYPE, "has_known_shape: bool"],
    no_outputs,
    _apply_sparse,
    host=("local_step", "gradient_shape"),
    writes=("handle",),
)
_define(
    "SparseAccumulatorTakeGradient",
    "handle: Ref(string), num_required: int32 -> indices: int64, values: dtype, shape: int64",
    [_DTYPE],
    _three_unknown,
    "{handle}.take({num_required})",
    host=("num_required",),
    writes=("handle",),
    blocking=True,
)

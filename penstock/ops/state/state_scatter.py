"""Updates of parts of variables: scatter by rows, by index tuples, by slices; gathers from handles.

Repeated indices apply in turn, as in TF.  Indices out of range are an InvalidArgumentError; ATen's
kernels check them, so a good step pays for no check of ours.  One table row makes each op in both
styles, by reference (lock-free unless ``use_locking``) and by resource (always under the lock).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors, shapes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import Scatter
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext
from penstock.ops.array import join, nodes, reshape, row_sums, shape, slicing
from penstock.ops.array.gather import BAD_INDICES
from penstock.ops.array.scatter import check_sides
from penstock.ops.state.state import NUMBERS, apart, state_dims

UPDATE = "an update of state; gradients are taken with respect to the variable's value"
# ATen neither indexes nor adds these; the same bits as signed numbers wrap alike.
_SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}


# ---- combining rows ------------------------------------------------------------------------------


def _rows_set(target: Any, indices: torch.Tensor, updates: Any) -> None:
    if isinstance(target, np.ndarray):
        check_range(indices, target.shape[0])
        for index, row in zip(indices.tolist(), updates):
            target[index] = row
        return
    target.index_copy_(0, indices.long(), updates)


def _parts(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Complex numbers as pairs: ATen multiplies by its alpha, and makes nan of an infinity's 0."""
    if not tensors[0].is_complex():
        return tensors
    return tuple(torch.view_as_real(t.resolve_conj()) for t in tensors)


def _rows_add(target: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
    target, updates = _parts(target, updates)
    row_sums.add_rows(target, indices, updates)


def _rows_sub(target: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
    if target.dtype is torch.bool:  # the difference of two is true where they differ
        flips = target.to(torch.int8).index_add_(0, indices, updates.to(torch.int8))
        target.copy_(flips.bitwise_and_(1))
        return
    if target.dtype is torch.uint8:
        # alpha=-1 does not fit the type.
        target, updates = target.view(torch.int8), updates.view(torch.int8)
    target, updates = _parts(target, updates)
    row_sums.subtract_rows(target, indices, updates)


def _in_turn(function: Callable[..., torch.Tensor]) -> Callable[..., None]:
    """Combines by any function: all rows at once where none repeats, else one after another."""

    def combine(target: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
        check_range(indices, target.shape[0])
        updates = apart(target, updates)
        places = indices.tolist()
        if len(set(places)) == len(places):
            index = indices.long()
            target.index_copy_(0, index, function(target.index_select(0, index), updates))
            return
        for place, row in zip(places, updates):
            target[place] = function(target[place], row)

    return combine


def _rows_div(target: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor) -> None:
    if target.dtype in _SIGNED:
        check_range(indices, target.shape[0])
        np.floor_divide.at(target.numpy(), indices.numpy(), updates.numpy())
        return
    _truncating_div(target, indices, updates)


def _divide(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    whole = not (left.is_floating_point() or left.is_complex())
    return torch.div(left, right, rounding_mode="trunc" if whole else None)


_truncating_div = _in_turn(_divide)


_COMBINE: dict[str, Callable[..., None]] = {
    "Update": _rows_set,
    "Add": _rows_add,
    "Sub": _rows_sub,
    "Mul": _in_turn(torch.mul),
    "Div": _rows_div,
    "Min": _in_turn(torch.minimum),
    "Max": _in_turn(torch.maximum),
}


def check_range(indices: torch.Tensor, size: int) -> None:
    bad = (indices < 0) | (indices >= size)
    if bool(bad.any()):
        position = int(bad.nonzero()[0, 0])
        raise errors.invalid(
            f"indices[{position}] = {int(indices[position])} is not in [0, {size})"
        )


def _scatter(state: Any, indices: torch.Tensor, updates: Any, combine: Callable[..., None]) -> None:
    """Combines ``updates`` into the rows ``indices`` of a variable."""
    target = state.value
    if 0 in target.shape:  # ATen does not look at the indices
        check_range(indices.reshape(-1), target.shape[0])
    if indices.dim() != 1:
        indices = indices.reshape(-1)
    count = indices.shape[0]
    if isinstance(target, np.ndarray):
        rows = (
            np.broadcast_to(updates, (count, *target.shape[1:]))
            if updates.ndim == 0
            else (updates.reshape(count, *target.shape[1:]))
        )
        combine(target, indices, rows)
        return
    if updates.dim() == 0:
        updates = updates.expand(count, *target.shape[1:])
    elif updates.shape != (count, *target.shape[1:]):
        updates = updates.reshape(count, *target.shape[1:])
    # Rows are written one by one, so even the variable itself must be apart.
    updates = updates.clone() if updates is target else apart(target, updates)
    if target.dtype in _SIGNED and combine is not _rows_div:
        signed = _SIGNED[target.dtype]
        target, updates = target.view(signed), updates.contiguous().view(signed)
    try:
        combine(target, indices, updates)
    except (IndexError, RuntimeError):
        check_range(indices, target.shape[0])
        # ATen also refuses, before it writes, updates that lie in the variable's memory.
        separate = apart(target, updates)
        if separate is updates:
            raise
        combine(target, indices, separate)


def _check_whole(held: Any, indices: Any, updates: Any) -> None:
    """Holds updates by reference to their shape; by resource, their number of elements counts."""
    if updates and tuple(updates) != (*indices, *held[1:]):
        raise ValueError(
            "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], got"
            f" updates.shape {list(updates)}, indices.shape {list(indices)}, params.shape"
            f" {list(held)}"
        )


def _add_rows(state: Any, indices: torch.Tensor, updates: torch.Tensor) -> None:
    try:
        if 0 in state.value.shape or state.value.is_complex():
            raise IndexError
        row_sums.add_rows(state.value, indices, updates)
    except (IndexError, RuntimeError):
        _scatter(state, indices, updates, _rows_add)


def _subtract_rows(state: Any, indices: torch.Tensor, updates: torch.Tensor) -> None:
    try:
        if 0 in state.value.shape or state.value.is_complex():
            raise IndexError
        row_sums.subtract_rows(state.value, indices, updates)
    except (IndexError, RuntimeError):
        _scatter(state, indices, updates, _rows_sub)


def _traced_add(state: Any, indices: Any, updates: Any) -> None:
    # They may lie in the variable's memory: what is computed is read before it writes, and torch's
    # compiler leaves out a copy.
    row_sums.by_scattering(state.value, indices, updates.neg().neg())


def _traced_subtract(state: Any, indices: Any, updates: Any) -> None:
    row_sums.by_scattering(state.value, indices, updates.neg())


_add_rows.traced = _traced_add  # type: ignore[attr-defined]
_subtract_rows.traced = _traced_subtract  # type: ignore[attr-defined]


def _inline_rows(function: Callable[..., None]) -> Callable[[Any], str | None]:
    """The common case: rows of floats whose shapes fit as they stand; ATen refuses the rest."""

    def inline(call: Any) -> str | None:
        var, rows, updates = (call.dims(n) for n in ("ref", "indices", "updates"))
        if var is None or rows is None or updates is None or call.attr("use_locking"):
            return None
        if not call.dtype("updates").is_floating or len(rows) != 1 or None in updates:
            return None
        if updates != (*rows, *var[1:]):
            return None
        arguments = ", ".join(call.arg[n] for n in ("ref", "indices", "updates"))
        return f"{call.function(function)}({arguments})"

    return inline


_INLINE = {"Add": _inline_rows(_add_rows), "Sub": _inline_rows(_subtract_rows)}


def _scatter_nd(
    state: Any, indices: torch.Tensor, updates: Any, combine: Callable[..., None]
) -> None:
    """Combines ``updates`` into the parts of a variable that index tuples name."""
    target = state.value
    _check_parts(target.shape, indices.shape, updates.shape)
    depth = indices.shape[-1]
    tuples = indices.reshape(math.prod(indices.shape[:-1]), depth)
    if isinstance(target, np.ndarray):
        rows = updates.reshape(tuples.shape[0], *target.shape[depth:])
        for place, row in zip(tuples.tolist(), rows):
            check_tuple(place, target.shape)
            target[tuple(place)] = row
        return
    sizes = torch.tensor(target.shape[:depth], dtype=tuples.dtype, device=tuples.device)
    bad = ((tuples < 0) | (tuples >= sizes)).any(dim=1)
    if bool(bad.any()):
        check_tuple(tuples[int(bad.nonzero()[0, 0])].tolist(), target.shape)
    strides = torch.ones_like(sizes)
    for i in range(depth - 2, -1, -1):
        strides[i] = strides[i + 1] * sizes[i + 1]
    rest = target.shape[depth:]
    if target.dtype in _SIGNED:
        signed = _SIGNED[target.dtype]
        target, updates = target.view(signed), updates.contiguous().view(signed)
    flat = target.reshape(math.prod(target.shape[:depth]), *rest)
    rows = updates.reshape(tuples.shape[0], *rest)
    combine(flat, (tuples * strides).sum(dim=1).to(tuples.dtype), apart(target, rows))
    if flat.data_ptr() != target.data_ptr():
        # A variable kept in another physical order has no flat view.
        target.copy_(flat.reshape(target.shape))


def _check_parts(held: Any, indices: Any, updates: Any) -> None:
    """Holds the shapes that a step finds against each other; a reshape would take others."""
    if not indices or not 1 <= indices[-1] <= len(held):
        raise ValueError(
            f"indices of shape {list(indices)} name no parts of a variable of shape {list(held)}"
        )
    wanted = (*indices[:-1], *held[indices[-1] :])
    if tuple(updates) != tuple(wanted):
        raise ValueError(
            f"updates has shape {list(updates)}; indices of shape {list(indices)} into a variable"
            f" of shape {list(held)} take {list(wanted)}"
        )
    if 0 in held and 0 not in indices:
        raise ValueError(f"a variable of shape {list(held)} has no places to write to")


def check_tuple(place: list[int], shape: Any) -> None:
    if any(not 0 <= index < size for index, size in zip(place, shape)):
        raise errors.invalid(f"index {place} is not within a variable of shape {list(shape)}")


# ---- shape rules ---------------------------------------------------------------------------------


def _check_rows(held: Any, indices: Any, updates: Any) -> Any:
    if held is not None and len(held) < 1:
        raise ValueError("the variable must have rank at least 1; it is a scalar")
    if updates == () or None in (held, indices, updates):
        return held
    wanted = (*indices, *held[1:])
    if not shapes.is_compatible_static(updates, wanted):
        raise ValueError(
            f"updates has shape {shapes.format_static(updates)}; indices of shape"
            f" {shapes.format_static(indices)} into a variable of shape"
            f" {shapes.format_static(held)} take {shapes.format_static(wanted)}"
        )
    return held


def _check_tuples(held: Any, indices: Any, updates: Any) -> Any:
    check_sides(indices, updates, held)
    if None in (held, indices, updates) or indices[-1] is None:
        return held
    depth = indices[-1]
    if depth > len(held):
        raise ValueError(f"index tuples of length {depth} are too long for rank {len(held)}")
    wanted = (*indices[:-1], *held[depth:])
    if not shapes.is_compatible_static(updates, wanted):
        raise ValueError(
            f"updates has shape {shapes.format_static(updates)}; indices of shape"
            f" {shapes.format_static(indices)} into a variable of shape"
            f" {shapes.format_static(held)} take {shapes.format_static(wanted)}"
        )
    return held


# ---- the table -----------------------------------------------------------------------------------


def _kernels(apply: Callable[..., None], combine: Callable[..., None], name: str) -> Any:
    def by_reference(ref: Any, indices: Any, updates: Any, use_locking: bool) -> None:
        if apply is _scatter:
            _check_whole(ref.value.shape, indices.shape, updates.shape)
        if not use_locking:
            apply(ref, indices, updates, combine)
            return
        with ref.lock:
            apply(ref, indices, updates, combine)

    def by_handle(ref: Any, indices: Any, updates: Any) -> None:
        with ref.lock:
            apply(ref, indices, updates, combine)

    def by_resource(resource: Any, indices: Any, updates: Any) -> None:
        by_handle(resource, indices, updates)

    by_reference.__name__ = name
    by_handle.__name__ = by_resource.__name__ = f"resource_{name}"
    return by_reference, by_handle, by_resource


def _define_scatter(verb: str) -> None:
    by_reference, _, by_resource = _kernels(_scatter, _COMBINE[verb], f"scatter_{verb.lower()}")
    types = "type" if verb == "Update" else NUMBERS
    if verb in ("Min", "Max"):
        types = "{half, bfloat16, float, double, int32, int64}"
    define_op(
        f"Scatter{verb}",
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        attrs=[
            f"T: {types}",
            "Tindices: {int32, int64}",
            f"use_locking: bool = {verb == 'Update'}",
        ],
        shape=lambda ctx: _check_rows(ctx["ref"], ctx["indices"], ctx["updates"]),
        kernel=by_reference,
        inline=_INLINE.get(verb),
        writes=("ref",),
        moves=verb == "Update",
        no_gradient=UPDATE,
    )
    define_op(
        f"ResourceScatter{verb}",
        "resource: resource, indices: Tindices, updates: dtype ->",
        attrs=[
            f"dtype: {'type' if verb == 'Update' else NUMBERS}",
            "Tindices: {int32, int64}",
        ],
        shape=_no_outputs_after(_check_rows, "resource"),
        kernel=by_resource,
        writes=("resource",),
        stateful=True,
        moves=verb == "Update",
        no_gradient=UPDATE,
    )


def _define_scatter_nd(verb: str) -> None:
    by_reference, by_handle, _ = _kernels(_scatter_nd, _COMBINE[verb], f"scatter_nd_{verb.lower()}")
    define_op(
        f"ScatterNd{verb}",
        "ref: Ref(T), indices: Tindices, updates: T -> output_ref: Ref(T)",
        attrs=[
            f"T: {'type' if verb == 'Update' else NUMBERS}",
            "Tindices: {int32, int64}",
            f"use_locking: bool = {verb == 'Update'}",
        ],
        shape=lambda ctx: _check_tuples(ctx["ref"], ctx["indices"], ctx["updates"]),
        kernel=by_reference,
        writes=("ref",),
        moves=verb == "Update",
        later=[BAD_INDICES],
        no_gradient=UPDATE,
    )
    define_op(
        f"ResourceScatterNd{verb}",
        "ref: resource, indices: Tindices, updates: T ->",
        attrs=["T: type", "Tindices: {int32, int64}", "use_locking: bool = true"],
        shape=_no_outputs_after(_check_tuples, "ref"),
        kernel=by_handle,
        writes=("ref",),
        stateful=True,
        moves=verb == "Update",
        later=[BAD_INDICES],
        no_gradient=UPDATE,
    )


def _no_outputs_after(check: Callable[..., Any], holder: str) -> Callable[[ShapeContext], Any]:
    def rule(ctx: ShapeContext) -> list[Any]:
        check(state_dims(ctx.tensor(holder)), ctx["indices"], ctx["updates"])
        return []

    return rule


for _verb in _COMBINE:
    _define_scatter(_verb)
for _verb in ("Update", "Add", "Sub"):
    _define_scatter_nd(_verb)


# ---- public functions ----------------------------------------------------------------------------


def _is_reference(ref: Any) -> bool:
    return bool(getattr(getattr(ref, "dtype", None), "is_ref", False))


def _public(verb: str, doc: str, locking: bool = False) -> Scatter:
    def scatter(
        ref: Any, indices: Any, updates: Any, use_locking: bool = locking, name: Any = None
    ) -> Any:
        if _is_reference(ref):
            return make(verb, ref, indices, updates, name=name, use_locking=use_locking)
        rows = convert_to_tensor(updates, ref.dtype)
        return ref.after_write(make(f"Resource{verb}", ref.handle, indices, rows, name=name))

    by_tuple = verb.startswith("ScatterNd")
    rows = (
        "updates.shape = indices.shape[:-1] + ref.shape[indices.shape[-1]:]"
        if by_tuple
        else ("updates.shape = indices.shape + ref.shape[1:], or a scalar")
    )
    scatter.__doc__ = (
        f"{doc}\n\nArgs:\n  ref: a Variable.\n  indices: int32 or int64 tensor"
        f"{', the last dim holding index tuples' if by_tuple else ''}.\n"
        f"  updates: tensor of the variable's type; {rows}.\n"
        "  use_locking: whether to take the variable's lock.\n  name: name of the node.\n\n"
        "Returns:\n  The variable after the update.\n\n"
        "Raises:\n  InvalidArgumentError: when run, an index is out of range."
    )
    return scatter


scatter_update = _public("ScatterUpdate", "Sets rows of a variable.", True)
scatter_add = _public("ScatterAdd", "Adds to rows of a variable; repeated rows add up.")
scatter_sub = _public("ScatterSub", "Subtracts from rows of a variable.")
scatter_mul = _public("ScatterMul", "Multiplies rows of a variable.")
scatter_div = _public("ScatterDiv", "Divides rows of a variable.")
scatter_min = _public("ScatterMin", "Takes the minimum into rows of a variable.")
scatter_max = _public("ScatterMax", "Takes the maximum into rows of a variable.")
scatter_nd_update = _public("ScatterNdUpdate", "Sets parts of a variable at index tuples.", True)
scatter_nd_add = _public("ScatterNdAdd", "Adds to parts of a variable at index tuples.")
scatter_nd_sub = _public("ScatterNdSub", "Subtracts from parts of a variable at index tuples.")


def batch_scatter_update(
    ref: Any, indices: Any, updates: Any, use_locking: bool = True, name: str | None = None
) -> Any:
    """Sets rows of each matrix of a batch: ``ref[b..., indices[b..., i]] = updates[b..., i]``.

    Args:
      ref: a Variable of shape [b..., n, ...].
      indices: integer tensor of shape [b..., k].
      updates: tensor of shape [b..., k, ...].
      use_locking: whether to take the variable's lock.

    Returns:
      The variable after the update.
    """
    with scopes.name_scope(name):
        indices = convert_to_tensor(indices, name="indices")
        index_shape = shape.shape(indices)
        dims = indices.get_shape().ndims
        if dims is None:
            raise ValueError("batch_scatter_update needs indices of known rank")
        own = reshape.expand_dims(indices, axis=-1)
        columns = []
        # For every batch dim, its own position, spread over the shape of indices.
        for dim in range(dims - 1):
            size = slicing.getitem(index_shape, dim)
            width: list[Any] = [1] * (dims + 1)
            width[dim] = size
            places = reshape.reshape(make("Range", 0, size, 1), width)
            if places.dtype is not own.dtype:
                places = make("Cast", places, DstT=own.dtype)
            columns.append(make("Mul", places, nodes.ones_like(own), name="mul"))
        return scatter_nd_update(ref, join.concat([*columns, own], axis=-1), updates, use_locking)

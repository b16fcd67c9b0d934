"""Kernels of update ops: a formula applied to a variable and its slots, or to rows of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch

from penstock.ops.array.integer_order import all_differ
from penstock.ops.state import state
from penstock.ops.state.update_rules import (
    adagrad,
    adagrad_da,
    check_strengths,
    ftrl,
    ftrl_v2,
    proximal_adagrad,
    proximal_gradient_descent,
)

# Their sparse forms refuse rows without elements.
_INNER = (proximal_gradient_descent, adagrad, proximal_adagrad, adagrad_da, ftrl, ftrl_v2)


def _with_signature(function: Callable[..., Any], names: list[str], title: str) -> Any:
    parameters = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    function.__name__ = title
    return function


def _check_shapes(resources: Any, grad: torch.Tensor, shape: Any) -> None:
    """Refuses a gradient or slot that would be broadcast to the variable's ``shape``."""
    parts = [(r.name, tuple(r.value.shape)) for r in resources[1:]]
    for name, found in [*parts, ("the gradient", tuple(grad.shape))]:
        if found != tuple(shape):
            raise ValueError(
                f"variable {resources[0].name!r} needs shape {list(shape)} here; {name} has shape"
                f" {list(found)}"
            )


def dense_kernel(formula: Callable[..., None], states: int, names: list[str], gradient: str) -> Any:
    where = names.index(gradient)

    def update(values):
        tensors = [resource.value for resource in values[:states]]
        var, grad = tensors[0], values[where]
        if grad.shape != var.shape or any(t.shape != var.shape for t in tensors):
            _check_shapes(values[:states], grad, var.shape)
        values[where] = state.apart(var, grad)
        formula(*tensors, *values[states:])

    def kernel(*args):
        *values, use_locking = args
        if use_locking:
            with values[0].lock:
                update(values)
        else:
            update(values)

    return _with_signature(kernel, [*names, "use_locking"], f"apply_{formula.__name__}")


# NumPy writes rows in a third of ATen's time, but keeps the interpreter meanwhile: so many bytes.
_FEW_BYTES = 1 << 22


def _put_rows(tensor: torch.Tensor, indices: torch.Tensor, rows: torch.Tensor) -> None:
    """Writes rows at indices that are in range and differ."""
    in_numpy = tensor.device.type == "cpu" and tensor.dtype in (torch.float32, torch.float64)
    if in_numpy and rows.nbytes <= _FEW_BYTES:
        tensor.numpy()[indices.numpy()] = rows.numpy()
    else:
        tensor.index_copy_(0, indices, rows)


def sparse_kernel(
    formula: Callable[..., None], states: int, names: list[str], gradient: str
) -> Any:
    where = names.index(gradient)

    def update(resources, rest, grad, indices):
        tensors = [resource.value for resource in resources]
        var = tensors[0]
        if any(t.shape != var.shape for t in tensors):
            _check_shapes(resources, var, var.shape)
        wanted = (indices.shape[0], *var.shape[1:])
        if grad.shape != wanted:
            raise ValueError(
                f"variable {resources[0].name!r} has shape {list(var.shape)}, so {wanted[0]} rows"
                f" of it take a gradient of shape {list(wanted)}; found {list(grad.shape)}"
            )
        if formula in _INNER and 0 in var.shape[1:]:
            raise ValueError(f"Inner dimension should be greater than zero; found {var.shape}")
        if formula in (ftrl, ftrl_v2):  # the dense forms do not look
            lr, l1, l2, *shrinkage, lr_power = rest
            check_strengths(lr, l1, l2, lr_power, *shrinkage)
        # Also the check of the indices, before anything is changed.
        rows = [t.index_select(0, indices) for t in tensors]
        if all_differ(indices):
            formula(*rows, *rest[: where - states], grad, *rest[where - states :])
            wide = indices.long()
            for tensor, row in zip(tensors, rows, strict=True):
                _put_rows(tensor, wide, row)
            return
        for position, index in enumerate(indices.tolist()):
            rows = [t[index] for t in tensors]
            formula(*rows, *rest[: where - states], grad[position], *rest[where - states :])

    def kernel(*args):
        *values, indices, use_locking = args
        resources, rest = values[:states], values[states:]
        grad = rest.pop(where - states)
        if use_locking:
            with resources[0].lock:
                update(resources, rest, grad, indices)
        else:
            update(resources, rest, grad, indices)

    parameters = [*names, "indices", "use_locking"]
    return _with_signature(kernel, parameters, f"sparse_apply_{formula.__name__}")

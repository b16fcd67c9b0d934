"""What stands at the ends of backpropagation: gradients given for ys, zeros where none arrives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.autodiff.control_flow_zeros import zeros_dtype


def zeros_for(x: Tensor) -> Tensor:
    if x.dtype is dtypes.resource:
        shape = make("VariableShape", x)
        with name_scope("zeros") as scope:
            zero = constant(0, zeros_dtype(x))
            return make_tensor("Fill", shape, zero, name=scope)
    return _zeros_like(x)


def _zeros_like(x: Tensor) -> Tensor:
    """Zeros as ``tf.zeros_like`` makes them: a constant when small and of known shape."""
    dims, dtype = x.sizes, x.dtype.base_dtype
    if dims is None or None in dims:
        made: Tensor = make("ZerosLike", x, name="zeros_like")
        return made
    size = math.prod(d for d in dims if d is not None)
    if size < 1000:
        return constant(np.zeros([int(d or 0) for d in dims]), dtype, name="zeros_like")
    with name_scope("zeros_like") as scope:
        shape = constant(list(dims), dtypes.int32, name="shape_as_tensor")
        zero = constant(0, dtype, name="Const")
        made = make("Fill", shape, zero, name=scope)
    return made


def check_grad_dtype(y: Tensor, grad: Any, index: int) -> None:
    wanted, found = y.dtype.base_dtype, grad.dtype.base_dtype
    if wanted.is_floating or wanted.is_integer:
        fits = found.is_floating or found.is_integer
        allowed = "a real or integer type"
    elif wanted.is_complex:
        fits, allowed = found.is_complex, "a complex type"
    elif wanted is dtypes.variant:
        fits, allowed = found is dtypes.variant, "variant"
    else:
        raise TypeError(
            f"{y.name} is {wanted.name}; ys must be numeric to have gradients (grad_ys[{index}])"
        )
    if not fits:
        raise TypeError(
            f"grad_ys[{index}] ({grad.name}) is {found.name}; for {y.name}, which is "
            f"{wanted.name}, {allowed} is wanted"
        )


def renamed(grad: Any, name: str) -> Any:
    if not isinstance(grad, IndexedSlices):
        return make("Identity", grad, name=name)
    shape = grad.dense_shape
    return IndexedSlices(
        indices=make("Identity", grad.indices, name=f"{name}_indices"),
        values=make("Identity", grad.values, name=f"{name}_values"),
        dense_shape=None if shape is None else make("Identity", shape, name=f"{name}_shape"),
    )

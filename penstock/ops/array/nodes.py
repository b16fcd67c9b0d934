"""Node idioms that gradients and composite functions of several families build alike.

Each adds one node, named as the operator or public function of TF 1.15 names it, and takes the
same short cuts while the graph is built: the shape, size or rank of a tensor is a constant where
it is statically known.  Operands may be Python numbers; they become constants of the other
operand's dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor

# Above this many elements TF fills zeros and ones at run time instead of storing them.
_STORED = 1000


def is_known(tensor: Tensor) -> bool:
    """Whether every dim of ``tensor`` is statically known."""
    return tensor.sizes is not None and None not in tensor.sizes


def _dense(x: Any, name: str) -> tuple[Tensor, str]:
    """``x`` as a tensor, and the name of the node to make of it.

    Gradients may be IndexedSlices, which become tensors inside that node's scope.
    """
    if isinstance(x, Tensor):
        return x, name
    with name_scope(name) as scope:
        return convert_to_tensor(x), scope


def shape(x: Any, name: str = "Shape") -> Tensor:
    """The shape of ``x`` as an int32 vector; a constant where it is known."""
    x, name = _dense(x, name)
    if is_known(x):
        return constant(np.array(x.sizes, np.int32), dtypes.int32, name=name)
    return make("Shape", x, name=name, out_type=dtypes.int32)


def size(x: Any, name: str = "Size") -> Tensor:
    """The number of elements of ``x``; a constant where it is known."""
    x, name = _dense(x, name)
    if is_known(x):
        return constant(np.int32(np.prod(x.sizes, dtype=np.int64)), dtypes.int32, name=name)
    return make("Size", x, name=name, out_type=dtypes.int32)


def rank(x: Any, name: str = "Rank") -> Tensor:
    """The rank of ``x``; a constant where it is known."""
    x, name = _dense(x, name)
    if x.sizes is not None:
        return constant(np.int32(len(x.sizes)), dtypes.int32, name=name)
    return make("Rank", x, name=name)


def range_to(limit: Any, name: str = "range") -> Tensor:
    """``0, 1, ..., limit - 1``."""
    return make("Range", 0, limit, 1, name=name)


def cast(x: Tensor, dtype: Any, name: str = "Cast") -> Tensor:
    """``x`` as ``dtype``; ``x`` itself where it is that already."""
    dtype = dtypes.as_dtype(dtype).base_dtype
    return x if x.dtype.base_dtype is dtype else make("Cast", x, name=name, DstT=dtype)


def conj(x: Tensor) -> Tensor:
    """The complex conjugate; ``x`` itself where it is real."""
    return make("Conj", x) if x.dtype.is_complex else x


def _binary(op_type: str, name: str) -> Any:
    def build(x: Any, y: Any) -> Tensor:
        known = x if isinstance(x, Tensor | IndexedSlices) else y
        return make(op_type, x, y, name=name, T=known.dtype.base_dtype)

    build.__name__ = name
    build.__doc__ = f"The node that TF's operator makes: op type {op_type}, named ``{name}``."
    return build


add = _binary("AddV2", "add")
sub = _binary("Sub", "sub")
mul = _binary("Mul", "mul")
div = _binary("RealDiv", "truediv")
floordiv = _binary("FloorDiv", "floordiv")
mod = _binary("FloorMod", "mod")
maximum = _binary("Maximum", "Maximum")
greater = _binary("Greater", "Greater")
greater_equal = _binary("GreaterEqual", "GreaterEqual")
less = _binary("Less", "Less")
equal = _binary("Equal", "Equal")


def concat(values: Any, axis: int, name: str = "concat") -> Tensor:
    """The values, joined along ``axis``; vectors in ``values`` may be Python lists of ints."""
    return make("ConcatV2", values, axis, name=name)


def pack(values: Any, name: str) -> Tensor:
    """A vector of scalars, some of them Python ints; a constant where all are."""
    if not any(isinstance(v, Tensor) for v in values):
        return constant(np.array(values, np.int32), dtypes.int32, name=name)
    with name_scope(name) as scope:
        items = [
            v if isinstance(v, Tensor) else constant(np.int32(v), dtypes.int32, name=str(i))
            for i, v in enumerate(values)
        ]
        return make("Pack", items, name=scope, axis=0)


def reshape(x: Any, dims: Any, name: str = "Reshape") -> Tensor:
    """``x`` in the shape ``dims``: a tensor, or a list of ints and scalar tensors."""
    if isinstance(dims, Tensor) or not any(isinstance(d, Tensor) for d in dims):
        if not isinstance(dims, Tensor):
            dims = np.array(list(dims), np.int32)
        return make("Reshape", x, dims, name=name)
    with name_scope(name) as scope:
        return make("Reshape", x, pack(dims, "shape"), name=scope)


def transpose(x: Tensor, perm: Any, name: str = "transpose") -> Tensor:
    """``x`` with its dims in the order ``perm``: a tensor or a list."""
    perm = perm if isinstance(perm, Tensor) else np.array(perm, np.int32)
    return make("Transpose", x, perm, name=name)


def gather(params: Tensor, indices: Any, axis: int = 0, name: str = "GatherV2") -> Tensor:
    """Slices of ``params`` along ``axis``."""
    return make("GatherV2", params, indices, axis, name=name)


def element(vector: Tensor, index: int) -> Tensor:
    """``vector[index]``."""
    return _strided(vector, [index], [index + 1], shrink=1)


def head(vector: Tensor, end: int) -> Tensor:
    """``vector[:end]``."""
    return _strided(vector, [0], [end], begin_mask=1)


def _strided(
    x: Tensor,
    begin: list[int],
    end: list[int],
    *,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis: int = 0,
    new_axis: int = 0,
    shrink: int = 0,
) -> Tensor:
    with name_scope("strided_slice") as scope:
        bounds = [
            constant(np.array(v, np.int32), dtypes.int32, name=label)
            for v, label in (
                (begin, "stack"), (end, "stack_1"), ([1] * len(begin), "stack_2")
            )
        ]  # fmt: skip
        return make(
            "StridedSlice",
            x,
            *bounds,
            name=scope,
            begin_mask=begin_mask,
            end_mask=end_mask,
            ellipsis_mask=ellipsis,
            new_axis_mask=new_axis,
            shrink_axis_mask=shrink,
        )


def columns(x: Tensor, begin: int, end: int) -> Tensor:
    """``x[..., :, begin:end]``."""
    begin_mask = 2 if begin else 6
    return _strided(x, [0, 0, begin], [0, 0, end], begin_mask=begin_mask, end_mask=2, ellipsis=1)


def zeros(dims: Any, dtype: Any, name: str = "zeros") -> Tensor:
    """Zeros in a shape: a list of known dims, or a tensor."""
    return _filled(dims, dtype, 0, name)


def ones(dims: Any, dtype: Any, name: str = "ones") -> Tensor:
    """Ones in a shape: a list of known dims, or a tensor."""
    return _filled(dims, dtype, 1, name)


def _filled(dims: Any, dtype: Any, value: int, name: str) -> Tensor:
    kind = dtypes.as_dtype(dtype).base_dtype
    element = np.asarray(value, kind.as_numpy_dtype)
    if not isinstance(dims, Tensor) and np.prod(dims, dtype=np.int64) < _STORED:
        return constant(np.full(dims, element), kind, name=name)
    with name_scope(name) as scope:
        if not isinstance(dims, Tensor):
            dims = constant(np.array(dims, np.int32), dtypes.int32, name="shape_as_tensor")
        return make("Fill", dims, constant(element, kind, name="Const"), name=scope)


def zeros_like(x: Any, name: str = "zeros_like") -> Tensor:
    """Zeros of the shape and dtype of ``x``."""
    x, name = _dense(x, name)
    if is_known(x):
        return zeros(list(x.sizes or ()), x.dtype, name)
    return make("ZerosLike", x, name=name)


def ones_like(x: Any, dtype: Any = None) -> Tensor:
    """Ones of the shape of ``x``, and its dtype unless another is given."""
    kind = dtypes.as_dtype(dtype if dtype is not None else x.dtype).base_dtype
    with name_scope("ones_like") as scope:
        value = np.asarray(1, kind.as_numpy_dtype)
        return make("Fill", shape(x), constant(value, kind, name="Const"), name=scope)

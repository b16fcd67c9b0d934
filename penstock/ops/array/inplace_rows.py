"""Rows of a tensor written over, added to or subtracted from: what ``inplace_ops`` has.

The names that begin with ``alias`` let the node use the memory of the tensor, the others have it
copied first.  Values here do not change (``inplace.py``), so that both give the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.cast import cast
from penstock.ops.array.reshape import expand_dims, reshape
from penstock.ops.array.shape import shape as shape_of


def _changed(op_type: str, x: Tensor, i: Any, v: Any) -> Tensor:
    v = convert_to_tensor(v, x.dtype)
    if i is None:
        whole = make(op_type, reshape(x, [1, -1]), [0], reshape(v, [1, -1]))
        return reshape(whole, shape_of(x))
    i = cast(i, dtypes.int32)
    if i.get_shape().ndims == 0:
        i, v = reshape(i, [1]), expand_dims(v, 0)
    return make(op_type, x, i, v)


def _both(op_type: str, does: str) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    def alias(x: Any, i: Any, v: Any) -> Tensor:
        return _changed(op_type, convert_to_tensor(x), i, v)

    def copying(x: Any, i: Any, v: Any) -> Tensor:
        return alias(make("DeepCopy", convert_to_tensor(x)), i, v)

    for function, name in ((alias, f"alias_inplace_{does}"), (copying, f"inplace_{does}")):
        function.__name__ = function.__qualname__ = name
        function.__doc__ = f"""A node of the type {op_type}: rows of a tensor, changed.

        Args:
          x: the tensor.
          i: the numbers of the rows, one number, or None for the tensor as a whole.
          v: their values, of the dtype of ``x``; of one number, the row.

        Returns:
          A tensor like ``x``.
        """
    return alias, copying


alias_inplace_update, inplace_update = _both("InplaceUpdate", "update")
alias_inplace_add, inplace_add = _both("InplaceAdd", "add")
alias_inplace_sub, inplace_sub = _both("InplaceSub", "sub")


def empty(shape: Any, dtype: Any, init: bool = False, name: str | None = None) -> Tensor:
    """A tensor of a shape, whose values are zeros where ``init`` asks for some."""
    return make("Empty", shape, dtype=dtypes.as_dtype(dtype), init=init, name=name)


def empty_like(x: Any, init: bool | None = None) -> Tensor:
    """``empty`` of the shape and dtype of ``x``."""
    x = convert_to_tensor(x)
    return empty(shape_of(x), x.dtype, init=bool(init))

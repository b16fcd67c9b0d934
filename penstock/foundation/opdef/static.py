"""Static values: what a tensor is known to hold while the graph is being built, and who asks.

Shape rules need the values of small tensors (a reshape's target, a reduction's axes).  An op takes
part by giving a ``fold`` in its definition (all of a value) or by registering with
``partial_value`` (a shape vector of which some entries are known).  Values are kept on the tensor,
which is sound because nodes do not change.  Rules and folds are given a ``ShapeContext``, by which
they see static shapes, values and attrs of one node.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from penstock.foundation.base.mismatch import show

if TYPE_CHECKING:
    from penstock.foundation.graph.operation import Operation
    from penstock.foundation.graph.tensor import Tensor

Dims = tuple[int | None, ...] | None
UNSET: Any = object()
_MAX_FOLDED = 1 << 16
_PARTIAL: dict[str, Callable[[Any], Dims]] = {}


class ShapeContext:
    """The view of a node that shape rules and folds are given."""

    __slots__ = ("op", "_by_name")

    def __init__(self, op: Operation) -> None:
        self.op = op
        self._by_name: dict[str, Any] | None = None

    def tensor(self, name: str) -> Any:
        """The input tensor called ``name``; a list of tensors where it is a list argument."""
        if self._by_name is None:
            self._by_name = self.op.inputs_by_name()
        return self._by_name[name]

    def shape(self, name: str) -> Any:
        """Static dims of input ``name`` (a list of them where it is a list argument)."""
        tensor = self.tensor(name)
        if isinstance(tensor, list):
            return [t.sizes for t in tensor]
        return tensor.sizes

    __getitem__ = shape

    def value(self, name: str) -> np.ndarray | None:
        """The statically known value of input ``name``, or None."""
        return value_of_each_round(self.tensor(name))

    def shape_value(self, name: str) -> Dims:
        """Input ``name`` read as a shape vector; entries not statically known are None."""
        return constant_value_as_shape(self.tensor(name))

    def attr(self, name: str) -> Any:
        """Value of attr ``name``: DType, TensorShape, NumPy array or a plain Python value."""
        return self.op.attrs[name]

    def rank_at_least(self, name: str, rank: int) -> Dims:
        """Dims of ``name`` checked to have at least ``rank`` dims."""
        dims: Dims = self.shape(name)
        if dims is not None and len(dims) < rank:
            raise ValueError(
                f"Shape must be at least rank {rank} but is rank {len(dims)}: {name} must have"
                f" rank at least {rank}, but has shape {show(dims)}"
            )
        return dims

    def rank(self, name: str, rank: int) -> tuple[int | None, ...]:
        """Dims of ``name`` checked to have exactly ``rank`` dims; unknown rank gives all None."""
        dims: Dims = self.shape(name)
        if dims is None:
            return (None,) * rank
        if len(dims) != rank:
            raise ValueError(
                f"Shape must be rank {rank} but is rank {len(dims)}: {name} must have rank {rank},"
                f" but has shape {show(dims)}"
            )
        return dims


class _FoldContext(ShapeContext):
    """What folds are given: they do not see what a loop's rounds are all given."""

    __slots__ = ()

    def value(self, name: str) -> np.ndarray | None:
        return constant_value(self.tensor(name))


def partial_value(op_type: str) -> Callable[[Callable[[Any], Dims]], Callable[[Any], Dims]]:
    """Registers how ``op_type`` gives a partly known shape vector: ``rule(ctx) -> dims``."""

    def register(rule: Callable[[Any], Dims]) -> Callable[[Any], Dims]:
        _PARTIAL[op_type] = rule
        return rule

    return register


def elementwise(function: Callable[..., Any]) -> Callable[..., Any]:
    """A ``fold`` that applies a NumPy function when every input is known."""

    def fold(ctx: Any, *values: np.ndarray | None) -> np.ndarray | None:
        if any(v is None or v.dtype.fields for v in values):  # NumPy computes with none of these
            return None
        with np.errstate(all="ignore"):
            result = np.asarray(function(*values))
        return result.astype(ctx.op.outputs[0].dtype.as_numpy_dtype, copy=False)

    return fold


def constant_value(tensor: Tensor) -> np.ndarray | None:
    """The statically known value of ``tensor``, or None.

    The array must not be written to.
    """
    value = tensor.static_value
    if value is UNSET:
        value = tensor.static_value = _evaluate(tensor)
    return value  # type: ignore[no-any-return]


def _evaluate(tensor: Tensor) -> np.ndarray | None:
    op = tensor.op
    fold = op.op_def.fold
    if fold is None:
        return None
    size = 1
    for dim in tensor.sizes or ():
        size *= dim or 1
    if size > _MAX_FOLDED and op.inputs:
        return None
    values = [constant_value(t) for t in op.inputs]
    try:
        result = fold(_FoldContext(op), *values)
    except (ArithmeticError, IndexError, TypeError, ValueError):
        return None  # the node fails when it runs, if it runs, and says so then
    if op.op_def.has_list_output or len(op.outputs) > 1:
        result = None if result is None else result[tensor.value_index]
    return None if result is None else np.asarray(result)


def value_of_each_round(tensor: Tensor) -> np.ndarray | None:
    """The value of ``tensor``; also where it brings a known value into all rounds of a loop.

    Shape rules see so far and no farther, as in TensorFlow: nothing that is computed of it.
    """
    value = constant_value(tensor)
    if value is None and tensor.op.op_def.control == "enter" and tensor.op.attrs["is_constant"]:
        return constant_value(tensor.op.inputs[0])
    return value


def constant_value_as_shape(tensor: Tensor, strict: bool = True) -> Dims:
    """``tensor`` read as a shape: a tuple with None for unknown dims, None for unknown rank.

    A value of -1 stands for an unknown dim.  A smaller one is refused, as TensorFlow's shape rules
    do; its Python, ``strict=False``, takes it for an unknown dim, too.
    """
    value = value_of_each_round(tensor) if strict else constant_value(tensor)
    if value is not None:
        if value.ndim == 0:
            if value == -1:
                return None
            raise ValueError(
                f"Shape must be rank 1 but is rank 0: {tensor.name} is used as a shape, but is the"
                f" scalar {value}"
            )
        if value.ndim > 1:
            raise ValueError(
                f"Shape must be rank 1 but is rank {value.ndim}: {tensor.name} is used as a shape"
            )
        if strict and value.size and value.min() < -1:
            raise ValueError(
                f"Invalid value in tensor used for shape: {int(value.min())}: {tensor.name} holds"
                f" {value.tolist()}; -1 stands for an unknown dim"
            )
        return tuple(None if d < 0 else int(d) for d in value.tolist())
    if tensor.sizes is not None and len(tensor.sizes) > 1:
        raise ValueError(
            f"Shape must be rank 1 but is rank {len(tensor.sizes)}: {tensor.name} is used as a"
            " shape"
        )
    rule = _PARTIAL.get(tensor.op.type)
    dims = rule(ShapeContext(tensor.op)) if rule is not None and tensor.value_index == 0 else None
    if dims is None and tensor.sizes is not None and len(tensor.sizes) == 1:
        rank = tensor.sizes[0]
        return None if rank is None else (None,) * rank
    return dims

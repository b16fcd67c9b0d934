"""``tensordot`` and ``einsum``, decomposed into transposes, reshapes and matrix products.

The nodes are those that TF 1.15 makes: with static shapes plain reshapes, else shape arithmetic.
"""

from __future__ import annotations

import collections
import math
import re
import string
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import nodes
from penstock.ops.linalg import linalg, matmul
from penstock.ops.math import reduction, reductions

# ---- tensordot -------------------------------------------------------------------------------


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Tensor:
    """Sums products of elements of ``a`` and ``b`` over pairs of axes.

    Args:
      a, b: tensors of a dtype that ``matmul`` takes.
      axes: an int n pairs the last n axes of ``a`` with the first n of ``b``; a pair of lists (or
        a ``[2, n]`` int32 tensor) names them.

    Returns:
      A tensor whose shape is the free dims of ``a``, then those of ``b``.

    Raises:
      ValueError: axes that do not pair up or are out of range.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.tensordot([1, 2], [[3, 4], [5, 6]], 1)).tolist()
      [13, 16]
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, name="b")
        a_axes, b_axes = _paired_axes(a, axes)
        left, a_free, a_static = _as_matrix(a, a_axes, flipped=False)
        right, b_free, b_static = _as_matrix(b, b_axes, flipped=True)
        product = matmul.matmul(left, right)
        if isinstance(a_free, list) and isinstance(b_free, list):
            dims = a_free + b_free
            return make("Reshape", product, _named_const(dims, "shape"), name=scope)
        free = [_named_const(f, "Const") if isinstance(f, list) else f for f in (a_free, b_free)]
        made = make("Reshape", product, nodes.concat(free, 0), name=scope)
        if a_static is not None and b_static is not None:
            made.set_shape(a_static + b_static)
        return made


def _named_const(values: Any, name: str) -> Tensor:
    return convert_to_tensor(np.array(values, np.int32), name=name)


def _paired_axes(a: Tensor, axes: Any) -> tuple[Any, Any]:
    if isinstance(axes, int | np.integer) and not isinstance(axes, bool):
        if axes < 0:
            raise ValueError(f"tensordot: axes must not be negative; found {axes}")
        if a.sizes is not None:
            rank = len(a.sizes)
            if axes > rank:
                raise ValueError(
                    f"'axes' must not be larger than the number of dimensions of tensor {a}.:"
                    f" tensordot was given {axes}, a has {rank} dim(s)"
                )
            return list(range(rank - axes, rank)), list(range(axes))
        rank_tensor = nodes.rank(a)
        first = nodes.sub(rank_tensor, int(axes))
        last_axes = make("Range", first, rank_tensor, 1, name="range")
        return last_axes, nodes.range_to(int(axes))
    if isinstance(axes, list | tuple):
        if len(axes) != 2:
            raise ValueError(f"tensordot: axes must be an int or a pair; found {axes!r}")
        pair = [
            [x] if isinstance(x, int | np.integer) else x if isinstance(x, Tensor) else list(x)
            for x in axes
        ]
        if not any(isinstance(x, Tensor) for x in pair) and len(pair[0]) != len(pair[1]):
            raise ValueError(
                "Different number of contraction axes 'a' and 'b':"
                f" tensordot: both lists of axes must be equally long; found {axes!r}"
            )
        return pair[0], pair[1]
    tensor = convert_to_tensor(axes, dtypes.int32, name="axes")
    return nodes.element(tensor, 0), nodes.element(tensor, 1)


def _as_matrix(a: Tensor, axes: Any, *, flipped: bool) -> tuple[Tensor, Any, Any]:
    """``a`` as a matrix with the summed axes last (first if flipped); free dims, static ones."""
    static: Any = None
    if a.sizes is not None and isinstance(axes, list):
        axes, free = _split_axes(len(a.sizes), axes)
        static = [a.sizes[i] for i in free]
        if None not in a.sizes:
            sizes = [math.prod(static), math.prod(a.sizes[i] for i in axes)]
            perm = axes + free if flipped else free + axes
            matrix = nodes.reshape(nodes.transpose(a, perm), sizes[::-1] if flipped else sizes)
            return matrix, static, static
        axes, free = _named_const(axes, "axes"), _named_const(free, "free")
        shape = nodes.shape(a)
    else:
        shape, rank = nodes.shape(a), nodes.rank(a)
        if not isinstance(axes, Tensor):
            axes = _named_const(axes, "axes")
        positive = nodes.greater_equal(axes, 0)
        axes = make("Select", positive, axes, nodes.add(axes, rank))
        free = make("ListDiff", nodes.range_to(rank), axes, out_idx=dtypes.int32)[0]
    free_dims, summed_dims = nodes.gather(shape, free), nodes.gather(shape, axes)
    sizes = [reductions.reduce_prod(free_dims), reductions.reduce_prod(summed_dims)]
    order = [free, axes]
    if flipped:
        sizes.reverse()
        order.reverse()
    perm = nodes.concat(order, 0)
    stacked = make("Pack", sizes, axis=0, name="stack")
    return nodes.reshape(nodes.transpose(a, perm), stacked), free_dims, static


def _split_axes(rank: int, axes: list[int]) -> tuple[list[int], list[int]]:
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(f"tensordot: axis {axis} is not in [{-rank}, {rank})")
    axes = [int(axis) % rank for axis in axes]
    return axes, [i for i in range(rank) if i not in axes]


# ---- einsum ----------------------------------------------------------------------------------


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sums of products of tensors, in Einstein's notation.

    Args:
      equation: ``"ij,jk->ik"``; without ``->`` the labels that occur once are kept, sorted; an
        ellipsis stands for the same dims in every operand that has it.
      *inputs: one tensor for each operand of the equation.

    Returns:
      A tensor with one dim for each label of the result.

    Raises:
      ValueError: an equation that is malformed, repeats a label within an operand (but for
        ``"ii"``, the trace), or does not fit the ranks.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     session.run(tf.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 1])).tolist()
      [3, 7]
    """
    name = kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"einsum: unknown argument(s) {sorted(kwargs)}; only name is taken")
    with name_scope(name, "einsum", [equation, *inputs]):
        tensors = [convert_to_tensor(x) for x in inputs]
        operands, result = _parsed(equation, tensors)
        if _is_trace(equation, operands):
            return linalg.trace(tensors[0])
        _check(equation, operands, result, tensors)
        total, labels = tensors[0], operands[0]
        for index, (tensor, other) in enumerate(zip(tensors[1:], operands[1:], strict=True), 2):
            # A label is summed where it occurs for the last time.
            wanted = set(result).union(*operands[index:])
            summed = (set(labels) & set(other)) - wanted
            total, labels = _contract(total, labels, tensor, other, summed)
        extra = [i for i, label in enumerate(labels) if label not in result]
        if extra:
            total = reduction.reduce_sum(total, extra)
            labels = "".join(label for label in labels if label in result)
        return _transposed(total, [labels.index(label) for label in result])


def _parsed(equation: str, tensors: list[Tensor]) -> tuple[list[str], str]:
    text = equation.replace(" ", "")
    match = re.match(r"^([A-Za-z,.]+)(->[A-Za-z.]*)?$", text)
    if not match:
        raise ValueError(f"einsum: the equation is malformed: {equation!r}")
    operands = match.group(1).split(",")
    if len(operands) != len(tensors):
        raise ValueError(
            f"einsum: {equation!r} has {len(operands)} operand(s), but {len(tensors)} tensor(s)"
            " were given"
        )
    result = match.group(2)[2:] if match.group(2) else None
    operands, result = _without_ellipsis(equation, operands, result, tensors)
    counts = collections.Counter("".join(operands))
    if result is None:
        result = "".join(sorted(label for label in counts if counts[label] == 1))
    return operands, result


def _is_trace(equation: str, operands: list[str]) -> bool:
    """Whether TensorFlow takes the equation for ``tf.linalg.trace``: "ii", and its kin."""
    labels = operands[0]
    repeats = any(labels.count(label) == 2 for label in labels)
    return len(operands) == 1 and "->" not in equation and labels == labels[::-1] and repeats


def _without_ellipsis(
    equation: str, operands: list[str], result: str | None, tensors: list[Tensor]
) -> tuple[list[str], str | None]:
    if "." not in equation:
        return operands, result
    free = [c for c in string.ascii_letters if c not in equation]
    longest = ""
    resolved = []
    for labels, tensor in zip(operands, tensors, strict=True):
        if "..." in labels:
            if labels.count("...") > 1:
                raise ValueError(
                    "Unable to resolve ellipsis. Excess number found: einsum: operand"
                    f" {labels!r} has {labels.count('...')}; at most 1 is allowed"
                )
            if tensor.sizes is None:
                raise ValueError("einsum: an operand with an ellipsis must have a known rank")
            count = len(tensor.sizes) - len(labels.replace("...", ""))
            if count < 0:
                raise ValueError(f"einsum: operand {labels!r} has more labels than dims")
            # Equal dims get equal labels, counted from the right.
            taken = "".join(free[:count][::-1])
            longest = max(longest, taken, key=len)
            labels = labels.replace("...", taken)
        resolved.append(labels)
    if result is None:
        once = collections.Counter("".join(resolved))
        rest = sorted(c for c in once if once[c] == 1 and c not in longest)
        return resolved, longest + "".join(rest)
    result = result.replace("...", longest)
    if "." in "".join(resolved) + result:
        raise ValueError(f"einsum: the equation is malformed: {equation!r}")
    return resolved, result


def _check(equation: str, operands: list[str], result: str, tensors: list[Tensor]) -> None:
    known = set("".join(operands))
    for label in result:
        if label not in known:
            raise ValueError(f"einsum: result label {label!r} of {equation!r} is in no operand")
        if result.count(label) > 1:
            raise ValueError(
                f"Invalid equation: {equation}: einsum: label {label!r} is repeated in the result"
            )
    for labels, tensor in zip(operands, tensors, strict=True):
        if len(set(labels)) != len(labels):
            raise ValueError(f"einsum: a label is repeated within operand {labels!r}")
        if tensor.sizes is not None and len(tensor.sizes) != len(labels):
            raise ValueError(
                f"einsum: operand {labels!r} has {len(labels)} label(s), but its tensor has rank"
                f" {len(tensor.sizes)}"
            )


def _transposed(x: Tensor, perm: list[int]) -> Tensor:
    return x if perm == list(range(len(perm))) else nodes.transpose(x, perm)


def _contract(
    a: Tensor, a_labels: str, b: Tensor, b_labels: str, summed: set[str]
) -> tuple[Tensor, str]:
    """One product: labels in both and not summed are a batch, the summed ones the inner dim."""
    batch = sorted((set(a_labels) & set(b_labels)) - summed)
    a_only = sorted(set(a_labels) - set(b_labels))
    b_only = sorted(set(b_labels) - set(a_labels))
    inner = sorted(summed)
    a = _transposed(a, [a_labels.index(c) for c in (*batch, *a_only, *inner)])
    b = _transposed(b, [b_labels.index(c) for c in (*batch, *inner, *b_only)])
    labels = "".join((*batch, *a_only, *b_only))
    if not inner:
        return _outer(a, b, len(batch), len(a_only), len(b_only)), labels
    a_dims, b_dims = _dims(a), None
    count = len(batch)
    a_free = a_dims[count : count + len(a_only)]
    free_size = _product(a_free)
    inner_size = _product(a_dims[count + len(a_only) :])
    a = _reshaped(a, [*a_dims[:count], free_size, inner_size])
    b_dims = _dims(b)
    b_free = b_dims[count + len(inner) :]
    b = _reshaped(b, [*b_dims[:count], inner_size, _product(b_free)])
    product = matmul.matmul(a, b)
    return _reshaped(product, [*a_dims[:count], *a_free, *b_free]), labels


def _outer(a: Tensor, b: Tensor, batch: int, a_only: int, b_only: int) -> Tensor:
    for _ in range(b_only):
        a = make("ExpandDims", a, -1)
    for _ in range(a_only):
        b = make("ExpandDims", b, batch)
    return make("Mul", a, b)


def _dims(x: Tensor) -> list[Any]:
    """The dims of ``x``: ints where known, else elements of its shape at run time."""
    if x.sizes is None:
        raise ValueError(f"einsum: the rank of {x.name} must be known")
    if None not in x.sizes:
        return list(x.sizes)
    shape = nodes.shape(x)
    return [nodes.element(shape, i) if d is None else d for i, d in enumerate(x.sizes)]


def _product(dims: list[Any]) -> Any:
    total: Any = 1
    for dim in dims:
        symbolic = isinstance(total, Tensor) or isinstance(dim, Tensor)
        total = nodes.mul(total, dim) if symbolic else total * dim
    return total


def _reshaped(x: Tensor, dims: list[Any]) -> Tensor:
    same = x.sizes is not None and len(x.sizes) == len(dims)
    if same and all(not isinstance(d, Tensor) and d == c for c, d in zip(x.sizes or (), dims)):
        return x
    return nodes.reshape(x, dims)

"""Batches of matrices as tensors, for the operators above them.

Batch dims broadcast in every function here, as they do in ``tf.matmul``; the nodes that solve and
factor do not broadcast by themselves.  What is known of a shape while the graph is built decides
which nodes are made: batches known to agree cost nothing.  A right-hand side with a batch, against
one matrix without, becomes more columns, so that the matrix is factored once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from penstock.foundation.base import shapes
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import broadcast_to, nodes
from penstock.ops.linalg import linalg, linalg_solve
from penstock.ops.math import complex

Known = tuple[int | None, ...]


# ---- shapes ----------------------------------------------------------------------------------


def concat_shapes(*parts: Any) -> Tensor:
    """One int32 vector of several: tensors, or lists of sizes and scalar tensors."""
    vectors = [p if isinstance(p, Tensor) else nodes.pack(list(p), "dims") for p in parts]
    known = [static.constant_value(v) for v in vectors]
    if all(value is not None for value in known):
        sizes = [value.astype(np.int32) for value in known if value is not None]
        return constant(np.concatenate(sizes), name="shape")
    return vectors[0] if len(vectors) == 1 else nodes.concat(vectors, 0)


def common_batch(batches: Sequence[shapes.TensorShape]) -> shapes.TensorShape:
    """What is known of the batch shape that these broadcast to.

    Raises:
      ValueError: they are known not to broadcast.
    """
    return reduce(broadcast_to.broadcast_static_shape, batches)


def common_batch_tensor(batches: Sequence[Tensor]) -> Tensor:
    """The batch shape that these broadcast to, as a vector; a constant where all are known."""
    known = [static.constant_value(batch) for batch in batches]
    if all(value is not None for value in known):
        sizes = [tuple(value.tolist()) for value in known if value is not None]
        return constant(np.array(np.broadcast_shapes(*sizes), np.int32), name="shape")
    return reduce(broadcast_to.broadcast_dynamic_shape, batches)


def with_shape(x: Tensor, shape: Any) -> Tensor:
    """``x``, known to have ``shape`` as far as that is known."""
    x.set_shape(shape)
    return x


def expand_batch(x: Tensor, batch: Tensor, known: shapes.TensorShape, inner: int = 2) -> Tensor:
    """``x`` broadcast to the batch dims ``batch``, of which ``known`` is known.

    Args:
      x: tensor ``[..., d1, ..., d_inner]``.
      batch: int32 vector, to which the batch dims of ``x`` broadcast.
      known: the same as a shape, as far as it is known.
      inner: how many dims behind the batch stay.

    Returns:
      A tensor ``batch + [d1, ..., d_inner]``; ``x`` where it is known to be that already.
    """
    if x.sizes is not None and known.is_fully_defined():
        if tuple(known.as_list()) == x.sizes[: len(x.sizes) - inner]:
            return x
    shape: Any = nodes.shape(x)
    made = broadcast_to.broadcast_to(x, concat_shapes(batch, shape[-inner:] if inner else []))
    last = x.shape[-inner:] if x.sizes is not None else shapes.unknown_shape(inner)
    return with_shape(made, known.concatenate(last if inner else []))


def same_batches(*tensors: Tensor, inner: int = 2) -> list[Tensor]:
    """The tensors, with their batch dims broadcast to each other's.

    Args:
      tensors: tensors of rank at least ``inner``.
      inner: how many dims behind the batch stay.

    Raises:
      ValueError: the batches are known not to broadcast.
    """
    batches = [batch_of(x, inner) for x in tensors]
    known = common_batch(batches)
    if all(b.is_fully_defined() and b == batches[0] for b in batches):
        return list(tensors)
    vectors = [batch_vector(x, inner) for x in tensors]
    batch = common_batch_tensor(vectors)
    return [expand_batch(x, batch, known, inner) for x in tensors]


def batch_of(x: Tensor, inner: int) -> shapes.TensorShape:
    """What is known of the dims of ``x`` but the last ``inner``."""
    dims = x.sizes
    return shapes.TensorShape(None if dims is None else dims[: len(dims) - inner])


def batch_vector(x: Tensor, inner: int) -> Tensor:
    """The dims of ``x`` but the last ``inner``, as a vector; a constant where they are known."""
    batch = batch_of(x, inner)
    if batch.is_fully_defined():
        return constant(np.array(batch.as_list(), np.int32), name="batch")
    return nodes.head(nodes.shape(x), -inner)


def last_size(x: Tensor, index: int) -> Any:
    """The size of a dim of ``x``, counted from the end: an int where it is known, or a scalar."""
    size = None if x.sizes is None else x.sizes[index]
    return nodes.element(nodes.shape(x), index) if size is None else size


def swapped(shape: shapes.TensorShape) -> shapes.TensorShape:
    """The shape of the transposed matrices."""
    if shape.ndims is None:
        return shape
    return shape[:-2].concatenate([shape[-1], shape[-2]])


def swapped_tensor(shape: Any) -> Tensor:
    """The shape of the transposed matrices, as a vector."""
    return concat_shapes(shape[:-2], shape[-1:], shape[-2:-1])


def filled(shape: Tensor, known: shapes.TensorShape, value: int, dtype: Any) -> Tensor:
    """A tensor of ``shape``, of which ``known`` is known, with ``value`` everywhere."""
    made: Tensor = make("Fill", shape, np.array(value, dtype.as_numpy_dtype))
    return with_shape(made, known)


def pad_last(x: Tensor, after: Any) -> Tensor:
    """``x`` with ``after`` zeros behind its last dim."""
    zeros_shape = concat_shapes(batch_vector(x, 1), [after])
    known = batch_of(x, 1).concatenate([None if isinstance(after, Tensor) else after])
    return nodes.concat([x, filled(zeros_shape, known, 0, x.dtype)], -1)


def reshape_last(x: Tensor, kept: int, sizes: Sequence[Any]) -> Tensor:
    """``x`` with its last ``kept`` dims made into dims of ``sizes``, each an int or a scalar."""
    if x.sizes is None:
        batch: Any = nodes.head(nodes.shape(x), -kept)
    else:
        leading = x.sizes[: len(x.sizes) - kept]
        batch = [int(d) for d in leading if d is not None]
        if None in leading:
            batch = nodes.head(nodes.shape(x), -kept)
    made = nodes.reshape(x, concat_shapes(batch, sizes))
    known = [None if isinstance(size, Tensor) else size for size in sizes]
    return with_shape(made, batch_of(x, kept).concatenate(known))


# ---- values ----------------------------------------------------------------------------------


def conj(x: Any) -> Tensor:
    """The complex conjugate; ``x`` where it is real."""
    made: Tensor = complex.conj(x)
    return made


def modulus(x: Tensor) -> Tensor:
    """The absolute values, real."""
    if not x.dtype.is_complex:
        return make("Abs", x)  # type: ignore[no-any-return]
    return make("ComplexAbs", x, Tout=x.dtype.real_dtype)  # type: ignore[no-any-return]


def real(x: Tensor) -> Tensor:
    """The real parts."""
    return complex.real(x)


def imaginary(x: Tensor) -> Tensor:
    """The imaginary parts of complex numbers."""
    return complex.imag(x)


def log_abs(x: Tensor) -> Tensor:
    """The logarithms of the absolute values, in the dtype of ``x``."""
    return nodes.cast(log_modulus(x), x.dtype)


def log_modulus(x: Tensor) -> Tensor:
    """The logarithms of the absolute values, real."""
    return make_tensor("Log", modulus(x))


def added(terms: Iterable[Tensor]) -> Tensor:
    """The sum of logarithms, complex where one of them is."""
    parts = list(terms)
    dtype = next((part.dtype for part in parts if part.dtype.is_complex), parts[0].dtype)
    return reduce(nodes.add, (nodes.cast(part, dtype) for part in parts))


def length(x: Tensor) -> Tensor:
    """The Euclidean lengths of vectors ``[..., N]``, as ``[..., 1]`` of their dtype."""
    squares = make("Square", modulus(x))
    total: Tensor = make("Sum", squares, [-1], keep_dims=True)
    return nodes.cast(make("Sqrt", total), x.dtype)


# ---- systems ---------------------------------------------------------------------------------


def solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """``matrix^-1 rhs``, or with the adjoint of ``matrix``; batches broadcast."""
    return _broadcast(lambda a, b: linalg_solve.matrix_solve(a, b, adjoint=adjoint), matrix, rhs)


def triangular_solve(
    matrix: Tensor, rhs: Tensor, lower: bool = True, adjoint: bool = False
) -> Tensor:
    """``matrix^-1 rhs`` for a triangular matrix; batches broadcast."""
    return _broadcast(
        lambda a, b: linalg_solve.matrix_triangular_solve(a, b, lower=lower, adjoint=adjoint),
        matrix,
        rhs,
    )


def cholesky_solve(factor: Tensor, rhs: Tensor) -> Tensor:
    """``(factor factor^H)^-1 rhs``; batches broadcast."""
    return _broadcast(linalg_solve.cholesky_solve, factor, rhs)


def _broadcast(solver: Callable[[Tensor, Tensor], Tensor], matrix: Tensor, rhs: Tensor) -> Tensor:
    one_matrix = matrix.sizes is not None and len(matrix.sizes) == 2
    if one_matrix and rhs.sizes is not None and len(rhs.sizes) > 2:
        return _in_columns(solver, matrix, rhs)
    return solver(*same_batches(matrix, rhs))


def _in_columns(solver: Callable[[Tensor, Tensor], Tensor], matrix: Tensor, rhs: Tensor) -> Tensor:
    """A batch of systems with one matrix as one system with more columns."""
    rank = len(rhs.sizes or ())
    rows_first = [rank - 2, *range(rank - 2), rank - 1]
    rows_back = [*range(1, rank - 1), 0, rank - 1]
    moved = nodes.transpose(rhs, rows_first)
    shape: Any = nodes.shape(moved)
    columns = make("Prod", shape[1:], 0)
    flat = nodes.reshape(moved, concat_shapes(shape[:1], nodes.reshape(columns, [1])))
    solved = nodes.reshape(solver(matrix, flat), shape)
    return with_shape(nodes.transpose(solved, rows_back), rhs.shape)


def adjoint_if(x: Any, wanted: bool) -> Any:
    """``x``, or its adjoint."""
    return linalg.adjoint(x) if wanted else x

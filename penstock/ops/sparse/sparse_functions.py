"""Public functions on sparse tensors: the nodes that TensorFlow 1.15 builds for each.

Functions of one op stand here, those made of several in ``sparse_compose``.  All take a
``SparseTensor`` or a ``SparseTensorValue`` for ``sp_input`` and say TypeError to anything else.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import constant, make
from penstock.foundation.graph.composite import SparseTensor, SparseTensorValue
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import SparseReduction
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import static
from penstock.ops.array import join, nodes, reshape
from penstock.ops.array.cast import cast
from penstock.ops.control import control
from penstock.ops.math import reduction, reductions
from penstock.ops.sparse.sparse_entries import as_sparse


def _parts(value: SparseTensor) -> tuple[Tensor, Tensor, Tensor]:
    return value.indices, value.values, value.dense_shape


def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """Sum of two tensors of one shape, at least one of them sparse.

    Args:
      a: SparseTensor or dense tensor.
      b: SparseTensor or dense tensor.
      threshold: of two sparse tensors, sums smaller than this are left out; default 0.
      thresh: former name of ``threshold``.

    Returns:
      A SparseTensor where both are sparse, else a dense tensor.

    Raises:
      TypeError: neither is sparse.
    """
    threshold = reduction.renamed("threshold", threshold, "thresh", thresh)
    threshold = 0 if threshold is None else threshold
    sparse = [isinstance(x, SparseTensor | SparseTensorValue) for x in (a, b)]
    if not any(sparse):
        raise TypeError("sparse_add needs at least one SparseTensor; tf.add adds dense tensors")
    if not all(sparse):
        if not sparse[0]:
            a, b = b, a
        return make("SparseTensorDenseAdd", *_parts(as_sparse(a)), b)
    a, b = as_sparse(a, "a"), as_sparse(b, "b")
    threshold = convert_to_tensor(threshold, a.dtype.real_dtype.base_dtype, "threshold")
    total = make("SparseAdd", *_parts(a), *_parts(b), threshold)
    a.shape.assert_is_compatible_with(b.shape)
    known = a.shape.merge_with(b.shape)
    shape = known.as_list() if known.is_fully_defined() else total[2]
    return SparseTensor(total[0], total[1], shape)


def sparse_concat(
    axis: int,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: int | None = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors, one after the other along ``axis``.

    Args:
      axis: int in ``[-rank, rank)``.
      sp_inputs: list of sparse tensors of one rank and type.
      expand_nonconcat_dim: whether other dims may differ; the largest counts.
      concat_dim: former name of ``axis``.
      expand_nonconcat_dims: synonym of ``expand_nonconcat_dim``.

    Returns:
      A SparseTensor.
    """
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    axis = reduction.renamed("axis", axis, "concat_dim", concat_dim)
    if isinstance(sp_inputs, SparseTensor | SparseTensorValue):
        raise TypeError("sp_inputs must be a list of SparseTensors; found one")
    inputs = [as_sparse(x, "sp_inputs") for x in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    if isinstance(axis, Tensor):
        raise TypeError(f"Expected int for argument 'concat_dim' not {axis!r}.")
    if isinstance(axis, np.ndarray) and axis.size == 1:
        axis = int(axis.item())
    dims: list[Any] = [x.dense_shape for x in inputs]
    if expand_nonconcat_dim:
        dims = _expanded(dims, axis)
    made = make(
        "SparseConcat", [x.indices for x in inputs], [x.values for x in inputs], dims, name=name,
        concat_dim=axis,
    )  # fmt: skip
    shape: Any = made[2]
    known = [static.constant_value(d) for d in dims]
    if all(k is not None for k in known):
        whole = np.array(known[0])
        whole[axis] = sum(int(k[axis]) for k in known if k is not None)
        shape = convert_to_tensor(whole)
    return SparseTensor(made[0], made[1], shape)


def _expanded(dims: list[Any], axis: int) -> list[Any]:
    """Each shape with the largest size in all dims but ``axis``."""
    most: Any = reductions.reduce_max(
        join.concat([reshape.reshape(d, [1, -1]) for d in dims], 0), 0
    )
    made = []
    for dim in dims:
        before = most[:axis]
        own = dim[-1:] if axis == -1 else dim[axis : axis + 1]
        rest = [] if axis == -1 else most[axis + 1 :]
        made.append(join.concat([before, own, rest], 0))
    return made


def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The same sparse tensor with its entries in row-major order.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     mixed = tf.SparseTensor([[1, 0], [0, 2]], [1.0, 2.0], [2, 3])
      ...     session.run(tf.sparse_reorder(mixed)).values.tolist()
      [2.0, 1.0]
    """
    sp_input = as_sparse(sp_input)
    indices, values = make("SparseReorder", *_parts(sp_input), name=name)
    if sp_input.shape.is_fully_defined():
        return SparseTensor(indices, values, sp_input.shape.as_list())
    return SparseTensor(indices, values, control.identity(sp_input.dense_shape))


def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The entries in another shape, their row-major positions unchanged.

    Args:
      sp_input: SparseTensor.
      shape: int64 vector or list; one size may be -1, and follows from the others.

    Returns:
      A SparseTensor.

    Raises:
      ValueError: the number of elements is known to differ, or more than one size is -1.
    """
    sp_input = as_sparse(sp_input)
    shape = cast(shape, dtypes.int64)
    with name_scope(name, "SparseReshape", [sp_input.indices]) as scope:
        indices, new = make(
            "SparseReshape", sp_input.indices, sp_input.dense_shape, shape, name=scope
        )
        dims = static.constant_value_as_shape(shape, strict=False)
        seen = shape.op.type != "Cast" or _is_literal(shape)
        if seen and dims is not None and sp_input.shape.is_fully_defined():
            new = _static_shape(list(dims), sp_input.shape.as_list(), shape, new)
        return SparseTensor(indices, control.identity(sp_input.values), new)


# Through which nodes TensorFlow's Python, which adds the constant, finds values.
_READ_THROUGH = {"Cast", "Concat", "ConcatV2", "Fill", "Pack", "Range"}


def _is_literal(tensor: Tensor) -> bool:
    """Whether a value is known without its being computed, for instance by slicing."""
    if tensor.op.type in ("Const", "Rank", "Shape", "Size"):
        return True
    return tensor.op.type in _READ_THROUGH and all(map(_is_literal, tensor.op.inputs))


def _static_shape(dims: list[Any], before: list[int], given: Any, new: Tensor) -> Any:
    literal = static.constant_value(given)
    if literal is not None and int((literal == -1).sum()) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {literal}")
    size, known = int(np.prod(before)), [d for d in dims if d is not None]
    if len(known) < len(dims) - 1:
        return new
    full = [size // int(np.prod(known)) if d is None else d for d in dims]
    if int(np.prod(full)) != size:
        raise ValueError(
            f"Cannot reshape a tensor with {size} elements to shape {dims}"
            f" ({int(np.prod(full))} elements)."
        )
    return constant(np.array(full, np.int64), dtypes.int64, name="Const")


class KeywordRequired:
    """Default of ``sparse_split``'s first parameter: everything is given by keyword."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


def sparse_split(
    keyword_required: Any = KeywordRequired(),  # noqa: B008
    sp_input: Any = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """A sparse tensor cut into ``num_split`` parts along ``axis``; the first ones may be larger.

    Args:
      keyword_required: not to be given.
      sp_input: SparseTensor.
      num_split: int.
      axis: scalar.
      split_dim: former name of ``axis``.

    Returns:
      A list of SparseTensors.

    Raises:
      ValueError: positional arguments, or one of the three is missing.
    """
    if not isinstance(keyword_required, KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    for what, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None and not (what == "axis" and split_dim is not None):
            raise ValueError(f"{what} is required")
    axis = reduction.renamed("axis", axis, "split_dim", split_dim)
    sp_input = as_sparse(sp_input)
    made = make("SparseSplit", axis, *_parts(sp_input), name=name, num_split=num_split)
    return [SparseTensor(*parts) for parts in zip(*made, strict=True)]


def sparse_slice(sp_input: Any, start: Any, size: Any, name: str | None = None) -> SparseTensor:
    """The part of a sparse tensor that starts at ``start`` and has at most the size ``size``.

    Args:
      sp_input: SparseTensor.
      start: int64 vector, one element a dim.
      size: int64 vector, one element a dim.

    Returns:
      A SparseTensor; its positions count from ``start``.
    """
    sp_input = as_sparse(sp_input)
    start, size = (convert_to_tensor(x, dtypes.int64) for x in (start, size))
    with name_scope(name, "SparseSlice", [sp_input.indices]) as scope:
        return SparseTensor(*make("SparseSlice", *_parts(sp_input), start, size, name=scope))


# ---- reductions ----------------------------------------------------------------------------------


def _reduction_axes(sp_input: SparseTensor, axis: Any, old: Any) -> Any:
    axis = reduction.renamed("axis", axis, "reduction_axes", old)
    if axis is not None:
        return axis
    dims = sp_input.dense_shape.sizes
    if dims is not None and dims[0] is not None:
        return constant(np.arange(dims[0], dtype=np.int32), dtypes.int32)
    return nodes.range_to(make("Size", sp_input.dense_shape, name="Rank"))


_REDUCE = """{what} of the entries over ``axis``{sparse}.

    Args:
      sp_input: SparseTensor.
      axis: int, list of ints or int32 tensor; None reduces all dims.
      keepdims: whether reduced dims stay, with size 1.
      reduction_axes: former name of ``axis``.
      keep_dims: former name of ``keepdims``.

    Returns:
      A {kind}; where there is no entry{rest}.
    """


def _reducing(op_type: str, name: str, what: str) -> SparseReduction:
    is_sparse = op_type.endswith("Sparse")

    def reduce(
        sp_input: Any,
        axis: Any = None,
        keepdims: Any = None,
        reduction_axes: Any = None,
        keep_dims: Any = None,
    ) -> Any:
        keep = bool(reduction.renamed("keepdims", keepdims, "keep_dims", keep_dims))
        axes = _reduction_axes(sp_input, axis, reduction_axes)
        made = make(op_type, *_parts(sp_input), axes, keep_dims=keep)
        return SparseTensor(*made) if is_sparse else made

    doc = _REDUCE.format(
        what=what,
        sparse=", as a sparse tensor" if is_sparse else "",
        kind="SparseTensor" if is_sparse else "dense tensor",
        rest=", it has none either" if is_sparse else ", it is 0",
    )
    return named(name, doc)(reduce)


sparse_reduce_max = _reducing("SparseReduceMax", "sparse_reduce_max", "Largest")
sparse_reduce_max_sparse = _reducing("SparseReduceMaxSparse", "sparse_reduce_max_sparse", "Largest")
sparse_reduce_sum = _reducing("SparseReduceSum", "sparse_reduce_sum", "Sum")
sparse_reduce_sum_sparse = _reducing("SparseReduceSumSparse", "sparse_reduce_sum_sparse", "Sum")


# ---- rows, softmax, products ---------------------------------------------------------------------


def sparse_fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """A sparse matrix with an entry in column 0 of each row that had none.

    Args:
      sp_input: SparseTensor of rank 2 (the first dim's slices of higher ranks).
      default_value: scalar for those rows.

    Returns:
      The SparseTensor, in row-major order, and a bool vector: which rows had been empty.
    """
    sp_input = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp_input.indices]):
        default_value = convert_to_tensor(default_value, sp_input.dtype)
        indices, values, empty, _ = make("SparseFillEmptyRows", *_parts(sp_input), default_value)
        return SparseTensor(indices, values, sp_input.dense_shape), empty


def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the entries of each slice along the last dim; absent places stay absent."""
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = make("SparseSoftmax", *_parts(sp_input))
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


def _extremum(op_type: str, sp_a: SparseTensor, sp_b: SparseTensor, name: str | None) -> Any:
    inputs = [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]
    with name_scope(name, op_type, inputs) as scope:
        indices, values = make(op_type, *_parts(sp_a), *_parts(sp_b), name=scope)
    return SparseTensor(indices, values, sp_a.dense_shape)


def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of two sparse tensors of one shape; absent entries count as 0."""
    return _extremum("SparseSparseMaximum", sp_a, sp_b, name)


def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of two sparse tensors of one shape; absent entries count as 0."""
    return _extremum("SparseSparseMinimum", sp_a, sp_b, name)


def sparse_tensor_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False, name: str | None = None
) -> Tensor:
    """Matrix product of a sparse and a dense matrix.

    Args:
      sp_a: SparseTensor of rank 2; repeated entries add up.
      b: dense matrix of the same type.
      adjoint_a: whether the conjugate transpose of ``sp_a`` is meant.
      adjoint_b: whether the conjugate transpose of ``b`` is meant.

    Returns:
      A dense matrix.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     a = tf.SparseTensor([[0, 1], [1, 0]], [2.0, 3.0], [2, 2])
      ...     session.run(tf.sparse_tensor_dense_matmul(a, [[1.0], [10.0]])).tolist()
      [[20.0], [3.0]]
    """
    sp_a = as_sparse(sp_a, "sp_a")
    with name_scope(name, "SparseTensorDenseMatMul", [sp_a.indices, sp_a.values, b]):
        b = convert_to_tensor(b, name="b")
        return make(
            "SparseTensorDenseMatMul", *_parts(sp_a), b, adjoint_a=adjoint_a, adjoint_b=adjoint_b
        )


# ---- one value -----------------------------------------------------------------------------------


def serialize_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """A sparse tensor as a vector of 3 strings (or variants); ``deserialize_many_sparse`` reads
    a matrix of such rows.
    """
    return make("SerializeSparse", *_parts(as_sparse(sp_input)), name=name, out_type=out_type)


def serialize_many_sparse(
    sp_input: Any, name: str | None = None, out_type: Any = dtypes.string
) -> Tensor:
    """Each slice along the first dim of a sparse tensor as a row of 3 strings (or variants)."""
    return make("SerializeManySparse", *_parts(as_sparse(sp_input)), name=name, out_type=out_type)


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: int | None = None, name: str | None = None
) -> SparseTensor:
    """Rows of ``serialize_sparse`` as one sparse tensor with a dim for the rows in front.

    Args:
      serialized_sparse: string matrix ``[n, 3]``.
      dtype: type of the entries.
      rank: rank of the result, where it is known.

    Returns:
      A SparseTensor; its other dims are the largest of the rows'.
    """
    indices, values, shape = make(
        "DeserializeManySparse", serialized_sparse, name=name, dtype=dtype
    )
    indices.set_shape([None, rank])
    shape.set_shape([rank])
    return SparseTensor(indices, values, shape)

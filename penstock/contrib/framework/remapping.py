"""Initializers that take matrices of another vocabulary's model: rows go where their words went."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.library.ragged_tensors.dispatched import concat
from penstock.library.variables.initializers import truncated_normal_initializer, zeros_initializer
from penstock.ops.array.constant import constant
from penstock.ops.array.ranges import range_
from penstock.ops.array.reshape import reshape

Initializing = Callable[..., Any]


class _Vocabularies(NamedTuple):
    """The words of one dim, in the checkpoint and in the new model."""

    what: str
    old: Any
    new: Any
    old_size: int
    buckets: int

    def checked(self) -> _Vocabularies:
        if self.buckets < 0:
            raise ValueError(
                f"num_{self.what}_oov_buckets must be >= 0, but received {self.buckets}"
            )
        if bool(self.old) != bool(self.new):
            raise ValueError(
                f"old_{self.what}_vocab_file and new_{self.what}_vocab_file must both be"
                f" specified or left unspecified; found {self.old!r} and {self.new!r}"
            )
        return self

    def places(self, offset: int, count: int) -> tuple[Any, Any]:
        """Where each of the new words is in the checkpoint, and how many are."""
        places, found = make(
            "GenerateVocabRemapping", self.new, self.old,
            new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=self.old_size,
        )  # fmt: skip
        return places, found


def _matrix(
    path: Any, name: str, rows: _Vocabularies, columns: _Vocabularies, offset: int,
    num_rows: int, num_columns: int, initializer: Initializing, max_rows_in_memory: int,
) -> Any:  # fmt: skip
    if not (rows.new or columns.new):
        raise ValueError(
            "Must provide either row or column vocab files; tf.train.init_from_checkpoint loads"
            " what needs no remapping"
        )
    found_rows: Any = num_rows
    found_columns: Any = num_columns
    column_places: Any = constant([], dtypes.int64)
    if rows.new:
        row_places, found_rows = rows.places(offset, num_rows)
    else:
        row_places = range_(offset, offset + num_rows, dtype=dtypes.int64)
    if columns.new:
        column_places, found_columns = columns.places(0, num_columns)
    lacking = initializer([num_rows * num_columns - found_rows * found_columns, 1])
    made = make(
        "LoadAndRemapMatrix", path, name, row_places, column_places, reshape(lacking, [-1]),
        num_rows=num_rows, num_cols=num_columns, max_rows_in_memory=max_rows_in_memory,
    )  # fmt: skip
    if rows.buckets:
        made = concat([made, initializer([rows.buckets, num_columns])], 0)
    if columns.buckets:
        made = concat([made, initializer([num_rows + rows.buckets, columns.buckets])], 1)
    return made


def load_and_remap_matrix_initializer(
    ckpt_path: Any,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializing | None = None,
    max_rows_in_memory: int = -1,
) -> Initializing:
    """An initializer: a checkpoint's matrix, its rows and columns put where their words are now.

    Args:
      ckpt_path: the checkpoint.
      old_tensor_name: key of a float matrix in it.
      new_row_vocab_size, new_col_vocab_size: number of rows and columns with words.
      old_row_vocab_size: how many words of the old rows' file count; -1 for all.
      old_row_vocab_file, new_row_vocab_file: words of the rows, a line each; or neither.
      old_col_vocab_file, new_col_vocab_file: words of the columns; or neither.
      num_row_oov_buckets, num_col_oov_buckets: rows and columns after these for unknown words.
      initializer: values of what has no place in the checkpoint; default zeros.
      max_rows_in_memory: accepted for compatibility.

    Returns:
      A function from a shape (and dtype and part of a partitioned variable) to the values.

    Raises:
      TypeError: ``initializer`` cannot be called, or other values than float32 are asked for.
      ValueError: shapes or files that do not go together, when it is called.
    """
    draw = initializer if initializer is not None else zeros_initializer()
    if not callable(draw):
        raise TypeError(
            f"initializer must be callable, instead of being {draw} of type {type(draw)}."
        )

    def initialize(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        if dtypes.as_dtype(dtype) != dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        dims = list(shape)
        _check_dims(dims, new_col_vocab_size, num_col_oov_buckets)
        offset = partition_info.single_offset(dims) if partition_info is not None else 0
        end = offset + dims[0]
        if end > new_row_vocab_size + num_row_oov_buckets:
            raise ValueError(
                f"Trying to initialize {dims[0]} additional rows after {offset} rows have already"
                " been initialized, which would exceed expected total row count of"
                f" {new_row_vocab_size} words and {num_row_oov_buckets} buckets"
            )
        buckets = min(dims[0], max(0, end - new_row_vocab_size))
        if offset > new_row_vocab_size:
            return draw(dims)
        rows = _Vocabularies(
            "row", old_row_vocab_file, new_row_vocab_file, old_row_vocab_size, buckets
        )
        columns = _Vocabularies(
            "col", old_col_vocab_file, new_col_vocab_file, -1, num_col_oov_buckets
        )
        return _matrix(
            ckpt_path, old_tensor_name, rows.checked(), columns.checked(), offset,
            dims[0] - buckets, new_col_vocab_size, draw, max_rows_in_memory,
        )  # fmt: skip

    return initialize


def _check_dims(dims: list[int], columns: int, buckets: int) -> None:
    if len(dims) != 2:
        raise ValueError(f"Expected 2-dim shape, but received: {dims}")
    if dims[0] <= 0:
        raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {dims}")
    if dims[1] != columns + buckets:
        raise ValueError(
            f"Expected 2nd dim of shape to be new_col_vocab_size ({columns}) +"
            f" num_col_oov_buckets ({buckets}) = {columns + buckets}, but received shape: {dims}"
        )


def load_embedding_initializer(
    ckpt_path: Any,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: Any,
    new_vocab_file: Any,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Initializing | None = None,
    max_rows_in_memory: int = -1,
) -> Initializing:
    """``load_and_remap_matrix_initializer`` for embeddings [words, dim].

    Args:
      ckpt_path, embedding_tensor_name: the checkpoint, and the key in it.
      new_vocab_size, embedding_dim: number of rows and columns.
      old_vocab_file, new_vocab_file, old_vocab_size: words of the rows.
      num_oov_buckets: rows for unknown words.
      initializer: values of new words; default a truncated normal with deviation
        ``1 / sqrt(embedding_dim)``.
      max_rows_in_memory: accepted for compatibility.
    """
    if initializer is None:
        initializer = truncated_normal_initializer(stddev=1.0 / math.sqrt(embedding_dim))
    return load_and_remap_matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        new_vocab_size,
        embedding_dim,
        old_row_vocab_size=old_vocab_size,
        old_row_vocab_file=old_vocab_file,
        new_row_vocab_file=new_vocab_file,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def load_linear_multiclass_bias_initializer(
    ckpt_path: Any,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: Any,
    new_class_vocab_file: Any,
    num_class_oov_buckets: int = 0,
    initializer: Initializing | None = None,
    max_rows_in_memory: int = -1,
) -> Initializing:
    """``load_and_remap_matrix_initializer`` for biases [classes, 1], at first zeros."""
    return load_and_remap_matrix_initializer(
        ckpt_path,
        bias_tensor_name,
        new_class_vocab_size,
        1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )


def load_variable_slot_initializer(
    ckpt_path: Any,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Initializing | None = None,
    max_rows_in_memory: int = -1,
) -> Initializing:
    """``load_and_remap_matrix_initializer`` for a slot of a part of a variable.

    Args:
      primary_partition_info: which part of its variable the slot belongs to.

    The other arguments are those of ``load_and_remap_matrix_initializer``.
    """
    whole = load_and_remap_matrix_initializer(
        ckpt_path,
        old_tensor_name,
        new_row_vocab_size,
        new_col_vocab_size,
        old_row_vocab_file=old_row_vocab_file,
        new_row_vocab_file=new_row_vocab_file,
        old_col_vocab_file=old_col_vocab_file,
        new_col_vocab_file=new_col_vocab_file,
        num_row_oov_buckets=num_row_oov_buckets,
        num_col_oov_buckets=num_col_oov_buckets,
        initializer=initializer,
        max_rows_in_memory=max_rows_in_memory,
    )

    def initialize(shape: Any, dtype: Any = dtypes.float32, partition_info: Any = None) -> Any:
        return whole(shape, dtype, partition_info=primary_partition_info)

    return initialize

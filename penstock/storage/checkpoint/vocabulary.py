"""Variables whose rows or columns belong to words, loaded by another list of words.

Each word of the new vocabulary gets what it had in the old one; other words, and buckets for words
that no vocabulary has, get initial values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.variables.initializers import zeros_initializer
from penstock.ops.array import join, ranges
from penstock.ops.control import control
from penstock.ops.state.state import assign
from penstock.storage.checkpoint.reader import checkpoint_in


class _Info(NamedTuple):
    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int
    backup_initializer: Any
    axis: int


class VocabInfo(_Info):
    """Which words a variable's rows (or columns) belong to, now and in the checkpoint.

    Args:
      new_vocab: file of the words, one a line.
      new_vocab_size: how many of its lines count.
      num_oov_buckets: how many rows are for other words.
      old_vocab: file of the words of the checkpoint.
      old_vocab_size: how many of its lines count; -1 is all.
      backup_initializer: of what has no value in the checkpoint; default zeros.
      axis: 0 for rows, 1 for columns.

    Raises:
      ValueError: another axis.

    Example:
      >>> import penstock as tf
      >>> tf.train.VocabInfo("new.txt", 100, 1, "old.txt").old_vocab_size
      -1
    """

    __slots__ = ()

    def __new__(
        cls,
        new_vocab: str,
        new_vocab_size: int,
        num_oov_buckets: int,
        old_vocab: str,
        old_vocab_size: int = -1,
        backup_initializer: Any = None,
        axis: int = 0,
    ) -> VocabInfo:
        """Checks the arguments."""
        if axis not in (0, 1):
            raise ValueError(
                "The only supported values for the axis argument are 0 and 1.  Provided axis:"
                f" {axis}"
            )
        return super().__new__(
            cls, new_vocab, new_vocab_size, num_oov_buckets, old_vocab, old_vocab_size,
            backup_initializer, axis,
        )  # fmt: skip


def load_by_vocabulary(
    variables: Sequence[Any], checkpoint: Any, tensor_name: str, info: VocabInfo
) -> None:
    """Makes the initializers of a matrix's parts load a checkpoint, by words.

    Args:
      variables: the parts of the variable, cut by rows; or the whole one.
      checkpoint: the checkpoint, or a directory with one.
      tensor_name: the variable's name there.
      info: the words.

    Raises:
      ValueError: the sizes of variable and vocabulary do not fit.
    """
    path = checkpoint_in(checkpoint)
    initializer = info.backup_initializer or zeros_initializer()
    rows = sum(v.shape.as_list()[0] for v in variables)
    for variable in variables:
        found = variable._get_save_slice_info()
        offset = found.var_offset[0] if found is not None else 0
        value = _part(variable.shape.as_list(), offset, rows, path, tensor_name, info, initializer)
        variable._initializer_op = assign(variable, value).op


def _part(
    dims: list[int],
    offset: int,
    rows: int,
    path: str,
    tensor_name: str,
    info: VocabInfo,
    initial: Any,
) -> Any:
    words = info.new_vocab_size
    row_words, oov = (words, info.num_oov_buckets) if info.axis == 0 else (rows, 0)
    width = dims[1] if info.axis == 0 else words
    extra = info.num_oov_buckets if info.axis == 1 else 0
    if dims[1] != width + extra or offset + dims[0] > row_words + oov:
        raise ValueError(
            f"variable {tensor_name!r} of shape {dims}, from row {offset}, does not fit a"
            f" vocabulary of {words} words and {info.num_oov_buckets} buckets on axis {info.axis}"
        )
    more = min(dims[0], max(0, offset + dims[0] - row_words))
    height = dims[0] - more
    if height == 0:
        return initial(dims)
    kept_rows: Any = height
    kept_columns: Any = width
    row_map = ranges.range_(offset, offset + height, dtype="int64")
    column_map: Any = convert_to_tensor([], dtype="int64")
    if info.axis == 0:
        row_map, kept_rows = _remapping(info, offset, height)
    else:
        column_map, kept_columns = _remapping(info, 0, width)
    # How many lack a value is known as the step runs; initializers take shapes that are known now.
    lacking = height * width - kept_rows * kept_columns
    fresh = _flat(convert_to_tensor(initial([height * width, 1])))[:lacking]
    value = make(
        "LoadAndRemapMatrix", path, tensor_name, row_map, column_map, fresh,
        num_rows=height, num_cols=width, max_rows_in_memory=-1,
    )  # fmt: skip
    if more:
        value = join.concat([value, convert_to_tensor(initial([more, width]))], 0)
    if extra:
        value = join.concat([value, convert_to_tensor(initial([dims[0], extra]))], 1)
    return control.identity(value)


def _remapping(info: VocabInfo, offset: int, count: int) -> Any:
    return make(
        "GenerateVocabRemapping", info.new_vocab, info.old_vocab, new_vocab_offset=offset,
        num_new_vocab=count, old_vocab_size=info.old_vocab_size,
    )  # fmt: skip


def _flat(values: Any) -> Any:
    flat: Any = make("Reshape", values, [-1])
    return flat

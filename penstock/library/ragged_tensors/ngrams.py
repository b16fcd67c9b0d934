"""``tf.strings.ngrams``: neighbouring strings joined."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors import splits as rows
from penstock.library.ragged_tensors.gathering import rows_from
from penstock.library.ragged_tensors.joining import concat
from penstock.library.ragged_tensors.shaping import reduce_join
from penstock.library.ragged_tensors.tensor import RaggedTensor, convert, is_ragged
from penstock.ops.array import cast, fill, ranges
from penstock.ops.math import binary, comparison
from penstock.ops.strings import string_join


def ngrams(
    data: Any,
    ngram_width: Any,
    separator: str = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Each run of ``ngram_width`` neighbours along the last dim, joined.

    Args:
      data: strings [..., n], or a ragged tensor of them.
      ngram_width: how many, or a list of numbers.
      separator: what stands between them.
      pad_values: what stands before and after each row, a string or a pair; by default nothing.
      padding_width: how often; never more than one less than the width, which is the default.
      preserve_short_sequences: whether a row that is too short for every width is one ngram.

    Returns:
      As ``data``, tensor or ragged tensor, with the ngrams of each row.

    Raises:
      ValueError, TypeError: a width or padding that is none.

    >>> rows = tf.ragged.constant([["a", "b", "c"], ["d"]])
    >>> with tf.Session() as session:
    ...     session.run(tf.strings.ngrams(rows, 2)).to_list()
    [[b'a b', b'b c'], []]
    """
    widths = [ngram_width] if isinstance(ngram_width, int) else list(ngram_width)
    if any(width < 1 for width in widths):
        raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
    pads = _pads(pad_values)
    if padding_width is not None and padding_width < 1:
        raise ValueError(f"padding_width must be greater than 0. Got {padding_width}")
    if padding_width is not None and pads is None:
        raise ValueError("pad_values must be provided if padding_width is set.")
    with name_scope(name, "StringNGrams", [getattr(data, "flat_values", data)]):
        texts = convert(data, None if is_ragged(data) else dtypes.string)
        rank = texts.shape.ndims
        if rank is None:
            raise ValueError("Rank of data must be known.")
        if rank == 0:
            raise ValueError("Data must have rank>0")
        plain = not isinstance(texts, RaggedTensor)
        if plain and rank == 1:
            whole = RaggedTensor.from_row_starts(texts, [0])
            return _of_rows(
                whole, widths, separator, pads, padding_width, preserve_short_sequences
            ).values
        if plain:
            texts = RaggedTensor.from_tensor(texts, ragged_rank=rank - 1)
        made = _of(texts, widths, separator, pads, padding_width, preserve_short_sequences)
        return made.to_tensor(default_value="") if plain else made


def _pads(values: Any) -> tuple[str, str] | None:
    if values is None:
        return None
    if isinstance(values, str | bytes):
        return values, values  # type: ignore[return-value]
    if isinstance(values, list | tuple) and len(values) == 2:
        return values[0], values[1]
    raise TypeError("pad_values must be a string, tuple of strings, or None.")


def _of(rt: RaggedTensor, *how: Any) -> RaggedTensor:
    inner = rt.values
    if isinstance(inner, RaggedTensor):
        return rt.with_values(_of(inner, *how))
    return _of_rows(rt, *how)


def _of_rows(
    rt: RaggedTensor,
    widths: list[int],
    separator: str,
    pads: tuple[str, str] | None,
    padding_width: int | None,
    keep_short: bool,
) -> RaggedTensor:
    made = []
    for width in widths:
        size = width - 1 if padding_width is None else min(padding_width, width - 1)
        padded = rt if pads is None or not size else _padded(rt, pads, size)
        made.append(_joined(padded, width, separator))
        if keep_short and width == min(widths):
            made.append(_short(padded, width, separator))
    return concat(made, 1)  # type: ignore[no-any-return]


def _padded(rt: RaggedTensor, pads: tuple[str, str], size: int) -> RaggedTensor:
    splits = rows.uniform(rt.nrows(), size, rt.row_splits.dtype)
    sides = [RaggedTensor(fill.fill([splits[-1]], pad), splits, internal=True) for pad in pads]
    made: RaggedTensor = concat([sides[0], rt, sides[1]], 1)
    return made


def _joined(rt: RaggedTensor, width: int, separator: str) -> RaggedTensor:
    """Every run of ``width``: the rows without their ends, joined element by element."""
    starts = rt.row_starts()
    count = binary.maximum(rt.row_lengths() - (width - 1), cast.cast(0, starts.dtype))
    parts = [rows_from(rt.values, starts + i, starts + i + count) for i in range(width)]
    joined = string_join.string_join([part.values for part in parts], separator)
    return parts[0].with_values(joined)


def _short(rt: RaggedTensor, width: int, separator: str) -> RaggedTensor:
    """Rows that are not empty and shorter than ``width``, each as one ngram."""
    lengths: Tensor = rt.row_lengths()
    zero = cast.cast(0, lengths.dtype)
    is_short = comparison.logical_and(lengths > zero, lengths < width)
    whole = reduce_join(rt, axis=1, separator=separator)
    first = ranges.range_(rt.nrows())
    return rows_from(whole, first, first + cast.cast(is_short, lengths.dtype))

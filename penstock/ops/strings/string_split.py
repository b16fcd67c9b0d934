"""Strings taken apart: split at separators, and n-grams of their pieces.

A batch of split strings is a sparse matrix, one row a string.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import dtypes
from penstock.foundation.base.errors import invalid
from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.array import nodes
from penstock.ops.strings.string_elements import REASON, as_bytes, strings

# ---- splitting -----------------------------------------------------------------------------------


def _sparse(rows: list[list[bytes]]) -> tuple[torch.Tensor, np.ndarray, torch.Tensor]:
    counts = torch.tensor([len(row) for row in rows], dtype=torch.int64)
    first = torch.arange(len(rows)).repeat_interleave(counts)
    starts = torch.cumsum(counts, 0) - counts
    second = torch.arange(len(first)) - starts.repeat_interleave(counts)
    widest = int(counts.max()) if rows else 0
    return (
        torch.stack([first, second], 1),
        strings([piece for row in rows for piece in row]),
        torch.tensor([len(rows), widest]),
    )


def _split(input: Any, delimiter: Any, skip_empty: bool) -> Any:
    signs = as_bytes(delimiter)
    at = re.compile(b"[" + re.escape(signs) + b"]") if signs else None

    def pieces(text: bytes) -> list[bytes]:
        if at is None or not text:
            return [text[i : i + 1] for i in range(len(text))]
        found = at.split(text)
        return [piece for piece in found if piece] if skip_empty else found

    return _sparse([pieces(text) for text in input])


def _split_v2(input: Any, sep: Any, maxsplit: int) -> Any:
    sign = as_bytes(sep)
    if sign or maxsplit == 0:
        return _sparse(
            [text.split(sign or None, maxsplit) if maxsplit else [text] for text in input]
        )
    return _sparse([_words(text, maxsplit) for text in input])


def _words(text: bytes, most: int) -> list[bytes]:
    """Pieces between runs of white space; after ``most`` of them the rest, be it empty."""
    found = text.split(None, most)
    return [*found, b""] if len(found) == most else found


def _sparse_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("input", 1)
    ctx.rank("delimiter" if ctx.op.type == "StringSplit" else "sep", 0)
    return [(None, 2), (None,), (2,)]


for _name, _sign, _attr, _kernel in (
    ("StringSplit", "delimiter", "skip_empty: bool = True", _split),
    ("StringSplitV2", "sep", "maxsplit: int = -1", _split_v2),
):
    define_op(
        _name,
        f"input: string, {_sign}: string -> indices: int64, values: string, shape: int64",
        attrs=[_attr],
        shape=_sparse_shape,
        kernel=_kernel,
        no_gradient=REASON,
    )


# ---- n-grams -------------------------------------------------------------------------------------


def _ngrams_of(tokens: list[bytes], width: int, attrs: dict[str, Any]) -> list[bytes]:
    pad = width - 1 if attrs["pad_width"] < 0 else min(attrs["pad_width"], width - 1)
    padded = [attrs["left_pad"]] * pad + tokens + [attrs["right_pad"]] * pad
    between: bytes = attrs["separator"]
    return [between.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]


def _ngrams(
    data: Any, data_splits: torch.Tensor, separator: Any, ngram_widths: list[int], left_pad: Any,
    right_pad: Any, pad_width: int, preserve_short_sequences: bool,
) -> Any:  # fmt: skip
    splits = data_splits.tolist()
    wrong = splits and (splits[0] != 0 or splits[-1] != len(data))
    if wrong or any(a > b for a, b in zip(splits[:-1], splits[1:], strict=True)):
        raise invalid(
            f"Invalid split values {splits}: they must begin with 0, not fall, and end with the"
            f" number of strings, {len(data)}"
        )
    attrs = {
        "pad_width": pad_width, "left_pad": as_bytes(left_pad), "right_pad": as_bytes(right_pad),
        "separator": as_bytes(separator),
    }  # fmt: skip
    made: list[bytes] = []
    ends = [0] if splits else []
    for start, end in zip(splits[:-1], splits[1:], strict=True):
        tokens = list(data[start:end])
        found = [gram for width in ngram_widths for gram in _ngrams_of(tokens, width, attrs)]
        if not found and preserve_short_sequences and tokens:
            pad = max(pad_width, 0)
            sides = [attrs["left_pad"]] * pad, [attrs["right_pad"]] * pad
            found = [attrs["separator"].join([*sides[0], *tokens, *sides[1]])]
        made += found
        ends.append(len(made))
    return strings(made), torch.tensor(ends, dtype=data_splits.dtype)


def _ngrams_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("data", 1)
    return [(None,), ctx.rank("data_splits", 1)]


define_op(
    "StringNGrams",
    "data: string, data_splits: Tsplits -> ngrams: string, ngrams_splits: Tsplits",
    attrs=[
        "separator: string", "ngram_widths: list(int) >= 0", "left_pad: string",
        "right_pad: string", "pad_width: int", "preserve_short_sequences: bool",
        "Tsplits: {int32, int64} = int64",
    ],
    shape=_ngrams_shape,
    kernel=_ngrams,
    no_gradient=REASON,
)  # fmt: skip


# ---- public functions ----------------------------------------------------------------------------


def _one_of(first: Any, second: Any, names: tuple[str, str]) -> Any:
    if first is not None and second is not None:
        raise ValueError(f"Cannot specify both {names[1]!r} and {names[0]!r}")
    return second if first is None else first


def _only_sparse(result_type: str) -> None:
    if result_type == "RaggedTensor":
        raise NotImplementedError(
            "there are no ragged tensors here; result_type='SparseTensor' gives a sparse one"
        )
    if result_type != "SparseTensor":
        raise ValueError(
            f"result_type must be 'RaggedTensor' or 'SparseTensor'; found {result_type!r}"
        )


def _as_sparse(parts: Any) -> SparseTensor:
    indices, values, shape = parts
    indices.set_shape([None, 2])
    values.set_shape([None])
    shape.set_shape([2])
    return SparseTensor(indices, values, shape)


def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None,
    result_type: str = "SparseTensor", name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Strings split at each of some characters.

    Args:
      source: string vector.
      sep, delimiter: the characters, a string scalar; two names of one argument.  ``""`` splits
        into bytes; default a space.
      skip_empty: drops empty pieces.
      result_type: only ``"SparseTensor"``.

    Returns:
      A string SparseTensor with a row for each string.

    Raises:
      ValueError: both names of the separator are given.
      NotImplementedError: a ragged result is asked for.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.string_split(["hello world", "a b c"])).values.tolist()
      [b'hello', b'world', b'a', b'b', b'c']
    """
    signs = _one_of(sep, delimiter, ("sep", "delimiter"))
    _only_sparse(result_type)
    with scopes.name_scope(name, "StringSplit"):
        texts = convert_to_tensor(source, dtype=dtypes.string, name="input")
        at = convert_to_tensor(" " if signs is None else signs, dtype=dtypes.string)
        return _as_sparse(make("StringSplit", texts, at, skip_empty=skip_empty))


def strings_split(
    input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor",
    source: Any = None, name: str | None = None,
) -> SparseTensor:  # fmt: skip
    """Strings split at a separator, as Python's ``str.split`` does it.

    Args:
      input, source: strings of rank 1 or more; two names of one argument.
      sep: the separator, a string scalar; none or ``""`` splits at runs of white space.
      maxsplit: at how many places at most; -1 for all.
      result_type: only ``"SparseTensor"``.

    Returns:
      A string SparseTensor of one dim more, whose last dim holds the pieces of each string.

    Raises:
      ValueError: both names of the strings are given, or they are a scalar.
      NotImplementedError: a ragged result is asked for.
    """
    given = _one_of(input, source, ("input", "source"))
    _only_sparse(result_type)
    with scopes.name_scope(name, "StringSplit"):
        texts: Tensor = convert_to_tensor(given, dtype=dtypes.string, name="input")
        at = convert_to_tensor("" if sep is None else sep, dtype=dtypes.string)
        if texts.rank is None or texts.rank < 2:
            return _as_sparse(make("StringSplitV2", texts, at, maxsplit=maxsplit))
        flat = make("Reshape", texts, [-1])
        return _in_shape(make("StringSplitV2", flat, at, maxsplit=maxsplit), nodes.shape(texts))


def _in_shape(parts: Any, dims: Tensor) -> SparseTensor:
    """The pieces of a flattened tensor's strings, in the shape ``dims`` and one dim more."""
    indices, values, shape = parts
    row, place = make("Split", 1, indices, num_split=2)
    dims = nodes.cast(dims, dtypes.int64)
    lead = make("Transpose", make("UnravelIndex", make("Reshape", row, [-1]), dims), [1, 0])
    # As of a ragged tensor: where a dim is empty, those behind it are.
    alive = make("Cumprod", make("Sign", dims), 0, exclusive=True)
    most = make("Slice", shape, [1], [1])
    dense = nodes.concat([nodes.mul(dims, alive), most], 0)
    return SparseTensor(nodes.concat([lead, place], 1), values, dense)

"""Functions of strings whose results are ragged: characters, bytes, pieces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import constant, make, make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.ragged_tensors.tensor import RaggedTensor, convert, is_ragged
from penstock.ops.array import join, ranges, ranks, reshape as reshape_ops, shape as shape_ops
from penstock.ops.strings.string_split import (
    string_split as _split_sparse,
    strings_split as _split_at,
)

# Makes of a string vector one or several ragged tensors of a row for each string.
Rows = Callable[[Tensor], list[RaggedTensor]]


def _of_each(texts: Any, rows: Rows) -> list[Any]:
    """Applies ``rows`` to strings of any rank: a row for each string, a vector for a scalar."""
    if isinstance(texts, RaggedTensor):
        return [texts.with_values(made) for made in _of_each(texts.values, rows)]
    rank = texts.shape.ndims
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if rank == 0:
        return [made.values for made in rows(reshape_ops.reshape(texts, [1]))]
    if rank == 1:
        return rows(texts)
    outer = RaggedTensor.from_tensor(texts, ragged_rank=rank - 1)
    return _of_each(outer, rows)


def _strings(value: Any) -> Any:
    return convert(value, None if is_ragged(value) else dtypes.string)


def _decoding(encoding: str, errors: str, replacement: int, controls: bool) -> Rows:
    def rows(texts: Tensor) -> list[RaggedTensor]:
        splits, codes, starts = make(
            "UnicodeDecodeWithOffsets", texts, input_encoding=encoding, errors=errors,
            replacement_char=replacement, replace_control_characters=controls,
        )  # fmt: skip
        return [RaggedTensor(part, splits, internal=True) for part in (codes, starts)]

    return rows


def _decoded(
    input: Any, encoding: str, errors: str, replacement: int, controls: bool, name: Any, scope: str
) -> list[Any]:
    with name_scope(name, scope, [getattr(input, "flat_values", input)]):
        return _of_each(_strings(input), _decoding(encoding, errors, replacement, controls))


def _characters(codes: Any) -> Any:
    """Each code point as a string of UTF-8."""
    if isinstance(codes, RaggedTensor):
        return codes.with_values(_characters(codes.values))
    ends = ranges.range_(ranks.size(codes, out_type=dtypes.int64) + 1)
    return make("UnicodeEncode", codes, ends, output_encoding="UTF-8")


def unicode_decode(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The code points of strings.

    Args:
      input: strings of known rank, or a ragged tensor of them.
      input_encoding: the encoding that they are in, by a name that Python's codecs know.
      errors: "replace" bytes that are no text, "ignore" them, or refuse them ("strict").
      replacement_char: code point that stands for what is replaced.
      replace_control_characters: whether U+0000 to U+001F are taken for errors as well.

    Returns:
      int32 [n] of a scalar; else a ragged tensor of a row for each string.

    Raises:
      ValueError: the rank is unknown.
      tf.errors.InvalidArgumentError: when it runs, an unknown encoding, or, where that is strict,
        bytes that are no text.

    >>> with tf.Session() as session:
    ...     session.run(tf.strings.unicode_decode(["hi", "日本"], "UTF-8")).to_list()
    [[104, 105], [26085, 26412]]
    """
    return _decoded(
        input, input_encoding, errors, replacement_char, replace_control_characters, name,
        "UnicodeDecode",
    )[0]  # fmt: skip


def unicode_decode_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    replace_control_characters: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """``unicode_decode``, and of each code point the number of its first byte."""
    return tuple(_decoded(
        input, input_encoding, errors, replacement_char, replace_control_characters, name,
        "UnicodeDecodeWithOffsets",
    ))  # fmt: skip


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """The characters of strings, as strings of UTF-8; the arguments are ``unicode_decode``'s.

    >>> with tf.Session() as session:
    ...     session.run(tf.strings.unicode_split(["hi", ""], "UTF-8")).to_list()
    [[b'h', b'i'], []]
    """
    codes = _decoded(input, input_encoding, errors, replacement_char, False, name, "UnicodeSplit")[
        0
    ]
    return _characters(codes)


def unicode_split_with_offsets(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """``unicode_split``, and of each character the number of its first byte."""
    codes, starts = _decoded(
        input, input_encoding, errors, replacement_char, False, name, "UnicodeSplitWithOffsets"
    )
    return _characters(codes), starts


def unicode_encode(
    input: Any, output_encoding: str, errors: str = "replace", replacement_char: int = 65533,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Strings of code points.

    Args:
      input: int32 [..., n], or a ragged tensor of them: each innermost row makes a string.
      output_encoding: "UTF-8", "UTF-16-BE" or "UTF-32-BE".
      errors: "replace" what is no character, "ignore" it, or refuse it ("strict").
      replacement_char: code point that stands for what is replaced.

    Returns:
      Strings, of one dim less.

    Raises:
      ValueError: a scalar, or an unknown rank.

    >>> with tf.Session() as session:
    ...     session.run(tf.strings.unicode_encode([[104, 105], [26085, 26412]], "UTF-8")).tolist()
    [b'hi', b'\\xe6\\x97\\xa5\\xe6\\x9c\\xac']
    """

    def encode(codes: Any, splits: Any) -> Tensor:
        return make_tensor(
            "UnicodeEncode", codes, splits, errors=errors, output_encoding=output_encoding,
            replacement_char=replacement_char,
        )  # fmt: skip

    def of(codes: Any) -> Any:
        if isinstance(codes, RaggedTensor):
            if isinstance(codes.values, RaggedTensor):
                return codes.with_values(of(codes.values))
            if codes.values.shape.ndims == 1:
                return encode(codes.values, codes.row_splits)
            return codes.with_values(of(codes.values))
        rank = codes.shape.ndims
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 1:
            whole = join.stack([0, ranks.size(codes)])
            return reshape_ops.reshape(encode(codes, whole), [])
        ragged = RaggedTensor.from_tensor(
            reshape_ops.reshape(codes, join.stack([-1, shape_ops.shape(codes)[-1]]))
        )
        return reshape_ops.reshape(of(ragged), shape_ops.shape(codes)[:-1])

    with name_scope(name, "UnicodeEncode", [getattr(input, "flat_values", input)]):
        return of(convert(input))


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of strings, each as a string.

    Args:
      input: strings of known rank, or a ragged tensor of them.

    >>> with tf.Session() as session:
    ...     session.run(tf.strings.bytes_split(["ab", ""])).to_list()
    [[b'a', b'b'], []]
    """

    def rows(texts: Tensor) -> list[RaggedTensor]:
        return [_from_sparse(_split_sparse(texts, sep="", skip_empty=False), texts)]

    with name_scope(name, "StringsByteSplit", [getattr(input, "flat_values", input)]):
        texts = _strings(input)
        if texts.shape.ndims is None:
            raise ValueError("input must have a statically-known rank.")
        return _of_each(texts, rows)[0]


def _from_sparse(pieces: Any, texts: Any) -> RaggedTensor:
    """The pieces of a vector of strings, a row for each; of a number of them that may be known."""
    known = texts.shape.dims[0].value if texts.shape.ndims else None
    made: RaggedTensor = RaggedTensor.from_value_rowids(
        pieces.values,
        pieces.indices[:, 0],
        pieces.dense_shape[0] if known is None else constant(known, dtypes.int64),
        validate=False,
    )
    return made


def string_split(
    source: Any, sep: Any = None, skip_empty: bool = True, delimiter: Any = None,
    result_type: str = "SparseTensor", name: str | None = None,
) -> Any:  # fmt: skip
    """Strings split at each of some characters.

    Args:
      source: string vector.
      sep, delimiter: the characters, a string scalar; two names of one argument.
      skip_empty: drops empty pieces.
      result_type: "SparseTensor" or "RaggedTensor".

    Returns:
      A SparseTensor, or a RaggedTensor, of a row for each string.

    Raises:
      ValueError: another result type, or both names of the characters.

    Example:
      >>> import penstock as tf
      >>> words = tf.string_split(["the first line", "second"])
      >>> with tf.Session() as session:
      ...     session.run(words).values.tolist()
      [b'the', b'first', b'line', b'second']
    """
    if result_type != "RaggedTensor":
        return _split_sparse(source, sep, skip_empty, delimiter, result_type, name)
    texts = convert(source, dtypes.string)
    return _from_sparse(_split_sparse(texts, sep, skip_empty, delimiter, name=name), texts)


def split(
    input: Any = None, sep: Any = None, maxsplit: int = -1, result_type: str = "SparseTensor",
    source: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Strings split at a separator, as Python's ``str.split`` does it.

    Args:
      input, source: strings, or a ragged tensor of them; two names of one argument.
      sep: the separator, a string scalar; none or ``""`` splits at runs of white space.
      maxsplit: at how many places at most; -1 for all.
      result_type: "SparseTensor" or "RaggedTensor".

    Returns:
      A SparseTensor, or a RaggedTensor, of one dim more.

    Raises:
      ValueError: another result type, or both names of the strings.

    >>> with tf.Session() as session:
    ...     made = tf.strings.split(["a b", "", "c"], result_type="RaggedTensor")
    ...     session.run(made).to_list()
    [[b'a', b'b'], [], [b'c']]
    """
    given = source if input is None else input
    if result_type != "RaggedTensor" and not is_ragged(given):
        return _split_at(input, sep, maxsplit, result_type, source, name)

    def rows(texts: Tensor) -> list[RaggedTensor]:
        return [_from_sparse(_split_at(texts, sep, maxsplit), texts)]

    with name_scope(name, "StringSplit", [getattr(given, "flat_values", given)]):
        texts = _strings(given)
        # Of unknown rank: a vector, as TensorFlow takes it.
        made = (rows(texts) if texts.shape.ndims is None else _of_each(texts, rows))[0]
        if result_type == "RaggedTensor":
            return made
        if result_type == "SparseTensor":
            return made.to_sparse()
    raise ValueError("result_type must be 'RaggedTensor' or 'SparseTensor'.")

"""Joining strings element by element, and matching them with regular expressions.

Expressions are RE2's in TensorFlow and Python's ``re`` here; the two agree on what both know.
Strings are bytes, so ``.`` is one byte.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import torch

from penstock.base import errors, shapes
from penstock.graph.build import make
from penstock.graph.tensor import Tensor
from penstock.opdef import define_op
from penstock.opdef.inference import Dims, ShapeContext, same_as

__all__ = ["regex_full_match", "string_join"]

_STRINGS = "its inputs are strings"


def _bytes(value: Any) -> bytes:
    item = value.item() if isinstance(value, np.ndarray) else value
    return item.encode() if isinstance(item, str) else bytes(item)


def _join_shape(ctx: ShapeContext) -> Dims:
    """All inputs have one shape; scalars go with any."""
    known: Dims = ()
    unknown = False
    for dims in ctx["inputs"]:
        if dims is None:
            unknown = True
        elif dims != ():
            known = dims if known == () else shapes.merge_static(known, dims)
    return None if unknown and known == () else known


def _string_join(inputs: Any, separator: str) -> np.ndarray:
    arrays = [np.asarray(value, dtype=object) for value in inputs]
    found = {a.shape for a in arrays if a.ndim}
    if len(found) > 1:
        raise errors.InvalidArgumentError(
            None, None,
            f"strings to join must have one shape, or be scalars; found {sorted(found)}",
        )  # fmt: skip
    between = _bytes(separator)
    result = np.empty(found.pop() if found else (), dtype=object)
    whole = np.broadcast_arrays(*arrays)
    for index in np.ndindex(result.shape):
        result[index] = between.join(a[index] for a in whole)
    return result


define_op(
    "StringJoin",
    "inputs: N * string -> output: string",
    attrs=["N: int >= 1", 'separator: string = ""'],
    shape=_join_shape,
    kernel=_string_join,
    no_gradient=_STRINGS,
)


def _full_match(input: Any, pattern: Any) -> torch.Tensor:
    try:
        compiled = re.compile(_bytes(pattern))
    except re.error as error:
        raise errors.InvalidArgumentError(
            None, None, f"{_bytes(pattern)!r} is no regular expression: {error}"
        ) from None
    array = np.asarray(input, dtype=object)
    flags = [compiled.fullmatch(text) is not None for text in array.ravel()]
    return torch.tensor(flags, dtype=torch.bool).reshape(array.shape)


def _pattern_shape(ctx: ShapeContext) -> Dims:
    ctx.rank("pattern", 0)
    dims: Dims = ctx["input"]
    return dims


define_op(
    "StaticRegexFullMatch",
    "input: string -> output: bool",
    attrs=["pattern: string"],
    shape=same_as("input"),
    kernel=_full_match,
    no_gradient=_STRINGS,
)
define_op(
    "RegexFullMatch",
    "input: string, pattern: string -> output: bool",
    shape=_pattern_shape,
    kernel=_full_match,
    no_gradient=_STRINGS,
)


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Strings joined element by element.

    Args:
      inputs: string tensors of one shape; scalars go with every element.
      separator: between them.
      name: name of the node.

    Returns:
      A string tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.string_join(["a", ["b", "c"]], "/")).tolist()
      [b'a/b', b'a/c']
    """
    made: Tensor = make("StringJoin", list(inputs), separator=separator, name=name)
    return made


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Tensor:
    """Whether each string matches a regular expression as a whole.

    Args:
      input: string tensor.
      pattern: a string, or a string scalar tensor.
      name: name of the node.

    Returns:
      A bool tensor of the shape of ``input``.
    """
    made: Tensor
    if isinstance(pattern, str | bytes):
        made = make("StaticRegexFullMatch", input, pattern=pattern, name=name)
    else:
        made = make("RegexFullMatch", input, pattern, name=name)
    return made

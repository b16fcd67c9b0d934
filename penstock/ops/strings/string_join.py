"""Joining strings element by element."""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import errors, shapes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.strings.string_elements import REASON, as_bytes


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
        raise errors.invalid(
            f"strings to join must have one shape, or be scalars; found {sorted(found)}"
        )
    between = as_bytes(separator)
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
    no_gradient=REASON,
)


def string_join(inputs: Any, separator: str = "", name: str | None = None) -> Tensor:
    """Strings joined element by element.

    Args:
      inputs: string tensors of one shape; scalars go with every element.
      separator: between them.

    Returns:
      A string tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     sess.run(tf.string_join(["a", ["b", "c"]], "/")).tolist()
      [b'a/b', b'a/c']
    """
    return make("StringJoin", list(inputs), separator=separator, name=name)

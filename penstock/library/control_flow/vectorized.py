"""``tf.vectorized_map``: a function of each row, by a loop over the rows.

TensorFlow rewrites the function's nodes to ones that work on all rows at once.  Here the function
is traced once and called in a loop, as ``tf.map_fn`` does: values and gradients are the same, the
time is that of ``tf.map_fn``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.foundation.graph import nest
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.control_flow.defun import Defun
from penstock.library.control_flow.functional import map_fn


def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """What ``fn`` makes of each row of ``elems``, stacked; unlike ``map_fn``, of any types.

    The rows are worked on one after the other, in a loop.

    Args:
      fn: takes a row, a nesting as ``elems``; returns tensors, in any nesting.
      elems: a tensor [n, ...], or a nesting of tensors with one n.

    Returns:
      Tensors [n, ...] in the nesting that ``fn`` returns.

    Raises:
      ValueError: ``elems`` holds no tensor.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
      ...     sess.run(tf.vectorized_map(lambda row: tf.reduce_sum(row * row), x)).tolist()
      [5.0, 25.0]
    """
    flat = [convert_to_tensor(elem) for elem in nest.flatten(elems)]
    if not flat:
        raise ValueError(f"vectorized_map needs at least one tensor in elems; found {elems!r}")
    returned: list[Any] = []

    def of_row(*rows: Any) -> Any:
        for row, elem in zip(rows, flat, strict=True):
            row.set_shape(elem.shape[1:])
        made = fn(nest.pack_sequence_as(elems, list(rows)))
        returned[:] = [made]
        return [convert_to_tensor(each) for each in nest.flatten(made)]

    traced = Defun(*[elem.dtype.base_dtype for elem in flat])(of_row)
    types = [tensor.dtype for tensor in traced.body.outputs]

    def call(rows: Any) -> list[Any]:
        made = traced(*(rows if len(flat) > 1 else [rows]))
        results = list(made) if isinstance(made, tuple) else [made]
        # Without a row, what is known here is all that is known of the results.
        for result, tensor in zip(results, traced.body.outputs, strict=True):
            result.set_shape(tensor.shape)
        return results

    given = flat if len(flat) > 1 else flat[0]
    results = map_fn(call, given, dtype=types)
    for result, tensor in zip(results, traced.body.outputs, strict=True):
        if tensor.sizes is not None:
            rows = flat[0].shape[0] if flat[0].shape.ndims else None
            result.set_shape([rows, *tensor.sizes])
    return nest.pack_sequence_as(returned[0], results)

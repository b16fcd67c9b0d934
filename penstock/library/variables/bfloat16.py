"""``bfloat16_scope``: models computed in bfloat16 whose variables are float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from penstock.foundation.base import dtypes
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.cast import cast


def _kept_in_float32(getter: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    if kwargs["dtype"] != dtypes.bfloat16:
        return getter(*args, **kwargs)
    kwargs["dtype"] = dtypes.float32
    return cast(getter(*args, **kwargs), dtypes.bfloat16)


@contextmanager
def bfloat16_scope() -> Iterator[Any]:
    """A variable scope in which variables of bfloat16 are kept as float32, and cast where read.

    Yields:
      The variable scope.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default(), tf.tpu.bfloat16_scope():
      ...     w = tf.get_variable("w", [2], tf.bfloat16)
      ...     w.dtype.name, tf.global_variables()[0].dtype.base_dtype.name
      ('bfloat16', 'float32')
    """
    with variable_scope("", custom_getter=_kept_in_float32) as scope:
        yield scope

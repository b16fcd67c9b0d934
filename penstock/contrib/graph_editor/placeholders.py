"""Placeholders that the editor puts where an input was: their names begin with ``geph``."""

from __future__ import annotations

import re
from typing import Any

from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array.constant import placeholder

_OWN = re.compile(r"geph__\w+_\d+")


def placeholder_name(t: Any = None, scope: str | None = None, prefix: str = "geph") -> str:
    """The name of a placeholder.

    Args:
      t: the tensor that it stands for, or None.
      scope: where it is; None for the scope of the tensor, ``""`` for none.
      prefix: what it begins with.

    Raises:
      TypeError: ``t`` is no tensor.

    >>> placeholder_name(scope="here")
    'here/geph'
    """
    if t is not None and not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tensor, got: {type(t)}")
    if scope and not scope.endswith("/"):
        scope += "/"
    if t is None:
        return f"{scope or ''}{prefix}"
    around, _, last = t.op.name.rpartition("/")
    if scope is None:
        scope = f"{around}/" if around else ""
    if _OWN.fullmatch(last):  # what stands for a placeholder is called as that one
        return f"{scope}{last}"
    return f"{scope}{prefix}__{last}_{t.value_index}"


def make_placeholder_from_tensor(t: Any, scope: str | None = None, prefix: str = "geph") -> Tensor:
    """A placeholder of a tensor's dtype and shape, in the default graph.

    Args:
      t: the tensor.
      scope, prefix: as of ``placeholder_name``.

    Raises:
      TypeError: ``t`` is no tensor.
    """
    name = placeholder_name(t, scope, prefix)
    return placeholder(t.dtype.base_dtype, t.get_shape(), name=name)


def make_placeholder_from_dtype_and_shape(
    dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = "geph"
) -> Tensor:
    """A placeholder, in the default graph.

    Args:
      dtype: its dtype.
      shape: its shape; None for any.
      scope, prefix: as of ``placeholder_name``.
    """
    return placeholder(dtype, shape, name=placeholder_name(None, scope, prefix))


ph = make_placeholder_from_dtype_and_shape

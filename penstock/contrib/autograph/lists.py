"""Lists that are to be tensors: what a converted function says of them."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.tensor import Tensor

_UNSPECIFIED = object()


def set_element_type(entity: Any, dtype: Any, shape: Any = _UNSPECIFIED) -> None:
    """Says what a list's elements are; nothing happens, since lists stay Python's.

    Args:
      entity: a list.
      dtype: type of its elements.
      shape: their shape.
    """


def stack(list_or_tensor: Any, element_dtype: Any = None, strict: bool = True) -> Any:
    """The elements of a tensor list as one tensor.

    Args:
      list_or_tensor: a tensor list; another tensor is returned as it is.
      element_dtype: type of a tensor list's elements.
      strict: whether anything else is refused; else it is returned as it is.

    Raises:
      ValueError: something else, or a tensor list whose type of elements is not known.

    Example:
      >>> import penstock as tf
      >>> tf.contrib.autograph.stack([1, 2], strict=False)
      [1, 2]
    """
    if not isinstance(list_or_tensor, Tensor):
        if strict:
            raise ValueError(f"{list_or_tensor} must be stackable when strict=True")
        return list_or_tensor
    if list_or_tensor.dtype != dtypes.variant:
        return list_or_tensor
    if element_dtype is None:
        raise ValueError(
            "cannot stack a list without knowing its element type; use set_element_type to"
            " annotate it"
        )
    return make("TensorListStack", list_or_tensor, -1, element_dtype=dtypes.as_dtype(element_dtype))

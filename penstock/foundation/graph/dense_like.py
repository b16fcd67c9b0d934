"""Classes of programs that act as dense tensors."""

from __future__ import annotations


def register_dense_tensor_like_type(tensor_type: type) -> None:
    """Has ``is_dense_tensor_like`` say yes of a class.

    Raises:
      TypeError: it has no properties ``name`` and ``dtype``.
    """
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{name}` property")
    setattr(tensor_type, "_is_dense_tensor_like", True)  # noqa: B010

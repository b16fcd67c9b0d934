"""What a variable holds that has no value yet: whatever is done with it is refused."""

from __future__ import annotations

from typing import Any


class Undefined:
    """A variable without a value.

    Args:
      name: the variable's.
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "name", name)

    def _refused(self, *args: Any, **kwargs: Any) -> Any:
        raise UnboundLocalError(f"local variable {self.name!r} referenced before assignment")

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") and attribute.endswith("__"):
            raise AttributeError(attribute)  # questions of the interpreter, not of the program
        self._refused()

    def __repr__(self) -> str:
        return f"<undefined {self.name}>"

    __call__ = __getitem__ = __setitem__ = __iter__ = __len__ = __bool__ = _refused
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refused
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _refused
    __pow__ = __rpow__ = __matmul__ = __rmatmul__ = __neg__ = __abs__ = __invert__ = _refused
    __lt__ = __le__ = __gt__ = __ge__ = __int__ = __float__ = __contains__ = _refused


def is_undefined(value: Any) -> bool:
    """Whether a variable has no value."""
    return type(value) is Undefined


def defined(value: Any) -> Any:
    """The value.

    Raises:
      UnboundLocalError: it is undefined.
    """
    return value._refused() if type(value) is Undefined else value

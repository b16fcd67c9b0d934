"""One dim of a static shape, as TensorFlow 1 shows it.

Comparisons are three-valued, as in TensorFlow 1.15: comparing with an unknown dim gives None.
Unlike there, a Dimension can be hashed.

Source: the behaviour of `tf.Dimension` in TensorFlow 1.15.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any


class Dimension:
    """One dim of a shape: a size, or None when it is unknown.

    Arithmetic with an unknown dim gives an unknown dim, a comparison with one gives None.

    Args:
        value: an integer of at least 0, a Dimension, or None.

    Raises:
        ValueError: the value is negative or not a whole number.
        TypeError: the value cannot be a size.

    >>> Dimension(3) + 2, Dimension(3) * None, Dimension(3) == None
    (Dimension(5), Dimension(None), None)
    """

    __slots__ = ("_value",)

    _value: int | None

    def __init__(self, value: Any) -> None:
        self._value = dim_value(value)

    @property
    def value(self) -> int | None:
        """The size, or None when it is unknown."""
        return self._value

    def __repr__(self) -> str:
        return f"Dimension({self._value!r})"

    def __str__(self) -> str:
        return "?" if self._value is None else str(self._value)

    def __hash__(self) -> int:
        return hash(self._value)

    def __int__(self) -> int:
        return self.__index__()

    def __index__(self) -> int:
        if self._value is None:
            raise TypeError("cannot make an integer of Dimension(None): its value is unknown")
        return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return Dimension, (self._value,)

    def _compare(self, other: Any, relation: Callable[[int, int], bool]) -> bool | None:
        value = dim_value(other)
        if self._value is None or value is None:
            return None
        return relation(self._value, value)

    def __eq__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            return self._compare(other, operator.eq)
        except (TypeError, ValueError):
            return NotImplemented

    def __ne__(self, other: object) -> bool | None:  # type: ignore[override]
        try:
            return self._compare(other, operator.ne)
        except (TypeError, ValueError):
            return NotImplemented

    def __lt__(self, other: Any) -> bool | None:
        return self._compare(other, operator.lt)

    def __le__(self, other: Any) -> bool | None:
        return self._compare(other, operator.le)

    def __gt__(self, other: Any) -> bool | None:
        return self._compare(other, operator.gt)

    def __ge__(self, other: Any) -> bool | None:
        return self._compare(other, operator.ge)

    def _apply(self, other: Any, function: Callable[[int, int], int]) -> Dimension:
        try:
            value = dim_value(other)
        except (TypeError, ValueError):
            return NotImplemented  # type: ignore[no-any-return]
        if self._value is None or value is None:
            return Dimension(None)
        return Dimension(function(self._value, value))

    def __add__(self, other: Any) -> Dimension:
        return self._apply(other, operator.add)

    def __radd__(self, other: Any) -> Dimension:
        return self._apply(other, operator.add)

    def __sub__(self, other: Any) -> Dimension:
        return self._apply(other, operator.sub)

    def __rsub__(self, other: Any) -> Dimension:
        return self._apply(other, lambda mine, theirs: theirs - mine)

    def __mul__(self, other: Any) -> Dimension:
        return self._apply(other, operator.mul)

    def __rmul__(self, other: Any) -> Dimension:
        return self._apply(other, operator.mul)

    def __floordiv__(self, other: Any) -> Dimension:
        return self._apply(other, operator.floordiv)

    def __rfloordiv__(self, other: Any) -> Dimension:
        return self._apply(other, lambda mine, theirs: theirs // mine)

    def __mod__(self, other: Any) -> Dimension:
        return self._apply(other, operator.mod)

    def __rmod__(self, other: Any) -> Dimension:
        return self._apply(other, lambda mine, theirs: theirs % mine)

    def __truediv__(self, other: Any) -> Dimension:
        raise TypeError(_no_true_division("Dimension", type(other).__name__))

    def __rtruediv__(self, other: Any) -> Dimension:
        raise TypeError(_no_true_division(type(other).__name__, "Dimension"))

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both can be the same size: they are equal or one of them is unknown."""
        return self._compare(other, operator.eq) is not False

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raises ValueError unless `is_compatible_with(other)`."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {as_dimension(other)} are not compatible")

    def merge_with(self, other: Any) -> Dimension:
        """The Dimension that holds what both know.

        Raises:
            ValueError: they are not compatible.
        """
        self.assert_is_compatible_with(other)
        return as_dimension(other) if self._value is None else Dimension(self._value)


def _no_true_division(left: str, right: str) -> str:
    return f"unsupported operand type(s) for /: '{left}' and '{right}', please use // instead"


def dim_value(value: Any) -> int | None:
    """The plain form of one dim, checked."""
    if value is None:
        return None
    if type(value) is not int:
        if isinstance(value, Dimension):
            return value._value
        value = _whole_number(value)
    if value < 0:
        raise ValueError(f"Dimension {value} must be >= 0")
    return value  # type: ignore[no-any-return]


def _whole_number(value: Any) -> int:
    if hasattr(value, "as_datatype_enum"):  # a DType has a number, but it is not a size
        raise TypeError(f"Cannot convert {value} to Dimension")
    try:
        number = int(value)
    except (TypeError, ValueError) as error:
        message = (
            f"Cannot convert {value!r} to Dimension: allowed are an integer, a Dimension, None"
        )
        raise type(error)(message) from None
    if not isinstance(value, str | bytes) and number != value:
        raise ValueError(f"Ambiguous dimension: {value}")
    return number


def as_dimension(value: Any) -> Dimension:
    """`value` if it is a Dimension, else `Dimension(value)`."""
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension: Any) -> Any:
    """The value of a Dimension; anything else is given back as it is."""
    return dimension._value if isinstance(dimension, Dimension) else dimension

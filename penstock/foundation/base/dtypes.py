"""Element types of tensors: one `DType` object for each of TensorFlow's type numbers.

A DType is a singleton, so `a is b` is the fast test and everything that graph building asks often
(`name`, `base_dtype`, `is_floating`, `is_ref`, `as_numpy_dtype`) is a plain attribute computed once
when the module is imported. The types are the rows of `_ROWS`; number + 100 is the reference type
that the outputs of `Variable` have, with the same properties as its base.

Decisions where TensorFlow 1.15 has none that can be used:
* `int(dtype)` gives the type number.
* The NumPy type of bfloat16 is `ml_dtypes.bfloat16`, that of resource and variant is object.
* `limits` of bool is (False, True) and of half and bfloat16 (0, 1), as of the wider floats;
  a type without limits raises TypeError.
* torch dtypes are recognised by name, so torch is not imported here.

Source: TensorFlow's types.proto and the behaviour of `tf.DType` in TensorFlow 1.15.
"""

from __future__ import annotations

import builtins
from typing import Any, Final

import ml_dtypes
import numpy as np

_REF_OFFSET = 100
_BY_NUMBER: dict[int, DType] = {}

# Type number, name, NumPy type, kind: b(ool), i(nteger), u(nsigned), f(loat), c(omplex),
# q(uantized), s(tring) or h(andle).
_ROWS: tuple[tuple[int, str, Any, str], ...] = (
    (1, "float32", np.float32, "f"),
    (2, "float64", np.float64, "f"),
    (3, "int32", np.int32, "i"),
    (4, "uint8", np.uint8, "u"),
    (5, "int16", np.int16, "i"),
    (6, "int8", np.int8, "i"),
    (7, "string", object, "s"),
    (8, "complex64", np.complex64, "c"),
    (9, "int64", np.int64, "i"),
    (10, "bool", np.bool_, "b"),
    (11, "qint8", np.dtype([("qint8", np.int8)]), "q"),
    (12, "quint8", np.dtype([("quint8", np.uint8)]), "q"),
    (13, "qint32", np.dtype([("qint32", np.int32)]), "q"),
    (14, "bfloat16", ml_dtypes.bfloat16, "f"),
    (15, "qint16", np.dtype([("qint16", np.int16)]), "q"),
    (16, "quint16", np.dtype([("quint16", np.uint16)]), "q"),
    (17, "uint16", np.uint16, "u"),
    (18, "complex128", np.complex128, "c"),
    (19, "float16", np.float16, "f"),
    (20, "resource", object, "h"),
    (21, "variant", object, "h"),
    (22, "uint32", np.uint32, "u"),
    (23, "uint64", np.uint64, "u"),
)


class DType:
    """The type of the elements of a tensor.

    `DType(number)` returns the one object of that number. Plain attributes: `name`,
    `as_datatype_enum`, `as_numpy_dtype`, `base_dtype`, `real_dtype`, `size` (bytes of an element),
    `is_ref`, `is_bool`, `is_integer` (not the quantized ones), `is_unsigned`, `is_floating`,
    `is_complex`, `is_quantized`, `is_numpy_compatible`.

    Args:
        type_enum: a number of TensorFlow's DataType enum; number + 100 is the reference type.

    Raises:
        TypeError: there is no type of that number.

    >>> DType(1), DType(101).base_dtype, float32 == "float", str(int64)
    (tf.float32, tf.float32, True, "<dtype: 'int64'>")
    """

    __slots__ = (
        "_as_ref",
        "_kind",
        "_type_enum",
        "as_datatype_enum",
        "as_numpy_dtype",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numpy_compatible",
        "is_quantized",
        "is_ref",
        "is_unsigned",
        "name",
        "real_dtype",
        "size",
    )

    _as_ref: DType
    _kind: str
    _type_enum: int
    as_datatype_enum: int
    as_numpy_dtype: Any
    base_dtype: DType
    is_bool: builtins.bool
    is_complex: builtins.bool
    is_floating: builtins.bool
    is_integer: builtins.bool
    is_numpy_compatible: builtins.bool
    is_quantized: builtins.bool
    is_ref: builtins.bool
    is_unsigned: builtins.bool
    name: str
    real_dtype: DType
    size: int

    def __new__(cls, type_enum: int) -> DType:
        found = _BY_NUMBER.get(int(type_enum))
        if found is None:
            raise TypeError(
                f"{type_enum!r} is not the number of a dtype: allowed are 1 to 23, "
                "and 101 to 123 for reference types"
            )
        return found

    @property
    def _is_ref_dtype(self) -> builtins.bool:
        return self.is_ref

    @property
    def min(self) -> Any:
        """The least finite value of the type.

        Raises:
            TypeError: the type is neither an integer nor a floating one.
        """
        return self._extreme("min", "minimum")

    @property
    def max(self) -> Any:
        """The greatest finite value of the type.

        Raises:
            TypeError: the type is neither an integer nor a floating one.
        """
        return self._extreme("max", "maximum")

    def _extreme(self, which: str, word: str) -> Any:
        if self.is_integer:
            return int(getattr(np.iinfo(self.as_numpy_dtype), which))
        if self.is_floating:
            finfo: Any = ml_dtypes.finfo  # knows bfloat16 as well as NumPy's own types
            return self.as_numpy_dtype(getattr(finfo(self.as_numpy_dtype), which))
        raise TypeError(
            f"Cannot find {word} value of {self}: only integer and floating types have one."
        )

    @property
    def limits(self) -> tuple[Any, Any]:
        """(least, greatest) value of an image of this type, the least never below 0.

        Raises:
            TypeError: the type has no such range.
        """
        if self.is_integer:
            return 0, self.max
        if self.is_floating:
            return 0, 1
        if self.is_bool:
            return False, True
        raise TypeError(
            f"Cannot find limits of {self}: only bool, integer and floating types have them."
        )

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """Whether a value of dtype `other` may be used where this dtype is asked for.

        A dtype takes itself and its own reference type, a reference type only itself.

        Raises:
            TypeError: `other` is not convertible to a DType.
        """
        other = as_dtype(other)
        return other is self or other is self._as_ref

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self == other

    def __hash__(self) -> int:
        return self._type_enum

    def __int__(self) -> int:
        return self._type_enum

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return "tf." + self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _make(number: int, name: str, numpy_type: Any, kind: str) -> DType:
    """The DType of one row, with everything but `base_dtype`, `real_dtype` and `_as_ref` set."""
    dtype = object.__new__(DType)
    dtype._type_enum = dtype.as_datatype_enum = number
    dtype._kind = kind
    dtype.name = name
    dtype.as_numpy_dtype = numpy_type
    dtype.size = 1 if kind == "h" else np.dtype(numpy_type).itemsize
    dtype.is_ref = number > _REF_OFFSET
    dtype.is_bool = kind == "b"
    dtype.is_integer = kind in "iu"
    dtype.is_unsigned = kind == "u"
    dtype.is_floating = kind == "f"
    dtype.is_complex = kind == "c"
    dtype.is_quantized = kind == "q"
    dtype.is_numpy_compatible = kind != "h"
    return dtype


def _make_all() -> None:
    """Fills `_BY_NUMBER` with both types of every row and links them."""
    for number, name, numpy_type, kind in _ROWS:
        base = _make(number, name, numpy_type, kind)
        ref = _make(number + _REF_OFFSET, name + "_ref", numpy_type, kind)
        base.base_dtype = ref.base_dtype = base
        base._as_ref = ref._as_ref = ref
        base.real_dtype, ref.real_dtype = base, ref
        _BY_NUMBER[number], _BY_NUMBER[number + _REF_OFFSET] = base, ref
    for number, real in ((8, 1), (18, 2)):
        _BY_NUMBER[number].real_dtype = _BY_NUMBER[number]._as_ref.real_dtype = _BY_NUMBER[real]


_make_all()

float32: Final = DType(1)
float64: Final = DType(2)
int32: Final = DType(3)
uint8: Final = DType(4)
int16: Final = DType(5)
int8: Final = DType(6)
string: Final = DType(7)
complex64: Final = DType(8)
int64: Final = DType(9)
bool_: Final = DType(10)
qint8: Final = DType(11)
quint8: Final = DType(12)
qint32: Final = DType(13)
bfloat16: Final = DType(14)
qint16: Final = DType(15)
quint16: Final = DType(16)
uint16: Final = DType(17)
complex128: Final = DType(18)
float16: Final = DType(19)
resource: Final = DType(20)
variant: Final = DType(21)
uint32: Final = DType(22)
uint64: Final = DType(23)
half: Final = float16
double: Final = float64

float32_ref: Final = DType(101)
float64_ref: Final = DType(102)
int32_ref: Final = DType(103)
uint8_ref: Final = DType(104)
int16_ref: Final = DType(105)
int8_ref: Final = DType(106)
string_ref: Final = DType(107)
complex64_ref: Final = DType(108)
int64_ref: Final = DType(109)
bool_ref: Final = DType(110)
qint8_ref: Final = DType(111)
quint8_ref: Final = DType(112)
qint32_ref: Final = DType(113)
bfloat16_ref: Final = DType(114)
qint16_ref: Final = DType(115)
quint16_ref: Final = DType(116)
uint16_ref: Final = DType(117)
complex128_ref: Final = DType(118)
float16_ref: Final = DType(119)
resource_ref: Final = DType(120)
variant_ref: Final = DType(121)
uint32_ref: Final = DType(122)
uint64_ref: Final = DType(123)
half_ref: Final = float16_ref
double_ref: Final = float64_ref

QUANTIZED_DTYPES: Final = frozenset(d for d in _BY_NUMBER.values() if d.is_quantized)
"""Every quantized dtype and its reference type."""

_STORED: dict[DType, DType] = {
    qint8: int8, quint8: uint8, qint16: int16, quint16: uint16, qint32: int32,
}  # fmt: skip


def stored_as(dtype: DType) -> DType:
    """The type of the numbers that tensors of a type consist of at run time.

    Args:
        dtype: any type; a reference type counts as its base.

    Returns:
        For a quantized type the integers of its width, else the type itself.

    >>> stored_as(quint8), stored_as(float32_ref)
    (tf.uint8, tf.float32)
    """
    return _STORED.get(dtype.base_dtype, dtype.base_dtype)


_ALIASES: dict[str, str] = {"float": "float32", "double": "float64", "half": "float16"}
_BY_NAME: dict[str, DType] = {d.name: d for d in _BY_NUMBER.values()}
for _alias, _name in _ALIASES.items():
    _BY_NAME[_alias] = _BY_NAME[_name]
    _BY_NAME[_alias + "_ref"] = _BY_NAME[_name + "_ref"]

# Python's int, str and complex have no dtype of their own in TensorFlow 1.15 either.
_BY_TYPE: dict[type, DType] = {
    builtins.float: float32,
    builtins.bool: bool_,
    object: string,
    np.object_: string,
    np.str_: string,
    np.bytes_: string,
}
_BY_STRUCTURE: dict[Any, DType] = {
    np.dtype(numpy_type): _BY_NUMBER[number] for number, _, numpy_type, kind in _ROWS if kind == "q"
}
for _number, _, _numpy_type, _kind in _ROWS:
    if _kind in "biufc":
        _BY_TYPE[_numpy_type] = _BY_NUMBER[_number]


def as_dtype(type_value: Any) -> DType:
    """The DType that a value stands for.

    Args:
        type_value: a DType, a type number, a name ("float32", "float", "int32_ref"), a NumPy dtype
            or scalar type, Python's float, bool or object, or a torch dtype.

    Returns:
        The DType.

    Raises:
        TypeError: the value stands for no dtype.

    >>> as_dtype("half"), as_dtype(np.dtype("int64")), as_dtype(float), as_dtype(103)
    (tf.float16, tf.int64, tf.float32, tf.int32_ref)
    """
    kind = type(type_value)
    if kind is DType:
        return type_value  # type: ignore[no-any-return]
    found: DType | None = None
    if kind is str:
        found = _BY_NAME.get(type_value)
    elif kind is type:
        found = _BY_TYPE.get(type_value) or _of_scalar_type(type_value)
    elif isinstance(type_value, np.dtype):
        found = _of_numpy(type_value)
    elif isinstance(type_value, int):
        found = None if kind is builtins.bool else _BY_NUMBER.get(int(type_value))
    elif kind.__module__ == "torch" and kind.__name__ == "dtype":
        found = _BY_NAME.get(str(type_value).removeprefix("torch."))
    elif isinstance(type_value, np.integer):
        found = _BY_NUMBER.get(int(type_value))
    elif isinstance(type_value, str):
        found = _BY_NAME.get(str(type_value))
    if found is None:
        raise TypeError(
            f"Cannot convert value {type_value!r} to a TensorFlow DType: allowed are a DType, its "
            f"number (1 to 23, or + 100 for a reference type), a NumPy or torch dtype, Python's "
            f"float, bool or object, or one of the names {', '.join(_allowed_names())}."
        )
    return found


def _allowed_names() -> list[str]:
    return sorted(name for name in _BY_NAME if not name.endswith("_ref"))


def _of_scalar_type(scalar_type: type) -> DType | None:
    """The DType of a NumPy scalar class that is not a key itself, such as `np.longlong`."""
    if not issubclass(scalar_type, np.generic):
        return None
    try:
        return _of_numpy(np.dtype(scalar_type))
    except TypeError:
        return None


def _of_numpy(numpy_dtype: np.dtype[Any]) -> DType | None:
    """The DType of a NumPy dtype of any byte order, or None."""
    found = _BY_TYPE.get(numpy_dtype.type)
    if found is not None:
        return found
    if numpy_dtype.kind == "V" and numpy_dtype.names:
        return _BY_STRUCTURE.get(numpy_dtype)
    named = _BY_NAME.get(numpy_dtype.name)  # np.longlong is a second class named int64
    return named if named is not None and named._kind in "biufc" else None


_MESSAGE_NAMES = {"float16": "half", "float32": "float", "float64": "double"}


def message_name(name: str) -> str:
    """What TensorFlow's run-time errors call a type.

    >>> message_name("float32"), message_name("int32")
    ('float', 'int32')
    """
    return _MESSAGE_NAMES.get(name, name)


# Last, because below this line `bool` means the dtype.
bool: Final = bool_

"""Dtypes: numbers, names, conversions and limits as TensorFlow 1.15 has them."""

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, strategies as st

from penstock.foundation.base import dtypes

# number, name, size, is_bool, is_integer, is_floating, is_complex, is_quantized, is_unsigned
# as TensorFlow 1.15 prints them.
FACTS = [
    (1, "float32", 4, 0, 0, 1, 0, 0, 0),
    (2, "float64", 8, 0, 0, 1, 0, 0, 0),
    (3, "int32", 4, 0, 1, 0, 0, 0, 0),
    (4, "uint8", 1, 0, 1, 0, 0, 0, 1),
    (5, "int16", 2, 0, 1, 0, 0, 0, 0),
    (6, "int8", 1, 0, 1, 0, 0, 0, 0),
    (7, "string", 8, 0, 0, 0, 0, 0, 0),
    (8, "complex64", 8, 0, 0, 0, 1, 0, 0),
    (9, "int64", 8, 0, 1, 0, 0, 0, 0),
    (10, "bool", 1, 1, 0, 0, 0, 0, 0),
    (11, "qint8", 1, 0, 0, 0, 0, 1, 0),
    (12, "quint8", 1, 0, 0, 0, 0, 1, 0),
    (13, "qint32", 4, 0, 0, 0, 0, 1, 0),
    (14, "bfloat16", 2, 0, 0, 1, 0, 0, 0),
    (15, "qint16", 2, 0, 0, 0, 0, 1, 0),
    (16, "quint16", 2, 0, 0, 0, 0, 1, 0),
    (17, "uint16", 2, 0, 1, 0, 0, 0, 1),
    (18, "complex128", 16, 0, 0, 0, 1, 0, 0),
    (19, "float16", 2, 0, 0, 1, 0, 0, 0),
    (20, "resource", 1, 0, 0, 0, 0, 0, 0),
    (21, "variant", 1, 0, 0, 0, 0, 0, 0),
    (22, "uint32", 4, 0, 1, 0, 0, 0, 1),
    (23, "uint64", 8, 0, 1, 0, 0, 0, 1),
]
NUMBERS = [row[0] for row in FACTS]
ALL = [dtypes.DType(n + offset) for n in NUMBERS for offset in (0, 100)]


@pytest.mark.parametrize("fact", FACTS, ids=lambda fact: fact[1])
@pytest.mark.parametrize("offset", [0, 100])
def test_properties_equal_tensorflows(fact, offset):
    number, name, size, *flags = fact
    dtype = dtypes.as_dtype(number + offset)
    assert dtype.as_datatype_enum == number + offset == int(dtype) == hash(dtype)
    assert dtype.name == name + ("_ref" if offset else "")
    assert str(dtype) == f"<dtype: '{dtype.name}'>"
    assert repr(dtype) == f"tf.{dtype.name}"
    assert dtype.size == size
    found = [
        dtype.is_bool,
        dtype.is_integer,
        dtype.is_floating,
        dtype.is_complex,
        dtype.is_quantized,
        dtype.is_unsigned,
    ]
    assert found == [bool(flag) for flag in flags]
    assert dtype.is_ref is dtype._is_ref_dtype is bool(offset)
    assert dtype.base_dtype is dtypes.as_dtype(number)
    assert dtype._as_ref is dtypes.as_dtype(number + 100)
    assert dtype.is_numpy_compatible is (name not in ("resource", "variant"))


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_dtype_is_a_singleton(dtype):
    attribute = dtype.name if dtype.name != "bool" else "bool_"
    assert getattr(dtypes, attribute) is dtype
    assert dtypes.DType(int(dtype)) is dtype
    assert dtypes.as_dtype(dtype.name) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert dtypes.as_dtype(dtype) is dtype


def test_module_aliases():
    assert dtypes.bool is dtypes.bool_
    assert dtypes.half is dtypes.float16
    assert dtypes.double is dtypes.float64
    assert dtypes.half_ref is dtypes.float16_ref
    assert len(dtypes.QUANTIZED_DTYPES) == 10


@pytest.mark.parametrize(
    ("given_value", "name"),
    [
        ("float", "float32"),
        ("double", "float64"),
        ("half", "float16"),
        ("float_ref", "float32_ref"),
        ("half_ref", "float16_ref"),
        ("int32_ref", "int32_ref"),
        ("bfloat16", "bfloat16"),
        (float, "float32"),
        (bool, "bool"),
        (object, "string"),
        (np.str_, "string"),
        (np.bytes_, "string"),
        (np.object_, "string"),
        (np.dtype("S3"), "string"),
        (np.dtype("U3"), "string"),
        (np.dtype("O"), "string"),
        (np.dtype(">f4"), "float32"),
        (np.longlong, "int64"),
        (np.bool_, "bool"),
        (ml_dtypes.bfloat16, "bfloat16"),
        (np.dtype(ml_dtypes.bfloat16), "bfloat16"),
        (np.dtype([("qint8", np.int8)]), "qint8"),
        (np.int32(9), "int64"),
        (101, "float32_ref"),
    ],
)
def test_as_dtype(given_value, name):
    assert dtypes.as_dtype(given_value).name == name


@pytest.mark.parametrize(
    "given_value",
    # TensorFlow 1.15 refuses each of these but True, which it takes for the number 1.
    [0, 24, 200, -1, "foo", "<f4", "long", "int", "complex", None, int, str, bytes, complex, [1]]
    + [True, np.dtype([("x", np.int8)]), np.dtype("M8[s]"), np.ones(2), ml_dtypes.int4, np.generic],
    ids=repr,
)
def test_as_dtype_refuses_what_is_no_dtype(given_value):
    with pytest.raises(TypeError, match=r"Cannot convert value .* to a TensorFlow DType: allowed"):
        dtypes.as_dtype(given_value)


def test_constructor_refuses_unknown_numbers():
    with pytest.raises(TypeError, match="99 is not the number of a dtype: allowed are 1 to 23"):
        dtypes.DType(99)


def test_torch_dtypes_by_name():
    torch = pytest.importorskip("torch")
    for name in ("float32", "float64", "bfloat16", "int8", "uint8", "int64", "bool", "complex64"):
        assert dtypes.as_dtype(getattr(torch, name)).name == name
    assert dtypes.float16 == torch.half
    with pytest.raises(TypeError, match=r"torch\.float8_e5m2"):
        dtypes.as_dtype(torch.float8_e5m2)


def test_equality():
    assert dtypes.float32 == 1
    assert dtypes.float32 == "float"
    assert dtypes.float32 == np.float32
    assert np.float32 == dtypes.float32
    assert dtypes.float32 == np.dtype("float32")
    assert dtypes.float32 != dtypes.float32_ref
    assert dtypes.float32 != "float64"
    for other in (None, "zzz", dtypes.float64, [], int):
        assert dtypes.float32 != other
        assert not dtypes.float32 == other


def test_compatibility_is_one_way_for_references():
    assert dtypes.float32.is_compatible_with(dtypes.float32_ref)
    assert not dtypes.float32_ref.is_compatible_with(dtypes.float32)
    assert dtypes.float32_ref.is_compatible_with("float_ref")
    assert not dtypes.float32.is_compatible_with(dtypes.float64)


@pytest.mark.parametrize(
    ("name", "least", "greatest", "limits"),
    [
        ("float32", np.float32(-3.4028235e38), np.float32(3.4028235e38), (0, 1)),
        ("float64", -1.7976931348623157e308, 1.7976931348623157e308, (0, 1)),
        ("float16", np.float16(-65504), np.float16(65504), (0, 1)),
        ("bfloat16", -float.fromhex("0x1.FEp127"), float.fromhex("0x1.FEp127"), (0, 1)),
        ("int8", -128, 127, (0, 127)),
        ("int32", -2147483648, 2147483647, (0, 2147483647)),
        ("uint8", 0, 255, (0, 255)),
        ("uint64", 0, 18446744073709551615, (0, 18446744073709551615)),
        ("int64", -9223372036854775808, 9223372036854775807, (0, 9223372036854775807)),
    ],
)
def test_range(name, least, greatest, limits):
    dtype = dtypes.as_dtype(name)
    assert (dtype.min, dtype.max) == (least, greatest)
    assert dtype.limits == limits
    assert dtype._as_ref.max == greatest
    expected_type = int if dtype.is_integer else dtype.as_numpy_dtype
    assert type(dtype.min) is expected_type


def test_types_without_range():
    for name in ("string", "complex64", "bool", "qint8", "resource"):
        with pytest.raises(TypeError, match=f"Cannot find minimum value of <dtype: '{name}'>"):
            _ = dtypes.as_dtype(name).min
        with pytest.raises(TypeError, match=f"Cannot find maximum value of <dtype: '{name}'>"):
            _ = dtypes.as_dtype(name).max
    assert dtypes.bool_.limits == (False, True)
    with pytest.raises(TypeError, match="Cannot find limits of <dtype: 'string'>"):
        _ = dtypes.string.limits


def test_real_dtype():
    assert dtypes.complex64.real_dtype is dtypes.float32
    assert dtypes.complex128.real_dtype is dtypes.float64
    assert dtypes.complex64_ref.real_dtype is dtypes.float32
    assert dtypes.float32_ref.real_dtype is dtypes.float32_ref


def test_numpy_types():
    assert dtypes.float32.as_numpy_dtype is np.float32
    assert dtypes.float32_ref.as_numpy_dtype is np.float32
    assert dtypes.bool_.as_numpy_dtype is np.bool_
    assert dtypes.string.as_numpy_dtype is object
    assert dtypes.bfloat16.as_numpy_dtype is ml_dtypes.bfloat16
    assert np.zeros(2, dtypes.qint8.as_numpy_dtype).dtype.names == ("qint8",)


@given(st.sampled_from([d for d in ALL if d.is_numpy_compatible and not d.is_ref]))
def test_numpy_round_trip(dtype):
    assert dtypes.as_dtype(dtype.as_numpy_dtype) is dtype
    assert dtypes.as_dtype(np.dtype(dtype.as_numpy_dtype)) is dtype


@given(st.sampled_from(ALL), st.sampled_from(ALL))
def test_equal_dtypes_are_one_object(a, b):
    assert (a == b) is (a is b) is (not a != b)


@given(st.one_of(st.integers(), st.text(), st.floats(), st.binary(), st.none()))
def test_as_dtype_gives_a_dtype_or_type_error(value):
    try:
        assert dtypes.as_dtype(value) in (ALL)
    except TypeError as error:
        assert "allowed" in str(error)

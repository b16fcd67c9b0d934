"""The table's own machinery: draws are reproducible, casts are right, tolerances can fail."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tests.ops.cases import all_cases
from tests.ops.opcase import (
    ALL,
    OpCase,
    cast,
    const,
    derived,
    distinct,
    made,
    numpy_dtype,
    real,
    round_to_bfloat16,
    spd,
    strings,
)
from tests.ops.tolerance import difference


def test_ids_are_unique() -> None:
    names = [case.id for case in all_cases()]
    assert len(names) == len(set(names)) and all(names)


@pytest.mark.parametrize("dtype", ALL)
def test_draws_are_reproducible_and_of_the_dtype(dtype: str) -> None:
    case = OpCase("Add", [real(2, 3), [real(2, 3)], distinct(4)], {"out": "T"}, id="x")
    first, again = case.bind(dtype), case.bind(dtype)
    assert first.attrs == {"out": dtype}
    for one, two in zip(first.flat, again.flat, strict=True):
        assert one.dtype == dtype and one.value.dtype == numpy_dtype(dtype)
        np.testing.assert_array_equal(one.value, two.value)
    assert not np.array_equal(first.flat[0].value, first.flat[1].value)


def test_bfloat16_rounds_as_ml_dtypes() -> None:
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    values = np.concatenate([values, np.array([np.inf, -np.inf, np.nan, 0, -0.0], np.float32)])
    expected = values.astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(round_to_bfloat16(values), expected)


def test_casts() -> None:
    np.testing.assert_array_equal(cast([1.6, -1.2], "int8"), np.array([2, -1], np.int8))
    np.testing.assert_array_equal(cast([1.6, -1.2], "uint8"), np.array([2, 0], np.uint8))
    assert cast([1 + 2j], "double").dtype == np.float64


def test_constructors() -> None:
    case = OpCase(
        "X", [spd(3), derived(lambda a: a * 2), const([1]), strings(["a", b"\xff"])], id="x"
    )
    matrix, twice, shape, text = case.bind("float64").flat
    assert np.all(np.linalg.eigvalsh(matrix.value) > 0.5)
    np.testing.assert_array_equal(twice.value, 2 * matrix.value)
    assert (shape.how, shape.dtype) == ("const", "int32")
    assert text.value.tolist() == [b"a", b"\xff"]
    item = OpCase("Y", [made("X", [real(2)], index=1, a="T")], id="y").bind("half").flat[0]
    assert item.maker is not None and item.index == 1 and item.maker.attrs == {"a": "half"}


def test_a_tolerance_of_its_own_needs_a_reason() -> None:
    with pytest.raises(ValueError, match="tol_reason"):
        OpCase("Add", [], rtol=1e-3)
    with pytest.raises(ValueError, match="grad_reason"):
        OpCase("Add", [], grad=False)


def test_difference() -> None:
    x = np.array([1.0, np.nan, np.inf, 1e-9], np.float32)
    assert difference(x, x.copy(), "float32") is None
    assert difference(x, x + np.float32(1e-6), "float32") is None
    for index, value in ((0, 1.0001), (0, np.nan), (1, 1.0), (2, -np.inf), (3, 1e-3), (3, np.nan)):
        y = x.copy()
        y[index] = value
        assert f"at [{index}]" in str(difference(x, y, "float32"))
    assert "shape" in str(difference(x, x[:2], "float32"))
    assert difference(np.array([1, 2]), np.array([1, 3]), "int64") is not None
    assert difference(np.array([b"a"], object), np.array([b"b"], object), "string") is not None
    assert difference(np.array([1j]), np.array([1.001j]), "complex128") is not None

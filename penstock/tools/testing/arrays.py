"""Assertions about arrays and nestings of them; tensors are evaluated first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import islice
from typing import Any

import numpy as np
from absl.testing import absltest

from penstock.foundation.base import dtypes
from penstock.foundation.graph.behavior import is_tensor
from penstock.foundation.graph.tensor import Tensor

_FLOATS = (np.float16, np.float32, np.float64, dtypes.bfloat16.as_numpy_dtype)
# Larger values than this of a mismatch are not printed: printing takes long.
_PRINTED = 500
_PLACES = 10


class ArrayAssertions(absltest.TestCase):
    """Assertions that take tensors, arrays, or what NumPy makes arrays of."""

    def evaluate(self, tensors: Any) -> Any:
        """The values of tensors; a test case with sessions says how."""
        raise NotImplementedError

    def _array(self, value: Any) -> np.ndarray:
        found = self.evaluate(value) if is_tensor(value) else value
        return found if isinstance(found, np.ndarray) else np.array(found)

    # ---- near and close ----------------------------------------------------------------------

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Fails where two numbers differ by more than ``err``; equal infinities do not."""
        near = f1 == f2 or abs(f1 - f2) <= err
        self.assertTrue(near, f"{f1!r} != {f2!r} +/- {err!r}{f' ({msg})' if msg else ''}")

    def assertArrayNear(self, farray1: Any, farray2: Any, err: float, msg: Any = None) -> None:
        """Fails where two numbers at the same place of two lists differ by more than ``err``."""
        self.assertEqual(len(farray1), len(farray2), msg=msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg=msg)

    def assertNDArrayNear(self, ndarray1: Any, ndarray2: Any, err: float, msg: Any = None) -> None:
        """Fails where the difference of two arrays has a norm of ``err`` or more."""
        self.assertTrue(np.linalg.norm(ndarray1 - ndarray2) < err, msg=msg)

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Fails where two nestings have other shapes, or values that are not close.

        Values are close where ``|a - b| <= atol + rtol * |b|``; NaN is close to NaN.

        Args:
          a: the expected one: arrays, tensors, or lists, tuples and dicts of them.
          b: the actual one, nested alike.
          rtol: relative tolerance.
          atol: absolute tolerance.
          msg: what the failure says besides.

        Raises:
          ValueError: they are nested differently.
        """
        self._all_close(a, b, rtol, atol, "", msg or "")

    def _all_close(self, a: Any, b: Any, rtol: float, atol: float, path: str, msg: str) -> None:
        a = a._asdict() if hasattr(a, "_asdict") else a
        b = b._asdict() if hasattr(b, "_asdict") else b
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"Can't compare dict to non-dict, a{path} vs b{path}. {msg}")
        if isinstance(a, Mapping):
            wrong = f"mismatched keys: a{path} has {list(a)}, b{path} has {list(b)}. {msg}"
            self.assertCountEqual(a.keys(), b.keys(), wrong)
            for key in a:
                self._all_close(a[key], b[key], rtol, atol, f"{path}[{key}]", msg)
            return
        wrong = f"Mismatched value: a{path} is different from b{path}. {msg}"
        if not isinstance(a, list | tuple):
            self._arrays_close(a, b, rtol, atol, wrong)
            return
        try:
            self._arrays_close(self._array(a), self._array(b), rtol, atol, wrong)
        except (ValueError, TypeError):
            # They are not one array each, so their parts are compared.
            if len(a) != len(b):
                raise ValueError(
                    f"Mismatched length: a{path} has {len(a)} items, but b{path} has"
                    f" {len(b)} items. {msg}"
                ) from None
            for i, (one, other) in enumerate(zip(a, b)):
                self._all_close(one, other, rtol, atol, f"{path}[{i}]", msg)

    def _arrays_close(self, a: Any, b: Any, rtol: float, atol: float, msg: str) -> None:
        a, b = self._array(a), self._array(b)
        self._same_shape(a, b, msg)
        a, b = (x.astype(np.float32) if x.dtype == _FLOATS[-1] else x for x in (a, b))
        if np.allclose(a, b, rtol=rtol, atol=atol):
            return
        with np.errstate(invalid="ignore"):
            far = (np.abs(a - b) > atol + rtol * np.abs(b)) | (np.isnan(a) != np.isnan(b))
            x, y = (a[far], b[far]) if a.ndim else (a, b)
            lines = [
                msg,
                *([f"not close where = {np.where(far)}"] if a.ndim else []),
                f"not close lhs = {x}",
                f"not close rhs = {y}",
                f"not close dif = {np.abs(x - y)}",
                f"not close tol = {atol + rtol * np.abs(y)}",
                f"dtype = {a.dtype}, shape = {a.shape}",
            ]
        np.testing.assert_allclose(
            a, b, rtol=rtol, atol=atol, err_msg="\n".join(lines), equal_nan=True
        )

    def _same_shape(self, a: np.ndarray, b: np.ndarray, msg: str) -> None:
        shown = f" with contents {b}" if b.ndim <= 3 or b.size < _PRINTED else ""
        wrong = f"Shape mismatch: expected {a.shape}, got {b.shape}{shown}. {msg}"
        self.assertEqual(a.shape, b.shape, wrong)

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """``assertAllClose`` with the larger tolerances of the types that the arrays have."""
        a, b = self._array(a), self._array(b)
        rows = [
            ((np.float32, np.complex64), float_rtol, float_atol),
            ((np.float16,), half_rtol, half_atol),
            ((_FLOATS[-1],), bfloat16_rtol, bfloat16_atol),
        ]
        for types, relative, absolute in rows:
            if a.dtype in types or b.dtype in types:
                rtol, atol = max(rtol, relative), max(atol, absolute)
        self.assertAllClose(a, b, rtol=rtol, atol=atol, msg=msg)

    def assertNotAllClose(self, a: Any, b: Any, **kwargs: Any) -> None:
        """Fails where ``assertAllClose`` would not."""
        try:
            self.assertAllClose(a, b, **kwargs)
        except AssertionError:
            return
        raise AssertionError("The two values are close at all elements")

    # ---- equal -------------------------------------------------------------------------------

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails where two arrays have other shapes or values; NaN is equal to NaN.

        Args:
          a: the expected array or tensor.
          b: the actual one.
          msg: what the failure says besides.
        """
        a, b = self._array(a), self._array(b)
        self._same_shape(a, b, msg or "")
        same = np.asarray(a == b)
        if a.dtype in _FLOATS:
            same = same | (np.isnan(a) & np.isnan(b))
        if np.all(same):
            return
        x, y = (a[~same], b[~same]) if a.ndim else (a, b)
        lines = [
            msg or "",
            *([f"not equal where = {np.where(~same)}"] if a.ndim else []),
            f"not equal lhs = {x}",
            f"not equal rhs = {y}",
        ]
        np.testing.assert_array_equal(a, b, err_msg="\n".join(lines))

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Fails where ``assertAllEqual`` would not."""
        try:
            self.assertAllEqual(a, b, msg)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertShapeEqual(self, np_array: Any, tf_tensor: Any, msg: Any = None) -> None:
        """Fails where an array has another shape than is known of a tensor.

        Raises:
          TypeError: they are not an array and a tensor.
        """
        if not isinstance(np_array, np.ndarray | np.generic):
            raise TypeError("np_array must be a Numpy ndarray or Numpy scalar")
        if not isinstance(tf_tensor, Tensor):
            raise TypeError("tf_tensor must be a Tensor")
        self.assertAllEqual(np_array.shape, tf_tensor.get_shape().as_list(), msg=msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """Fails where an array or tensor has another NumPy dtype."""
        self.assertEqual(self._array(target).dtype, expected_dtype)

    # ---- each element ------------------------------------------------------------------------

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """Fails where an element is not greater than ``comparison_target``."""
        self.assertGreater(np.min(self._array(a)), comparison_target)

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """Fails where an element is not less than ``comparison_target``."""
        self.assertLess(np.max(self._array(a)), comparison_target)

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails where an element is less than ``comparison_target``."""
        self.assertGreaterEqual(np.min(self._array(a)), comparison_target)

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """Fails where an element is greater than ``comparison_target``."""
        self.assertLessEqual(np.max(self._array(a)), comparison_target)

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """Fails where an element is NaN or outside a range.

        Args:
          target: an array or tensor of integers or floats.
          lower_bound: the least that is allowed, or with ``open_lower_bound`` that is not.
          upper_bound: the most that is allowed, or with ``open_upper_bound`` that is not.
          open_lower_bound: whether the lower bound is outside.
          open_upper_bound: whether the upper bound is outside.
        """
        found = self._array(target)
        if found.dtype.kind not in "fiu" and found.dtype not in _FLOATS:
            self.fail(
                f"The value of {found} does not have an ordered numeric type, instead it has"
                f" type: {found.dtype}"
            )
        self._no_element(np.isnan(found), found, "are NaN")
        below: Callable[..., Any] = np.less_equal if open_lower_bound else np.less
        above: Callable[..., Any] = np.greater_equal if open_upper_bound else np.greater
        left, right = "[("[open_lower_bound], "])"[open_upper_bound]
        outside = below(found, lower_bound) | above(found, upper_bound)
        shown = f"{left}{lower_bound}, {upper_bound}{right}"
        self._no_element(outside, found, f"are outside the range {shown}")

    def _no_element(self, wrong: np.ndarray, found: np.ndarray, what: str) -> None:
        places = np.argwhere(wrong)
        if not len(places):
            return
        lines = [f"  {place} : {found[tuple(place)]}" for place in islice(places, _PLACES)]
        if len(places) > _PLACES:
            lines.append("  ...")
        self.fail(
            f"{len(places)} of the {found.size} element(s) {what}. Subscript(s) and value(s) of"
            " the offending elements:\n" + "\n".join(lines)
        )

    def assertAllInSet(self, target: Any, expected_set: Collection[Any]) -> None:
        """Fails where an element is not in a set of values."""
        others = np.setdiff1d(self._array(target).flatten(), list(expected_set))
        if others.size:
            self.fail(
                f"{others.size} unique element(s) are not in the set {expected_set}: {others}"
            )

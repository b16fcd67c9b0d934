"""Assertions about tensors: values, ranks and types.

What can be decided while the graph is built is decided then, and raises at once; the rest becomes
an ``Assert`` operation, which must be run or be a control dependency.  The comparing assertions are
rows of a table: symbol, op type, and the NumPy function for values known statically.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.docstrings import named
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.families import Check, Comparison
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import nodes, static_values
from penstock.ops.control import control, debug
from penstock.ops.math import reductions

_BINARY: dict[str, tuple[str, str, Callable[..., Any]]] = {
    "assert_equal": ("==", "Equal", np.equal),
    "assert_none_equal": ("!=", "NotEqual", np.not_equal),
    "assert_less": ("<", "Less", np.less),
    "assert_less_equal": ("<=", "LessEqual", np.less_equal),
    "assert_greater": (">", "Greater", np.greater),
    "assert_greater_equal": (">=", "GreaterEqual", np.greater_equal),
}

# x compared with zero: symbol, comparing assertion, whether zero is its first operand.
_WITH_ZERO: dict[str, tuple[str, str, bool]] = {
    "assert_negative": ("<", "assert_less", False),
    "assert_positive": (">", "assert_less", True),
    "assert_non_negative": (">=", "assert_less_equal", True),
    "assert_non_positive": ("<=", "assert_less_equal", False),
}


def _shown(item: Any) -> str:
    if not isinstance(item, Tensor):
        return str(item)
    value = static_values.seen_value(item)
    return str(item if value is None else value)


def _fail_statically(data: Sequence[Any]) -> None:
    raise errors.invalid("\n".join(_shown(d) for d in data))


def _compare(
    kind: str, x: Any, y: Any, data: Any, summarize: int | None, message: str | None, name: Any
) -> Operation:
    symbol, op_type, compare = _BINARY[kind]
    with name_scope(name, kind, [x, y, *(data or ())]):
        x, y = convert_to_tensor(x, name="x"), convert_to_tensor(y, name="y")
        if data is None:
            data = [
                f"Condition x {symbol} y did not hold element-wise:",
                f"x ({x.label}) = ", x, f"y ({y.label}) = ", y,
            ]  # fmt: skip
        if message is not None:
            data = [message, *data]
        condition = _all(make(op_type, x, y))
        static_x, static_y = static_values.seen_value(x), static_values.seen_value(y)
        if static_x is not None and static_y is not None:
            if not np.all(compare(static_x, static_y)):
                _fail_statically(data)
        return debug.Assert(condition, data, summarize=summarize)


def _all(condition: Tensor) -> Tensor:
    return reductions.reduce_all(condition)


def _binary(kind: str) -> Comparison:
    symbol = _BINARY[kind][0]

    def check(
        x: Any,
        y: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        return _compare(kind, x, y, data, summarize, message, name)

    return _documented(check, kind, f"x {symbol} y", "x, y: tensors that broadcast together.")


def _documented(function: Any, kind: str, condition: str, operands: str) -> Any:
    doc = f"""Asserts that ``{condition}`` holds for every element.

    Args:
      {operands}
      data: tensors to show when it fails; by default the operands.
      summarize: elements to show of each.
      message: text before them.

    Returns:
      An operation that raises ``tf.errors.InvalidArgumentError`` when run and the condition is
      false.

    Raises:
      tf.errors.InvalidArgumentError: the operands are known already and the condition is false.
    """
    return named(kind, doc)(function)


assert_less = _binary("assert_less")
assert_less_equal = _binary("assert_less_equal")
assert_greater = _binary("assert_greater")
assert_greater_equal = _binary("assert_greater_equal")
assert_none_equal = _binary("assert_none_equal")
_assert_equal = _binary("assert_equal")


def assert_equal(
    x: Any,
    y: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    # TF opens the scope twice here, so the nodes of the first call are under assert_equal_1.
    with name_scope(name, "assert_equal", [x, y, *(data or ())]):
        if x is y:
            return control.no_op(name)
    return _assert_equal(x, y, data, summarize, message, name)


_documented(
    assert_equal, "assert_equal", "x == y", "x, y: tensors that broadcast together."
)  # fmt: skip


def _with_zero(kind: str) -> Check:
    symbol, compare, zero_first = _WITH_ZERO[kind]

    def check(
        x: Any,
        data: Any = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, kind, [x, *(data or ())]):
            x = convert_to_tensor(x, name="x")
            if data is None:
                data = [
                    message or "", f"Condition x {symbol} 0 did not hold element-wise:",
                    f"x ({x.label}) = ", x,
                ]  # fmt: skip
            zero = convert_to_tensor(0, x.dtype.base_dtype)
            operands = (zero, x) if zero_first else (x, zero)
            return _compare(compare, *operands, data, summarize, None, None)

    return _documented(check, kind, f"x {symbol} 0", "x: a numeric tensor.")


assert_negative = _with_zero("assert_negative")
assert_positive = _with_zero("assert_positive")
assert_non_negative = _with_zero("assert_non_negative")
assert_non_positive = _with_zero("assert_non_positive")


def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that ``|x - y| < atol + rtol * |y|`` for every element.

    Args:
      x, y: floating-point tensors that broadcast together.
      rtol, atol: tolerances; ten times the machine epsilon of the dtype by default.
      data, summarize, message, name: as for ``tf.assert_equal``.

    Returns:
      An operation that raises ``tf.errors.InvalidArgumentError`` when run and they are not near.
    """
    with name_scope(name, "assert_near", [x, y, rtol, atol, *(data or ())]):
        x = convert_to_tensor(x, name="x")
        dtype = x.dtype.base_dtype
        y = convert_to_tensor(y, dtype, name="y")
        epsilon = 10 * _epsilon(dtype)
        rtol = convert_to_tensor(epsilon if rtol is None else rtol, dtype, name="rtol")
        atol = convert_to_tensor(epsilon if atol is None else atol, dtype, name="atol")
        if data is None:
            data = [
                message or "",
                f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
                f"x ({x.label}) = ", x, f"y ({y.label}) = ", y,
            ]  # fmt: skip
        size = make("Abs", y)
        tolerance = make("AddV2", atol, make("Mul", rtol, size, name="mul"), name="add")
        difference = make("Abs", make("Sub", x, y, name="sub"))
        condition = _all(make("Less", difference, tolerance))
        return debug.Assert(condition, data, summarize=summarize)


def _epsilon(dtype: dtypes.DType) -> float:
    if dtype is dtypes.bfloat16:
        return 2.0**-7
    if not (dtype.is_floating or dtype.is_complex):
        raise ValueError(
            f"data type {dtype.as_numpy_dtype} not inexact: assert_near compares floating-point"
            f" tensors; found {dtype.name}"
        )
    return float(np.finfo(dtype.as_numpy_dtype).eps)


# ---- ranks ---------------------------------------------------------------------------------


def _rank_check(
    kind: str,
    phrase: str,
    x: Any,
    ranks: Sequence[Any],
    fits: Callable[[int, list[int]], bool],
    condition: Callable[[Tensor, list[Tensor]], Tensor],
    options: tuple[Any, int | None, str | None, str | None],
) -> Operation:
    data, summarize, message, name = options
    with name_scope(name, kind, [x, *ranks, *(data or ())]):
        x = convert_to_tensor(x.values if isinstance(x, SparseTensor) else x, name="x")
        given = [convert_to_tensor(rank, name="rank") for rank in ranks]
        if data is None:
            data = [
                message or "", f"Tensor {x.label} must have rank {phrase}".rstrip(), *given,
                "Received shape: ", nodes.shape(x),
            ]  # fmt: skip
        for rank in given:
            assert_type(rank, dtypes.int32)
        known = [_static_rank(rank) for rank in given]
        actual = x.rank
        if actual is not None and None not in known:
            wanted = [int(k) for k in known if k is not None]
            if not fits(actual, wanted):
                listed = tuple(wanted) if phrase == "in" else wanted[0]
                raise ValueError(
                    f"{message or ''}.  Tensor {x.label} must have rank"
                    f"{' ' + phrase if phrase else ''} {listed}.  Received rank {actual}, shape "
                    f"{x.get_shape()}"
                )
            return control.no_op(name="static_checks_determined_all_ok")
        holds = condition(make("Rank", x), given)
        for rank, value in zip(given, known, strict=True):
            if value is None:
                why = ["Rank must be a scalar. Received rank: ", rank]
                holds = control.with_dependencies([assert_rank(rank, 0, data=why)], holds)
        return debug.Assert(holds, data, summarize=summarize)


def _static_rank(rank: Tensor) -> int | None:
    value = static_values.seen_value(rank)
    if value is None:
        return None
    if value.ndim:
        raise ValueError(f"a rank must be a scalar; found {value.tolist()}")
    return int(value)


def assert_rank(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that ``x`` has rank ``rank``.

    Args:
      x: a tensor.
      rank: an int32 scalar.
      data, summarize, message, name: as for ``tf.assert_equal``.

    Returns:
      An operation that checks it, or does nothing when it is known to hold.

    Raises:
      ValueError: the rank is known already and is another.
    """
    return _rank_check(
        "assert_rank", "", x, [rank], lambda actual, wanted: actual == wanted[0],
        lambda actual, wanted: make("Equal", actual, wanted[0]),
        (data, summarize, message, name),
    )  # fmt: skip


def assert_rank_at_least(
    x: Any,
    rank: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that ``x`` has rank ``rank`` or a higher one; otherwise like ``tf.assert_rank``."""
    return _rank_check(
        "assert_rank_at_least", "at least", x, [rank], lambda actual, wanted: actual >= wanted[0],
        lambda actual, wanted: make("GreaterEqual", actual, wanted[0]),
        (data, summarize, message, name),
    )  # fmt: skip


def assert_rank_in(
    x: Any,
    ranks: Sequence[Any],
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Asserts that ``x`` has one of ``ranks``; otherwise like ``tf.assert_rank``."""

    def any_of(actual: Tensor, wanted: list[Tensor]) -> Tensor:
        if not wanted:
            return convert_to_tensor(False)
        result = make("Equal", wanted[0], actual)
        for rank in wanted[1:]:
            result = make("LogicalOr", result, make("Equal", rank, actual))
        return result

    return _rank_check(
        "assert_rank_in", "in", x, list(ranks), lambda actual, wanted: actual in wanted, any_of,
        (data, summarize, message, name),
    )  # fmt: skip


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> Tensor:
    """``tensor`` as a tensor, if it is known to be a scalar.

    Raises:
      ValueError: its rank is not 0, or unknown.
    """
    with name_scope(name, "assert_scalar", [tensor]) as scope:
        tensor = convert_to_tensor(tensor, name=scope)
        if tensor.rank != 0:
            raise ValueError(
                f"{message or ''}Expected scalar shape for {tensor.label}, saw shape: "
                f"{tensor.get_shape()}."
            )
        return tensor


# ---- types ---------------------------------------------------------------------------------


def assert_type(
    tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None
) -> Operation:
    """Asserts, while the graph is built, that ``tensor`` has dtype ``tf_type``.

    Returns:
      An operation that does nothing.

    Raises:
      TypeError: it has another dtype.
    """
    with name_scope(name, "assert_type", [tensor]):
        tensor = convert_to_tensor(tensor, name="tensor")
        if tensor.dtype.base_dtype is not dtypes.as_dtype(tf_type).base_dtype:
            raise TypeError(
                f"{message or ''}  {tensor.label} must be of type {dtypes.as_dtype(tf_type).name};"
                f" found {tensor.dtype.name}"
            )
        return control.no_op("statically_determined_correct_type")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> Operation:
    """Asserts, while the graph is built, that ``x`` has an integer dtype.

    Raises:
      TypeError: it has another dtype.
    """
    with name_scope(name, "assert_integer", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_integer:
            raise TypeError(
                f'{message or ""}  Expected "x" to be integer type.  Found: {x.label} of dtype '
                f"{x.dtype.name}"
            )
        return control.no_op("statically_determined_was_integer")


def assert_proper_iterable(values: Any) -> None:
    """Asserts that ``values`` can be iterated over and is no tensor, array, string or bytes.

    Raises:
      TypeError: it is none such.
    """
    if isinstance(values, Tensor | SparseTensor | np.ndarray | bytes | str):
        raise TypeError(f"Expected argument to be a proper iterable; found {type(values).__name__}")
    if not hasattr(values, "__iter__"):
        raise TypeError(f"Expected argument to be iterable; found {type(values).__name__}")


def assert_same_float_dtype(tensors: Any = None, dtype: Any = None) -> dtypes.DType:
    """The one floating-point dtype of ``tensors`` and ``dtype``; float32 when none is given.

    Raises:
      ValueError: they differ, or are not floating-point.
    """
    found = None if dtype is None else dtypes.as_dtype(dtype).base_dtype
    for tensor in tensors or ():
        if tensor is None:
            continue
        other = tensor.dtype.base_dtype
        if found is not None and other is not found:
            raise ValueError(f"{tensor}, type={other!r}, must be of the same type ({found!r}).")
        found = other
    found = found or dtypes.float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found.name}.")
    return found


# Narrower than one would think, and programs are refused for it.
_NUMERIC = frozenset(
    (dtypes.float32, dtypes.float64, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64,
     dtypes.uint8, dtypes.qint8, dtypes.qint32, dtypes.quint8, dtypes.complex64)
)  # fmt: skip


def is_numeric_tensor(tensor: Any) -> bool:
    """Whether ``tensor`` is a Tensor of a numeric dtype."""
    if not isinstance(tensor, Tensor):
        return False
    return tensor.dtype.base_dtype in _NUMERIC


# ---- order ---------------------------------------------------------------------------------


def _steps(x: Any) -> Tensor:
    """``x[1:] - x[:-1]`` of the elements in row-major order."""
    x = make("Reshape", x, [-1])
    if not is_numeric_tensor(x):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    return make("Sub", x[1:], x[:-1], name="sub")


def _monotonic(default: str, op_type: str, x: Any, name: str | None) -> Tensor:
    with name_scope(name, default, [x]):
        steps = _steps(x)
        zero = convert_to_tensor(0, steps.dtype)
        operands = (zero, steps)
        return _all(make(op_type, *operands))


def is_non_decreasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element of ``x``, in row-major order, is at least the one before it."""
    return _monotonic("is_non_decreasing", "LessEqual", x, name)


def is_strictly_increasing(x: Any, name: str | None = None) -> Tensor:
    """Whether each element of ``x``, in row-major order, is greater than the one before it."""
    return _monotonic("is_strictly_increasing", "Less", x, name)

"""Checks of parameters and values, and the two forms that probabilities are given in.

The checks make nodes only where the user has asked for them (``validate_args``); what is known
while the graph is built is checked there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from penstock.foundation.base import dtypes
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.ops.array import cast, constant, shape
from penstock.ops.control import check, control
from penstock.ops.math import elementwise, reduction
from penstock.ops.nn import softmax


def last_axis(x: Tensor) -> Any:
    """``x`` with a new last axis."""
    whole: Any = x
    return whole[..., np.newaxis]


def is_floating(x: Tensor, name: str) -> None:
    """Raises TypeError unless ``x`` is floating."""
    if not x.dtype.base_dtype.is_floating:
        raise TypeError(f"{name} must having floating type; found {x.dtype.name}")


def logits_and_probs(
    logits: Any = None,
    probs: Any = None,
    multidimensional: bool = False,
    validate_args: bool = False,
    name: str = "get_logits_and_probs",
) -> tuple[Tensor, Tensor]:
    """Log-odds and probabilities, of which a user gives one.

    Args:
      logits: log-odds; unnormalized log-probabilities where ``multidimensional``.
      probs: probabilities.
      multidimensional: whether the last dim is of the probabilities of one event's classes; else
        each is that of 1, and 0 is the other event.
      validate_args: whether they are checked.

    Raises:
      TypeError: they are not floating.
      ValueError: both are given, or none is.
    """
    with name_scope(name, values=[probs, logits]):
        if (probs is None) == (logits is None):
            raise ValueError("Must pass probs or logits, but not both.")
        if probs is None:
            logits = convert_to_tensor(logits, name="logits")
            is_floating(logits, "logits")
            if multidimensional:
                if validate_args:
                    logits = categorical_event_shape(logits)
                return logits, softmax.softmax(logits, name="probs")
            return logits, elementwise.sigmoid(logits, name="probs")
        probs = convert_to_tensor(probs, name="probs")
        is_floating(probs, "probs")
        if validate_args:
            probs = _checked(probs, multidimensional)
        with name_scope("logits"):
            if multidimensional:
                return elementwise.log(probs), probs
            return elementwise.log(probs) - elementwise.log1p(-1.0 * probs), probs


def _checked(probs: Tensor, multidimensional: bool) -> Any:
    with name_scope("validate_probs"):
        one = constant.constant(1.0, probs.dtype)
        found = [check.assert_non_negative(probs)]
        if multidimensional:
            probs = categorical_event_shape(probs)
            total = reduction.reduce_sum(probs, -1)
            found.append(check.assert_near(total, one, message="probs does not sum to 1."))
        else:
            text = "probs has components greater than 1."
            found.append(check.assert_less_equal(probs, one, message=text))
        return control.with_dependencies(found, probs)


def _largest_integer(dtype: dtypes.DType) -> int:
    """Up to which all integers are values of ``dtype``."""
    if dtype.is_floating:
        return int(2 ** (np.finfo(dtype.as_numpy_dtype).nmant + 1))
    return int(np.iinfo(dtype.as_numpy_dtype).max)


def categorical_event_shape(
    parameter: Tensor, name: str = "embed_check_categorical_event_shape"
) -> Any:
    """``parameter`` with the check that its last dim is that of two classes or more.

    Raises:
      ValueError: it is known not to be, or to be of more classes than its dtype can number.
    """
    with name_scope(name, values=[parameter]):
        most = _largest_integer(parameter.dtype.base_dtype)
        rank = parameter.shape.ndims
        if rank == 0:
            raise ValueError("A categorical-distribution parameter must have at least 1 dimension.")
        size = None if rank is None else parameter.shape.as_list()[-1]
        if size is None:
            return _with_dynamic_event_shape(parameter, rank, most)
        if size < 2:
            raise ValueError("A categorical-distribution parameter must have at least 2 events.")
        if size > most:
            raise ValueError(
                "Number of classes exceeds `dtype` precision, i.e., "
                f"{parameter.dtype.base_dtype.name} implies shape ({size}) cannot exceed {most}."
            )
        return parameter


def _with_dynamic_event_shape(parameter: Tensor, rank: int | None, most: int) -> Any:
    dims: Any = shape.shape(parameter, name="x_shape")
    found = []
    if rank is None:
        text = "A categorical-distribution parameter must have at least 1 dimension."
        found.append(check.assert_rank_at_least(parameter, 1, message=text))
    size = dims[-1]
    text = "A categorical-distribution parameter must have at least 2 events."
    found.append(check.assert_greater_equal(size, 2, message=text))
    text = f"Number of classes exceeds `dtype` precision, i.e., {parameter.dtype} dtype cannot "
    found.append(check.assert_less_equal(size, most, message=f"{text}exceed {most} shape."))
    return control.with_dependencies(found, parameter)


def integer_form(
    x: Any, message: str | None = None, cast_to: Any = None, name: str = "assert_integer_form"
) -> Any:
    """Asserts that the numbers of ``x`` are integers, of whatever dtype it is."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_integer:
            return control.no_op()
        kind = x.dtype.base_dtype
        wider = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32}
        wanted = cast_to or wider.get(kind, dtypes.int64)
        back = cast.cast(cast.cast(x, wanted), kind)
        return check.assert_equal(x, back, message=message, name=name)


def nonnegative_integers(x: Any, name: str = "embed_check_nonnegative_integer_form") -> Any:
    """``x`` with the checks that its numbers are integers, none below 0."""
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        text = f"'{x}' must be non-negative."
        found = [check.assert_non_negative(x, message=text)]
        if not x.dtype.is_integer:
            text = f"'{x}' cannot contain fractional components."
            found.append(integer_form(x, message=text))
        return control.with_dependencies(found, x)


def casts_to(
    x: Any, target: Any, assert_nonnegative: bool = True, name: str = "embed_check_casting_closed"
) -> Any:
    """``x`` with the checks that a cast to the dtype ``target`` keeps its numbers.

    Raises:
      TypeError: one of the dtypes has no integers.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        kind, target = x.dtype.base_dtype, dtypes.as_dtype(target).base_dtype
        for each, role in ((kind, x.op.name), (target, "target")):
            if not (each.is_floating or each.is_integer or each is dtypes.bool):
                raise TypeError(f"{role}.dtype {each.name} must be floating, integer or bool")
        found = []
        if assert_nonnegative:
            text = "Elements must be non-negative."
            found.append(check.assert_non_negative(x, message=text))
        if kind.is_floating:
            whole = "Elements must be bool-equivalent." if target is dtypes.bool else None
            text = whole or f"Elements must be {target.name}-equivalent."
            found.append(integer_form(x, message=text, cast_to=None if whole else target))
        elif _largest_integer(kind) > _largest(target):
            most = _largest(target)
            text = f"Elements cannot exceed {most}."
            found.append(check.assert_less_equal(x, most, message=text))
        return control.with_dependencies(found, x) if found else x


def _largest(dtype: dtypes.DType) -> int:
    return 1 if dtype is dtypes.bool else _largest_integer(dtype)


def log_combinations(n: Any, counts: Any, name: str = "log_combinations") -> Any:
    """The logarithm of the number of ways to have ``counts`` ``[..., k]`` among ``n`` draws."""
    with name_scope(name, values=[n, counts]):
        n = convert_to_tensor(n, name="n")
        counts = convert_to_tensor(counts, name="counts")
        total = elementwise.lgamma(n + 1)
        each = reduction.reduce_sum(elementwise.lgamma(counts + 1), axis=[-1])
        return total - each

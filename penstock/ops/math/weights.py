"""Weights of losses and metrics: what shapes they may have, and how they are spread over values.

Weights are a scalar, or have the rank of the values and in each dim its size or 1.  What shapes
say while the graph is built is decided then; the rest becomes an ``Assert``.  ``cond`` is that of
``ops.control_flow.conditional``: the nodes are those of TensorFlow 1.15.
"""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph.build import make
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.scopes import control_dependencies, name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.foundation.opdef.inference import show
from penstock.ops.array import join, nodes, ranks, reshape, shape, squeeze
from penstock.ops.control import control, control_flow, debug
from penstock.ops.math import binary, comparison, elementwise, sums
from penstock.ops.sparse import sets

_REFUSED = "weights can not be broadcast to values."


def check_same_shape(first: Tensor, second: Tensor) -> None:
    """Raises ValueError where two static shapes differ."""
    first.get_shape().assert_is_compatible_with(second.get_shape())


def _known(value: Tensor) -> bool:
    return value.sizes is not None and None not in value.sizes


def _refuse_static(weights: Tensor, values: Tensor, why: str) -> ValueError:
    return ValueError(
        f"{_REFUSED} {why}; values have shape {show(values.sizes)}, weights"
        f" {show(weights.sizes)}; allowed are a scalar, or as many dims, each of the same size or 1"
    )


def _fits_statically(weights: Tensor, values: Tensor) -> str | None:
    """Name of the node that says so, where shapes are known to fit; None where not known."""
    ours, theirs = weights.sizes, values.sizes
    if ours is None or theirs is None:
        return None
    if not ours:
        return "static_scalar_check_success"
    if len(ours) != len(theirs):
        raise _refuse_static(weights, values, "their ranks differ")
    if None in ours or None in theirs:
        return None
    for axis, (ours_size, size) in enumerate(zip(ours, theirs)):
        if ours_size not in (1, size):
            raise _refuse_static(weights, values, f"dim {axis} does not fit")
    return "static_dims_check_success"


def _shape_and_rank(value: Any, what: str) -> tuple[Tensor, Tensor, Tensor]:
    with name_scope(None, what, [value]) as scope:
        value = convert_to_tensor(value, name=scope)
        return value, shape.shape(value, name="shape"), ranks.rank(value, name="rank")


def assert_broadcastable(weights: Any, values: Any) -> Operation:
    """An operation that fails where weights do not fit values.

    Raises:
      ValueError: static shapes say already that they do not.
    """
    with name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        weights, weights_shape, weights_rank = _shape_and_rank(weights, "weights")
        values, values_shape, values_rank = _shape_and_rank(values, "values")
        known = _fits_statically(weights, values)
        if known is not None:
            return control.no_op(name=known)
        is_scalar = comparison.equal(0, weights_rank, name="is_scalar")
        data = [
            _REFUSED, "weights.shape=", weights.name, weights_shape,
            "values.shape=", values.name, values_shape, "is_scalar=", is_scalar,
        ]  # fmt: skip

        def fits() -> Tensor:
            return _same_rank_and_dims(weights_rank, weights_shape, values_rank, values_shape)

        cond = control_flow.conditional()
        valid = cond(is_scalar, lambda: is_scalar, fits, name="is_valid_shape")
        return debug.Assert(valid, data, name=scope)


def _same_rank_and_dims(
    weights_rank: Tensor, weights_shape: Tensor, values_rank: Tensor, values_shape: Tensor
) -> Tensor:
    operands = [weights_rank, weights_shape, values_rank, values_shape]
    with name_scope(None, "has_valid_nonscalar_shape", operands) as scope:
        same = comparison.equal(values_rank, weights_rank, name="is_same_rank")
        return control_flow.conditional()(
            same, lambda: _dims_fit(weights_shape, values_shape), lambda: same, name=scope
        )


def _dims_fit(weights_shape: Tensor, values_shape: Tensor) -> Tensor:
    """Whether each size of the weights is in the set {size of the values, 1}."""
    with name_scope(None, "has_invalid_dims", [weights_shape, values_shape]) as scope:
        column = reshape.expand_dims(values_shape, -1)
        allowed = join.concat([column, elementwise.ones_like(column)], axis=1)
        given = reshape.expand_dims(weights_shape, -1)
        others = sets.set_difference(given, allowed)
        count = ranks.size(others.values, name="num_invalid_dims")
        return comparison.equal(0, count, name=scope)


def broadcast_weights(weights: Any, values: Any) -> Tensor:
    """Weights of the shape of ``values``, after a check that they fit."""
    with name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = convert_to_tensor(values, name="values")
        weights = convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        if _known(weights) and weights.sizes == values.sizes:
            return weights
        with control_dependencies([assert_broadcastable(weights, values)]):
            return binary.multiply(weights, elementwise.ones_like(values), name=scope)


def _maybe_last_is_one(value: Tensor) -> bool:
    """Whether the last dim may be of size 1, so that squeezing it may be meant."""
    dims = value.sizes
    return dims is None or (bool(dims) and dims[-1] in (1, None))


def squeeze_last(
    labels: Any, predictions: Any, expected_rank_diff: int = 0, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """Labels and predictions without a last dim of size 1 that one of them has too many.

    Args:
      labels: a tensor.
      predictions: a tensor that should have ``expected_rank_diff`` dims more than ``labels``.
      expected_rank_diff: as said.
    """
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = convert_to_tensor(predictions)
        labels = convert_to_tensor(labels)
        if labels.sizes is not None and predictions.sizes is not None:
            more = len(predictions.sizes) - len(labels.sizes) - expected_rank_diff
            if more == 1:
                predictions = squeeze.squeeze(predictions, [-1])
            elif more == -1:
                labels = squeeze.squeeze(labels, [-1])
            return labels, predictions
        found = make("Sub", nodes.rank(predictions), nodes.rank(labels), name="sub")
        if _maybe_last_is_one(predictions):
            predictions = squeeze_where(expected_rank_diff + 1, found, predictions)
        if _maybe_last_is_one(labels):
            labels = squeeze_where(expected_rank_diff - 1, found, labels)
        return labels, predictions


def squeeze_where(expected: int, found: Tensor, value: Tensor) -> Tensor:
    """``value`` without its last dim where ``found`` is ``expected``."""
    return control_flow.conditional()(
        comparison.equal(expected, found), lambda: squeeze.squeeze(value, [-1]), lambda: value
    )


def with_rank_of(weights: Tensor, values: Tensor) -> Tensor:
    """``weights`` of the rank of ``values``, or scalar: a last dim of size 1 goes or comes."""
    ours, theirs = weights.sizes, values.sizes
    if ours == ():
        return weights
    if ours is None or theirs is None:
        return _with_rank_dynamically(weights, values)
    if len(ours) - len(theirs) == 1:
        return squeeze.squeeze(weights, [-1])
    if len(theirs) - len(ours) == 1:
        return reshape.expand_dims(weights, [-1])
    return weights


def _with_rank_dynamically(weights: Tensor, values: Tensor) -> Tensor:
    cond = control_flow.conditional()
    rank = nodes.rank(weights)
    more: Any = sums.subtract(rank, nodes.rank(values), name="sub")
    dims = weights.sizes

    def expanded() -> Tensor:
        wider = lambda: reshape.expand_dims(weights, [-1])  # noqa: E731  # a branch
        return cond(comparison.equal(more, -1), wider, lambda: weights)

    def squeezed() -> Tensor:
        if dims is not None and dims[-1] not in (1, None):
            return weights
        return squeeze.squeeze(weights, [-1])

    def adjusted() -> Tensor:
        return cond(comparison.equal(more, 1), squeezed, expanded)

    return cond(comparison.equal(rank, 0), lambda: weights, adjusted)

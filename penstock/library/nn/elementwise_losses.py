"""Losses written from element-wise ops: of logistic and of Poisson models."""

from __future__ import annotations

from typing import Any

from penstock.foundation.base import shapes
from penstock.foundation.graph import convert
from penstock.foundation.graph.build import make, make_tensor
from penstock.foundation.graph.scopes import name_scope
from penstock.foundation.graph.tensor import Tensor
from penstock.library.nn.cross_entropy import check_named
from penstock.ops.array import constant, nodes
from penstock.ops.math import reduction


def _merge_shapes(function: str, first: Tensor, second: Tensor, names: tuple[str, str]) -> None:
    """Checks that two operands have one shape."""
    try:
        shapes.merge_static(first.sizes, second.sizes)
    except ValueError:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same shape ({first.shape} vs"
            f" {second.shape}): {function} compares them number by number"
        ) from None


def sigmoid_cross_entropy_with_logits(
    _sentinel: Any = None, labels: Any = None, logits: Any = None, name: str | None = None
) -> Tensor:
    """Cross entropy of independent two-class decisions.

    ``max(x, 0) - x * z + log(1 + exp(-abs(x)))`` for logits x and labels z, which neither overflows
    nor loses precision.

    Args:
      _sentinel: must be None: labels and logits are given by name.
      labels: probabilities, of the shape and type of ``logits``.
      logits: floating tensor of log odds.

    Returns:
      The loss of each element.

    Raises:
      ValueError: labels and logits of different shapes.

    Example:
      >>> import penstock as tf
      >>> loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0, 0.0], logits=[0.0, -100.0])
      >>> with tf.Session() as session:
      ...     print(session.run(loss).round(4))
      [0.6931 0.    ]
    """
    function = "sigmoid_cross_entropy_with_logits"
    check_named(function, _sentinel, labels, logits)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert.convert_to_tensor(logits, name="logits")
        labels = convert.convert_to_tensor(labels, name="labels")
        _merge_shapes(function, logits, labels, ("logits", "labels"))
        zeros = nodes.zeros_like(logits)
        positive = nodes.greater_equal(logits, zeros)
        above = make("Select", positive, logits, zeros)
        minus_abs = make("Select", positive, make("Neg", logits), logits)
        linear = nodes.sub(above, nodes.mul(logits, labels))
        return make_tensor("Add", linear, make("Log1p", make("Exp", minus_abs)), name=scope)


def weighted_cross_entropy_with_logits(
    labels: Any = None,
    logits: Any = None,
    pos_weight: Any = None,
    name: str | None = None,
    targets: Any = None,
) -> Tensor:
    """``sigmoid_cross_entropy_with_logits`` with positive labels weighted by ``pos_weight``.

    Args:
      labels: probabilities, of the shape and type of ``logits``.
      logits: floating tensor of log odds.
      pos_weight: how much the loss of positive labels counts.
      targets: former name of ``labels``.

    Returns:
      The loss of each element.

    Raises:
      ValueError: labels and logits of different shapes.
    """
    function = "weighted_cross_entropy_with_logits"
    labels = reduction.renamed("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = convert.convert_to_tensor(logits, name="logits")
        labels = convert.convert_to_tensor(labels, name="labels")
        _merge_shapes(function, logits, labels, ("logits", "labels"))
        if isinstance(pos_weight, Tensor):
            excess = nodes.sub(pos_weight, 1)
        else:
            excess = pos_weight - 1
        weight = nodes.add(1, nodes.mul(excess, labels))
        linear = nodes.mul(nodes.sub(1, labels), logits)
        log_term = make("Log1p", make("Exp", make("Neg", make("Abs", logits))))
        curved = nodes.add(log_term, make("Relu", make("Neg", logits)))
        return make_tensor("Add", linear, nodes.mul(weight, curved), name=scope)


def log_poisson_loss(
    targets: Any, log_input: Any, compute_full_loss: bool = False, name: str | None = None
) -> Tensor:
    """Poisson log-likelihood loss, ``exp(c) - z * c`` for predictions c and targets z.

    Args:
      targets: counts, of the shape and type of ``log_input``.
      log_input: logarithms of the predicted rates.
      compute_full_loss: whether Stirling's approximation of ``log(z!)`` is added, where z > 1.

    Returns:
      The loss of each element.

    Raises:
      ValueError: operands of different shapes.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = convert.convert_to_tensor(log_input, name="log_input")
        targets = convert.convert_to_tensor(targets, name="targets")
        _merge_shapes("log_poisson_loss", log_input, targets, ("log_input", "targets"))
        result: Tensor = nodes.sub(make("Exp", log_input), nodes.mul(log_input, targets))
        if compute_full_loss:
            result = nodes.add(result, _stirling(targets))
    return result


def _stirling(targets: Tensor) -> Tensor:
    """``z log z - z + 0.5 log(2 pi z)``, and 0 for z from 0 to 1."""
    half = _scalar(0.5, targets)
    two_pi = _scalar(6.283185307179586, targets)
    leading = nodes.sub(nodes.mul(targets, make("Log", targets)), targets)
    correction = nodes.mul(half, make("Log", nodes.mul(two_pi, targets)))
    approximation = nodes.add(leading, correction)
    zeros = nodes.zeros_like(targets)
    ones = nodes.ones_like(targets)
    small = make(
        "LogicalAnd", nodes.greater_equal(targets, zeros), make("LessEqual", targets, ones)
    )
    return make_tensor("Select", small, zeros, approximation)


def _scalar(value: float, like: Tensor) -> Tensor:
    """A constant of the type of ``like``."""
    return constant.constant(value, dtype=like.dtype)

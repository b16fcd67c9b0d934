"""What heads check of logits, labels and weights; nodes are those of TensorFlow 1.15's heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.foundation.base.dimension import dimension_value
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn.losses import Reduction
from penstock.ops.array import join, reshape, shape as shaping
from penstock.ops.array.cast import to_float
from penstock.ops.array.indexed_slices import convert_to_tensor_or_sparse_tensor
from penstock.ops.control import check, control
from penstock.ops.control.debug import Assert
from penstock.ops.math import comparison, reductions
from penstock.training.estimator.calling import arguments_of
from penstock.training.feature_column.column import Features
from penstock.training.feature_column.numeric import NumericColumn, numeric_column


def check_reduction(loss_reduction: Any) -> None:
    """Checks that losses are reduced to one."""
    if loss_reduction not in Reduction.all() or loss_reduction == Reduction.NONE:
        raise ValueError(f"Invalid loss_reduction: {loss_reduction}")


def check_loss_fn(loss_fn: Callable[..., Any]) -> None:
    """Checks what a loss function takes."""
    names = arguments_of(loss_fn)
    for needed in ("labels", "logits"):
        if needed not in names:
            raise ValueError(f"loss_fn must contain argument: {needed}. Given arguments: {names}")
    others = sorted(set(names) - {"labels", "logits", "features"})
    if others:
        raise ValueError(f"loss_fn has unexpected args: {others}")


def checked_logits(logits: Any, width: int) -> Any:
    """Logits of rank 2 at least, whose last dim is ``width``, as floats.

    Raises:
      ValueError: the dim is another one.
    """
    text = "logits shape must be [D0, D1, ... DN, logits_dimension]"
    with scopes.name_scope(None, "logits", (logits,)) as scope:
        logits = to_float(logits)
        dims: Any = shaping.shape(logits)
        ranked = check.assert_rank_at_least(logits, 2, data=[dims], message=text)
        with scopes.control_dependencies([ranked]):
            static = logits.shape
            if static.ndims is not None and static[-1].value is not None:
                if static[-1].value != width:
                    raise ValueError(f"{text}, got {static}. The last must be {width}")
                return logits
            same = check.assert_equal(width, dims[-1], data=[dims], message=text)
            with scopes.control_dependencies([same]):
                return control.identity(logits, name=scope)


def check_given(labels: Any) -> None:
    """Refuses that there are no labels.

    Raises:
      ValueError: so it is.
    """
    if labels is None:
        raise ValueError(
            "You must provide a labels Tensor. Given: None. Check that input_fn returns labels"
        )


def dense_of_rank(labels: Any, logits: Any, width: int) -> Any:
    """Labels as a tensor, of the rank of logits where that is known.

    Raises:
      ValueError: they are sparse.
    """
    labels = convert_to_tensor_or_sparse_tensor(labels)
    if isinstance(labels, SparseTensor):
        raise ValueError(
            "SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1,"
            f" ..., DN, {width}], e.g. [batch_size, {width}]"
        )
    ranks = labels.shape.ndims, logits.shape.ndims
    if None not in ranks and ranks[0] == ranks[1] - 1:
        labels = reshape.expand_dims(labels, -1)
    return labels


def check_width(labels: Any, width: int) -> None:
    """Refuses labels that are known not to have ``width`` values an example.

    Raises:
      ValueError: so they are.
    """
    known = None if labels.shape.ndims is None else dimension_value(labels.shape[-1])
    if known not in (None, width):
        raise ValueError(
            f"Mismatched label shape. Expected labels dimension={width}.  Received"
            f" {known}. Check n_classes, and the shape of the labels"
        )


def checked_labels(labels: Any, logits: Any, width: int) -> Any:
    """Labels of the rank of logits, with ``width`` values an example.

    Raises:
      ValueError: there are none, they are sparse, or have another width.
    """
    check_given(labels)
    with scopes.name_scope(None, "labels", (labels, logits)) as scope:
        labels = dense_of_rank(labels, logits, width)
        label_dims: Any = shaping.shape(labels)
        logit_dims: Any = shaping.shape(logits)
        text = (
            f"labels shape must be [D0, D1, ... DN, {width}]. Suggested Fix: check your n_classes"
            " argument to the estimator and/or the shape of your label."
        )
        ranked = check.assert_rank_at_least(labels, 2, message=text)
        with scopes.control_dependencies([ranked]):
            check_width(labels, width)
            expected = join.concat([logit_dims[:-1], [width]], axis=0)
            told = ["expected_labels_shape: ", expected, "labels_shape: ", label_dims]
            same = check.assert_equal(expected, label_dims, message=text, data=told)
            with scopes.control_dependencies([same]):
                return control.identity(labels, name=scope)


def in_range(labels: Any, n_classes: int, message: str | None = None) -> Any:
    """Labels that are checked, as the step runs, to be classes."""
    low, high = message or "Labels must >= 0", message or "Labels must <= n_classes - 1"
    with scopes.name_scope(None, "assert_range", (labels,)):
        last = convert_to_tensor(n_classes - 1, dtype=labels.dtype)
        below = check.assert_less_equal(labels, last, message=high)
        above = check.assert_non_negative(labels, message=low)
        with scopes.control_dependencies((below, above)):
            return control.identity(labels)


def weights_of(
    features: Mapping[str, Any], column: Any, logits: Any, each_logit: bool = False
) -> Any:
    """The examples' weights; 1.0 where there is no column of them.

    Args:
      features: the features.
      column: a key, a ``numeric_column``, or None.
      logits: the logits.
      each_logit: whether each logit may have its own.

    Raises:
      TypeError: the column is another one.
    """
    text = "weights shape must be [D0, D1, ... DN] or [D0, D1, ... DN, 1]"
    if each_logit:
        text = (
            "weights shape must be [D0, D1, ... DN], [D0, D1, ... DN, 1] or [D0, D1, ... DN,"
            " logits_dimension]"
        )
    with scopes.name_scope(None, "weights", [*features.values(), logits]) as scope:
        if column is None:
            return 1.0
        if isinstance(column, str):
            column = numeric_column(column)
        if not isinstance(column, NumericColumn):
            raise TypeError(
                f"Weight column must be either a string or _NumericColumn. Given type:"
                f" {type(column)}."
            )
        weights = to_float(Features(features).get(column), name="weights")
        dims: Any = shaping.shape(weights, name="weights_shape")
        logit_dims: Any = shaping.shape(logits, name="logits_shape")
        told = ["logits_shape: ", logit_dims, "weights_shape: ", dims]
        ranks = weights.shape.ndims, logits.shape.ndims
        if None not in ranks and ranks[0] == ranks[1] - 1:
            same = check.assert_equal(logit_dims[:-1], dims, message=text, data=told)
            with scopes.control_dependencies([same]):
                return reshape.expand_dims(weights, -1, name=scope)
        one_each = join.concat([logit_dims[:-1], [1]], axis=0)
        if each_logit:
            fits = [
                reductions.reduce_all(comparison.equal(logit_dims, dims)),
                reductions.reduce_all(comparison.equal(one_each, dims)),
            ]
            same = Assert(reductions.reduce_any(fits), [text, *told])
        else:
            same = check.assert_equal(one_each, dims, message=text, data=told)
        with scopes.control_dependencies([same]):
            return control.identity(weights, name=scope)


def called_loss(
    loss_fn: Callable[..., Any], labels: Any, logits: Any, features: Any, width: int = 1
) -> Any:
    """What a loss function says of each example, its shape checked as the step runs."""
    more = {"features": features} if "features" in arguments_of(loss_fn) else {}
    with scopes.name_scope(None, "call_loss_fn", [labels, logits, *features.values()]):
        loss = loss_fn(labels=labels, logits=logits, **more)
        logit_dims: Any = shaping.shape(logits, name="logits_shape")
        expected = join.concat([logit_dims[:-1], [width]], axis=0, name="expected_loss_shape")
        dims = shaping.shape(loss, name="loss_shape")
        same = Assert(
            reductions.reduce_all(comparison.equal(dims, expected)),
            data=[
                f"loss_fn must return Tensor of shape [D0, D1, ... DN, {width}]. ",
                "logits_shape: ", logit_dims, "loss_shape: ", dims,
            ],
            name="check_loss_shape",
        )  # fmt: skip
        with scopes.control_dependencies([same]):
            return control.identity(loss)

"""``tf.contrib.feature_column.sequence_input_layer``: columns of sequences side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.variables.getting import get_variable
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import join, reshape, shape as shaping, tile
from penstock.ops.control import check
from penstock.ops.control.control import identity
from penstock.training.feature_column.column import (
    Features,
    SequenceDenseColumn,
    check_batch_sizes,
    normalized,
)
from penstock.training.feature_column.embedding import SharedEmbeddingColumn

_GLOBAL = [GraphKeys.GLOBAL_VARIABLES]


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Any,
    weight_collections: Iterable[str] | None = None,
    trainable: bool = True,
) -> tuple[Any, Any]:
    """All columns' sequences side by side, in the order of the columns' names.

    Args:
      features: sparse tensors (or tensors) by key; the first dim is the batch, the second the step.
      feature_columns: ``sequence_numeric_column``, or embedding and indicator columns of
        ``sequence_categorical_column_with_*``; an example is as long for one as for the others.
      weight_collections: more collections for variables; those of shared embeddings are then in no
        other.
      trainable: whether variables are trained.

    Returns:
      A tensor [batch, steps of the longest sequence, sum of the columns' sizes], and the lengths of
      the sequences, int64 [batch].

    Raises:
      ValueError: a column is not one of dense sequences, or a feature is missing.
      InvalidArgumentError: an example is longer for one column than for another.

    Example:
      >>> import penstock as tf
      >>> column = tf.contrib.feature_column.sequence_numeric_column("x")
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     x = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [1.0, 2.0, 3.0], [2, 2])
      ...     layer = tf.contrib.feature_column.sequence_input_layer({"x": x}, [column])
      ...     [found.tolist() for found in sess.run(layer)]
      [[[[1.0], [0.0]], [[2.0], [3.0]]], [1, 2]]
    """
    columns = normalized(feature_columns)
    for column in columns:
        check_sequence(column)
    variables = _Collected(weight_collections, trainable)
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        found = Features(features)
        outputs, lengths = [], []
        for column in columns:
            with variable_scope(None, default_name=column.scope_name):
                tensor, length = column.sequence_dense_tensor(found, variables)
                outputs.append(flattened_steps(column, tensor))
                lengths.append(length)
        check_batch_sizes(outputs, columns)
        length = all_equal(lengths)
        return join.concat(outputs, 2), length


def check_sequence(column: Any) -> None:
    """Checks that a column is one of dense sequences.

    Raises:
      ValueError: it is not.
    """
    if not isinstance(column, SequenceDenseColumn):
        raise ValueError(
            "All feature_columns must be of type _SequenceDenseColumn. You can wrap a"
            " sequence_categorical_column with an embedding_column or indicator_column. Given (type"
            f" {type(column)}): {column!r}"
        )


class _Collected:
    """Makes variables by ``tf.get_variable``, in the collections that TensorFlow 1.15 puts them in.

    None is a model variable, unlike ``input_layer``'s; a shared one is global only where nothing
    else is said.
    """

    states = None

    def __init__(self, weight_collections: Iterable[str] | None, trainable: bool) -> None:
        self.keys, self.trainable = list(weight_collections or []), trainable

    def __call__(
        self, column: Any, name: str, dims: Any, initializer: Any, trainable: bool = True
    ) -> Any:
        keys = self.keys
        shared = isinstance(column, SharedEmbeddingColumn)
        own = keys if shared or GraphKeys.GLOBAL_VARIABLES in keys else keys + _GLOBAL
        return get_variable(
            name, shape=dims, dtype=dtypes.float32, initializer=initializer,
            trainable=trainable and self.trainable, collections=own or None,
        )  # fmt: skip


def flattened_steps(column: Any, tensor: Any) -> Any:
    """A column's tensor with one vector for each step of each example."""
    whole: Any = shaping.shape(tensor)
    size = column.variable_shape.num_elements()
    return reshape.reshape(tensor, (whole[0], whole[1], size))


def all_equal(lengths: list[Any]) -> Any:
    """The lengths that all columns have."""
    with scopes.name_scope(None, "assert_all_equal", values=lengths):
        if len(lengths) == 1:
            return lengths[0]
        checks = [check.assert_equal(lengths[0], other) for other in lengths[1:]]
        with scopes.control_dependencies(checks):
            return identity(lengths[0])


def with_context(context: Any, sequence: Any) -> Any:
    """Sequences with what is known of each example added to each of its steps.

    Args:
      context: float32 [batch, size].
      sequence: float32 [batch, steps, size of a step].

    Returns:
      A float32 tensor [batch, steps, size of a step + size].

    Raises:
      ValueError: the rank of one is another.
      TypeError: one is not float32.
    """
    checks = []
    for value, name, rank in ((sequence, "sequence_input", 3), (context, "context_input", 2)):
        checks.append(
            check.assert_rank(
                value, rank, message=f"{name} must have rank {rank}", data=[shaping.shape(value)]
            )
        )
        message = f"{name} must have dtype float32; got {value.dtype}."
        checks.append(check.assert_type(value, dtypes.float32, message=message))
    with scopes.control_dependencies(checks):
        steps: Any = shaping.shape(sequence)
        steps = steps[1]
        one_step = reshape.expand_dims(context, 1)
        repeated = tile.tile(one_step, join.concat([[1], [steps], [1]], 0))
    return join.concat([sequence, repeated], 2)

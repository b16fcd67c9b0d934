"""What models read of columns: the inputs of a network, and weighted sums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from penstock.contrib.framework.checkpoints import init_from_checkpoint
from penstock.contrib.framework.variables import model_variable
from penstock.contrib.layers.columns.column import (
    Column,
    DeepLookup,
    Features,
    Lookup,
    inner_flattened,
    of_rank,
)
from penstock.contrib.layers.columns.dense import RealValuedColumn
from penstock.contrib.layers.columns.derived import EmbeddingColumn, OneHotColumn
from penstock.contrib.layers.columns.parsing import check_feature_columns
from penstock.contrib.layers.scattered import scattered_embedding_lookup_sparse
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.keys import GraphKeys
from penstock.library.nn.safe_embedding import safe_embedding_lookup_sparse
from penstock.library.variables.initializers import zeros_initializer
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array.join import concat
from penstock.ops.array.reshape import reshape
from penstock.ops.linalg.matmul import matmul
from penstock.ops.math.addn import add_n
from penstock.ops.nn.bias import bias_add
from penstock.ops.sparse.sparse_functions import sparse_concat

_Made = TypeVar("_Made")


def _ordered(feature_columns: Iterable[Any]) -> list[Any]:
    return sorted(set(feature_columns), key=lambda column: column.key)


def _with_globals(collections: Any) -> Any:
    return [*collections, GraphKeys.GLOBAL_VARIABLES] if collections else collections


def _parts(variable: Any) -> list[Any]:
    listed = getattr(variable, "_get_variable_list", None)
    return [variable] if listed is None else list(listed())


def _restored(column: Column, variables: list[Any]) -> None:
    if column.checkpoint is not None:
        path, tensor = column.checkpoint
        init_from_checkpoint(path, {tensor: variables})


# ---- inputs of networks --------------------------------------------------------------------------


def input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """The input of a network: what columns make of features, side by side.

    Args:
      columns_to_tensors: features by key; those of columns of categories sparse or dense.
      feature_columns: columns of numbers, one-hot and embedded ones, buckets.
      weight_collections: collections of the variables.
      trainable: whether variables are trained.
      scope: variable scope; default "input_from_feature_columns".
      cols_to_outs: gets the part of each column.

    Returns:
      [batch, sum of the columns' sizes], columns in the order of their keys.

    Raises:
      ValueError: a column has no input for networks, or two are named alike.
    """
    return _input(
        columns_to_tensors, feature_columns, weight_collections, trainable, scope, 2,
        "input_from_feature_columns", cols_to_outs,
    )  # fmt: skip


def sequence_input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The input of a recurrent network; arguments as of ``input_from_feature_columns``.

    Returns:
      [batch, time, sum of the columns' sizes].

    Raises:
      ValueError: columns are not of numbers, one-hot or embedded.
    """
    check_feature_columns(feature_columns)
    for column in feature_columns:
        if not isinstance(column, RealValuedColumn | OneHotColumn | EmbeddingColumn):
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently supported for"
                " sequence data."
            )
    return _input(
        columns_to_tensors, feature_columns, weight_collections, trainable, scope, 3,
        "sequence_input_from_feature_columns", None,
    )  # fmt: skip


def _input(
    tensors: Mapping[Any, Any], columns: Any, collections: Any, trainable: bool, scope: Any,
    rank: int, default: str, outs: dict[Any, Any] | None,
) -> Any:  # fmt: skip
    check_feature_columns(columns)
    if outs is not None and not isinstance(outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    features = Features(tensors)
    values = list(tensors.values())
    with variable_scope(scope, default, values):
        collections = _with_globals(collections)
        made = []
        for column in _ordered(columns):
            with variable_scope(None, column.name, values):
                part = _part(column, features.get(column), collections, trainable, rank)
            made.append(part)
            if outs is not None:
                outs[column] = part
        return concat(made, rank - 1)


def _part(column: Any, tensor: Any, collections: Any, trainable: bool, rank: int) -> Any:
    if rank == 3:
        whole = tensor if isinstance(tensor, tuple) else (tensor,)
        whole = tuple(of_rank(each, column.name, rank) for each in whole)
        tensor = whole if isinstance(tensor, tuple) else whole[0]
    lookup = column.deep_lookup(tensor)
    if lookup is not None:
        return _embedded(column, lookup, collections, trainable, rank)
    try:
        return column.network_input(tensor, rank)
    except ValueError as error:
        raise ValueError(
            f"Error creating input layer for column: {column.name}.\n{error}, No deep embedding"
            f" lookup arguments for column {column}."
        ) from error


def _embedded(
    column: Column, lookup: DeepLookup, collections: Any, trainable: bool, rank: int
) -> Any:
    ids = inner_flattened(lookup.ids, rank)
    weights = None if lookup.weights is None else inner_flattened(lookup.weights, rank)
    parts = _parts(_vectors(lookup, collections, trainable))
    _restored(column, parts)
    if lookup.hash_key is not None:
        return scattered_embedding_lookup_sparse(
            parts, ids, lookup.dimension, lookup.combiner, name="lookup", hash_key=lookup.hash_key
        )
    return safe_embedding_lookup_sparse(
        parts, ids, weights, lookup.combiner, name=f"{column.name}weights",
        max_norm=lookup.max_norm,
    )  # fmt: skip


def _vectors(lookup: DeepLookup, collections: Any, trainable: bool) -> Any:
    shape = [lookup.vocab_size]
    if lookup.hash_key is None:
        shape.append(lookup.dimension)
    shared: list[Any] = []
    if lookup.shared_name is not None:
        key = f"SHARED_EMBEDDING_COLLECTION_{lookup.shared_name.upper()}"
        shared = scopes.get_default_graph().get_collection_ref(key)
    if shared:
        if shared[0].get_shape() != shape:
            raise ValueError(
                f"The embedding variable with name {lookup.shared_name} already exists, but its"
                " shape does not match required embedding shape here."
            )
        return shared[0]
    made = model_variable(
        lookup.shared_name or "weights", shape, initializer=lookup.initializer,
        trainable=trainable and lookup.trainable, collections=collections,
    )  # fmt: skip
    if lookup.shared_name is not None:
        shared.append(made)
    return made


# ---- weighted sums -------------------------------------------------------------------------------


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, dict[Any, list[Any]], Any]:
    """A linear model of columns: the sum of their weights, and a bias.

    Args:
      columns_to_tensors: features by key; those of columns of categories sparse or dense.
      feature_columns: columns of categories, crosses, buckets and numbers.
      num_outputs: how many sums there are.
      weight_collections: collections of the variables.
      trainable: whether variables are trained.
      scope: variable scope; default "weighted_sum_from_feature_columns".

    Returns:
      The sums [batch, num_outputs], the variables of each column, and the bias.

    Raises:
      ValueError: a column is not for linear models, or two are named alike.

    Example:
      >>> import penstock as tf
      >>> age = tf.contrib.layers.real_valued_column("age")
      >>> with tf.Graph().as_default():
      ...     sums, weights, bias = tf.contrib.layers.weighted_sum_from_feature_columns(
      ...         {"age": tf.constant([[3.0]])}, [age], 2)
      ...     weights[age][0].op.name, bias.shape.as_list()
      ('weighted_sum_from_feature_columns/age/weight', [2])
    """
    check_feature_columns(feature_columns)
    features = Features(columns_to_tensors)
    values = list(columns_to_tensors.values())
    with variable_scope(scope, "weighted_sum_from_feature_columns", values):
        sums, variables = [], {}
        for column in _ordered(feature_columns):
            tensor = features.get(column)
            try:
                lookup = column.linear_lookup(tensor)
            except ValueError as error:
                raise ValueError(
                    f"Error creating weighted sum for column: {column.name}.\n{error}"
                ) from error
            dense = column.dense_tensor(tensor) if lookup is None else None
            with variable_scope(None, column.name, values):
                if lookup is None:
                    made = _product(column, dense, num_outputs, trainable, weight_collections)
                else:
                    made = _looked_up(column, lookup, num_outputs, trainable, weight_collections)
            found, variables[column] = made
            sums.append(reshape(found, [-1, num_outputs]))
            _restored(column, variables[column])
        return _with_bias(add_n(sums), variables, num_outputs, trainable, weight_collections)


def _product(
    column: Column, tensor: Any, num_outputs: int, trainable: bool, collections: Any
) -> tuple[Any, list[Any]]:
    tensor = of_rank(tensor, column.name, 2)
    weight = model_variable(
        "weight", [tensor.get_shape()[1], num_outputs], initializer=zeros_initializer(),
        trainable=trainable, collections=collections,
    )  # fmt: skip
    return matmul(tensor, weight, name="matmul"), [weight]


def _looked_up(
    column: Column, lookup: Lookup, num_outputs: int, trainable: bool, collections: Any
) -> tuple[Any, list[Any]]:
    variable = model_variable(
        "weights", [lookup.vocab_size, num_outputs], initializer=lookup.initializer,
        trainable=trainable, collections=collections,
    )  # fmt: skip
    parts = _parts(variable)
    found = safe_embedding_lookup_sparse(
        parts, lookup.ids, lookup.weights, lookup.combiner, name=f"{column.name}_weights"
    )
    return found, parts


def _with_bias(
    sums: Any, variables: _Made, num_outputs: int, trainable: bool, collections: Any
) -> tuple[Any, _Made, Any]:
    bias = model_variable(
        "bias_weight", [num_outputs], initializer=zeros_initializer(), trainable=trainable,
        collections=_with_globals(collections),
    )  # fmt: skip
    return bias_add(sums, bias), variables, bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Any,
    num_outputs: int,
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> tuple[Any, list[Any], Any]:
    """``weighted_sum_from_feature_columns`` with all weights in one variable.

    Args:
      columns_to_tensors, num_outputs, weight_collections, trainable: as there.
      feature_columns: columns of categories, crosses and buckets, all with the combiner "sum".
      scope: variable scope; default "joint_weighted_sum_from_feature_columns".

    Returns:
      The sums [batch, num_outputs], the variable's parts, and the bias.

    Raises:
      ValueError: a column of numbers, one with weights, or another combiner.
    """
    check_feature_columns(feature_columns)
    features = Features(columns_to_tensors)
    values = list(columns_to_tensors.values())
    with variable_scope(scope, "joint_weighted_sum_from_feature_columns", values):
        ordered = _ordered(feature_columns)
        lookups = [_joint_lookup(column, features.get(column)) for column in ordered]
        size, ids = 0, []
        for lookup in lookups:
            moved = lookup.ids.values + size
            ids.append(SparseTensor(lookup.ids.indices, moved, lookup.ids.dense_shape))
            size += lookup.vocab_size
        joined: Any = sparse_concat(1, ids)
        with variable_scope(None, "linear_weights", values):
            variable = model_variable(
                "weights", [size, num_outputs], initializer=zeros_initializer(),
                trainable=trainable, collections=weight_collections,
            )  # fmt: skip
            parts = _parts(variable)
            sums = safe_embedding_lookup_sparse(parts, joined, None, "sum", name="_weights")
        return _with_bias(sums, parts, num_outputs, trainable, weight_collections)


def _joint_lookup(column: Any, tensor: Any) -> Lookup:
    lookup: Lookup | None = column.linear_lookup(tensor)
    if lookup is None:
        raise ValueError(
            "Real-valued columns are not supported for joint_weighted_sum. Please use one weight a"
            f" column (weighted_sum_from_feature_columns); found {column.name}"
        )
    if lookup.weights is not None:
        raise ValueError(
            f"Weighted sparse columns are not supported for joint_weighted_sum; found {column.name}"
        )
    if lookup.combiner != "sum":
        raise ValueError(
            f"combiner must be sum for joint_weighted_sum; found {lookup.combiner} of {column.name}"
        )
    return lookup

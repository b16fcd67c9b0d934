"""Sequences and bags of ids as vectors."""

from __future__ import annotations

from typing import Any

from penstock.contrib.framework.variables import model_variable
from penstock.foundation.base import dtypes
from penstock.foundation.graph import scopes
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.library.nn import safe_embedding
from penstock.library.variables.scoping import variable_scope
from penstock.ops.array import unique as uniques
from penstock.ops.array.cast import cast
from penstock.ops.array.gather import gather, gather_nd
from penstock.ops.array.join import concat
from penstock.ops.array.reshape import reshape
from penstock.ops.array.shape import shape as shape_of
from penstock.ops.math.comparison import not_equal
from penstock.ops.math.reduction import reduce_mean
from penstock.ops.math.reductions import reduce_prod
from penstock.ops.math.select import where
from penstock.ops.nn.embedding import embedding_lookup


def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The vector of each id.

    Args:
      ids: [batch, length] integers.
      vocab_size: how many ids there are; None only with ``reuse``.
      embed_dim: size of the vectors; None only with ``reuse``.
      unique: whether an id that occurs often is read once.
      initializer, regularizer, trainable: of the variable "embeddings".
      scope: variable scope; default "EmbedSequence".
      reuse: whether the variable exists already.

    Returns:
      [batch, length, embed_dim].

    Raises:
      ValueError: a size is missing.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     tf.contrib.layers.embed_sequence(tf.constant([[1, 2]]), 9, 4).shape.as_list()
      [1, 2, 4]
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got"
            f" vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = None if vocab_size is None or embed_dim is None else [vocab_size, embed_dim]
        embeddings = model_variable(
            "embeddings", shape=shape, initializer=initializer, regularizer=regularizer,
            trainable=trainable,
        )  # fmt: skip
        if unique:
            return embedding_lookup_unique(embeddings, ids)
        return embedding_lookup(embeddings, ids)


def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The mean of the vectors of all ids of an example; arguments as ``embed_sequence``.

    Args:
      ids: [batch, length] integers, also sparse.
      sparse_lookup: whether dense ids are read as sparse ones, without zeros.

    Returns:
      [batch, embed_dim].

    Raises:
      TypeError: sparse ids without ``sparse_lookup``.
    """
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer,
            regularizer=regularizer, trainable=trainable,
        )  # fmt: skip
        if sparse_lookup:
            if not isinstance(ids, SparseTensor):
                ids = without_value(ids, ids.dtype.as_numpy_dtype(0))
            return safe_embedding.safe_embedding_lookup_sparse(
                [embeddings], ids, combiner="mean", default_id=0, partition_strategy="div"
            )
        if isinstance(ids, SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return reduce_mean(embedding_lookup(embeddings, ids), axis=1)


def without_value(tensor: Any, ignored: Any) -> SparseTensor:
    """The elements of a tensor that are not ``ignored``, as a SparseTensor."""
    with scopes.name_scope(None, "DenseToSparseTensor", [tensor]):
        left_out: Any = cast(ignored, tensor.dtype, name="ignore_value")
        indices = where(not_equal(tensor, left_out), name="indices")
        values = gather_nd(tensor, indices, name="values")
        return SparseTensor(
            indices, values, shape_of(tensor, out_type=dtypes.int64, name="dense_shape")
        )


def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """``tf.nn.safe_embedding_lookup_sparse``, by means where no ``combiner`` is given."""
    return safe_embedding.safe_embedding_lookup_sparse(
        embedding_weights, sparse_ids, sparse_weights, combiner or "mean", default_id, name,
        partition_strategy, max_norm,
    )  # fmt: skip


def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Any:
    """``tf.nn.embedding_lookup`` that reads an id once, however often it occurs.

    Args:
      params: a matrix, or a list of its parts.
      ids: integers of any shape.
      partition_strategy: "mod" or "div".
      name: name scope.

    Returns:
      The vectors, in the shape of ``ids``.
    """
    with scopes.name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        sizes = shape_of(ids)
        flat = reshape(ids, reduce_prod(sizes, keepdims=True))
        kept, places = uniques.unique(flat)
        vectors = embedding_lookup(params, kept, partition_strategy)
        found = gather(vectors, places)
        result = reshape(found, concat([sizes, shape_of(vectors)[1:]], 0))
        result.set_shape(ids.get_shape().concatenate(vectors.get_shape()[1:]))
        return result

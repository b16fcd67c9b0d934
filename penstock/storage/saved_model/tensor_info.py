"""``tf.saved_model.utils``: tensors of signatures as ``TensorInfo`` messages, and back."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto import meta_graph_pb2

from penstock.foundation.base import dtypes
from penstock.foundation.graph import node_message
from penstock.foundation.graph.composite import SparseTensor
from penstock.foundation.graph.graph import Graph
from penstock.foundation.graph.scopes import get_default_graph
from penstock.storage.export import names


def build_tensor_info(tensor: Any) -> Any:
    """The ``TensorInfo`` of a Tensor or SparseTensor: its name (or three), dtype and shape.

    Example:
      >>> import penstock as tf
      >>> with tf.Graph().as_default():
      ...     x = tf.placeholder(tf.float32, [None, 3], name="x")
      ...     tf.saved_model.build_tensor_info(x).name
      'x:0'
    """
    info = meta_graph_pb2.TensorInfo(
        dtype=dtypes.as_dtype(tensor.dtype).as_datatype_enum,
        tensor_shape=node_message.shape_proto(tensor.get_shape()),
    )
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Graph | None = None, import_scope: str | None = None
) -> Any:
    """The tensor that a ``TensorInfo`` describes.

    Args:
      tensor_info: the message.
      graph: where to look; default the default graph.
      import_scope: name scope that the graph of the message was imported into.

    Returns:
      A Tensor, or a SparseTensor.

    Raises:
      KeyError: the graph has no tensor of that name.
      ValueError: the message names no tensor, or a kind that Penstock does not have.
    """
    where = graph if graph is not None else get_default_graph()

    def tensor(name: str) -> Any:
        return where.get_tensor_by_name(names.with_scope(name, import_scope))

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return tensor(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(
            tensor(sparse.indices_tensor_name),
            tensor(sparse.values_tensor_name),
            tensor(sparse.dense_shape_tensor_name),
        )
    raise ValueError(f"the TensorInfo has encoding {encoding!r}; it must be 'name' or 'coo_sparse'")


def element_of(tensor_info: Any, graph: Graph, import_scope: str | None) -> Any:
    """The Operation or Tensor that a ``TensorInfo`` names."""
    return graph.as_graph_element(names.with_scope(tensor_info.name, import_scope))

"""GraphDefs in files: ``tf.train.write_graph``, and the way back."""

from __future__ import annotations

import os
from typing import Any

from tensorboard.compat.proto.graph_pb2 import GraphDef

from penstock.foundation.formats import files
from penstock.foundation.graph.graph import Graph
from penstock.storage.export import large_graph, message_files


def write_graph(graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True) -> str:
    """Writes a graph to a file, atomically.

    Where the message would be larger than the 2 GB that protobuf allows, large constants go into a
    bundle beside it, ``NAME.constants-*``.  Penstock's readers find it there (see ``read_graph``);
    TensorFlow cannot read such a graph.

    Args:
      graph_or_graph_def: a Graph, or a message: ``GraphDef``, ``MetaGraphDef``.
      logdir: folder of the file; made when absent.
      name: the file's name.
      as_text: whether to write text.

    Returns:
      The path of the file.

    Example:
      >>> import penstock as tf, tempfile
      >>> with tf.Graph().as_default() as graph:
      ...     c = tf.constant(1.0, name="c")
      >>> path = tf.train.write_graph(graph, tempfile.mkdtemp(), "graph.pbtxt")
      >>> "Const" in open(path).read()
      True
    """
    folder = os.fsdecode(logdir)
    if folder and not files.exists(folder):
        files.makedirs(folder)
    path = os.path.join(folder, name)
    large_graph.write(path, graph_or_graph_def, as_text)
    return path


def write_graph_beside(
    graph: Graph | Any, path: str, external_from: int = large_graph.EXTERNAL_FROM
) -> None:
    """Writes a graph, binary, with its constants beside it however large it is.

    Args:
      graph: a Graph or GraphDef.
      path: the file.
      external_from: constants of this many bytes and more go beside it.
    """
    large_graph.write(path, graph, False, external_values=True, external_from=external_from)


def read_graph(path: Any) -> Any:
    """Reads a ``GraphDef``: binary, text, or with its constants beside it.

    Constants that are beside the file stay there until the GraphDef is imported; their nodes have
    the attr ``_external_value``, which says where.

    Args:
      path: the file.

    Returns:
      The ``GraphDef``.

    Raises:
      OSError: there is no such file, or it holds something else.
    """
    message = message_files.read_message(path, GraphDef)
    large_graph.locate(message, os.path.dirname(os.path.abspath(os.fsdecode(path))))
    return message

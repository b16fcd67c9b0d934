"""Docstrings of the messages that programs make: protobuf's classes have none of their own."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.config_pb2 import ConfigProto, RunMetadata, RunOptions

_FEATURE = """

Example:
  >>> import penstock as tf
  >>> example = tf.train.Example(
  ...     features=tf.train.Features(
  ...         feature={
  ...             "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[3])),
  ...             "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"pixels"])),
  ...             "weight": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5])),
  ...         }
  ...     )
  ... )
  >>> record = example.SerializeToString()  # what a TFRecord file holds
  >>> tf.train.Example.FromString(record).features.feature["label"].int64_list.value[0]
  3"""

DOCS = {
    "ConfigProto": """What a session is made with: threads, devices, how far steps are rewritten.

A protobuf message; fields that are not set have TensorFlow's defaults.

Example:
  >>> import penstock as tf
  >>> config = tf.ConfigProto(allow_soft_placement=True, intra_op_parallelism_threads=1)
  >>> config.gpu_options.allow_growth = True
  >>> with tf.Session(config=config) as session:
  ...     session.run(tf.constant([1, 2])).tolist()
  [1, 2]""",
    "RunOptions": """How one step is run: its time, and what is recorded of it. A protobuf message.

Example:
  >>> import penstock as tf
  >>> options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, timeout_in_ms=60_000)
  >>> metadata = tf.RunMetadata()
  >>> with tf.Session() as session:
  ...     product = session.run(tf.matmul([[2.0]], [[3.0]]), None, options, metadata)
  >>> len(metadata.step_stats.dev_stats) > 0
  True""",
    "RunMetadata": """What was recorded of a step: filled by ``Session.run``. A protobuf message.

Example:
  >>> import penstock as tf
  >>> metadata = tf.RunMetadata()
  >>> with tf.Session() as session:
  ...     x = tf.random_normal([100, 100])
  ...     options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
  ...     value = session.run(tf.matmul(x, x), options=options, run_metadata=metadata)
  >>> any("MatMul" in n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats)
  True""",
    "GraphDef": """A graph as a protobuf message: nodes with their attrs, a library of functions.

Example:
  >>> import penstock as tf
  >>> with tf.Graph().as_default() as graph:
  ...     y = tf.add(tf.constant(1.0, name="x"), 2.0, name="y")
  >>> message = tf.GraphDef.FromString(graph.as_graph_def().SerializeToString())
  >>> [(node.name, node.op) for node in message.node]
  [('x', 'Const'), ('y/y', 'Const'), ('y', 'Add')]""",
    "Summary": """Values of one step for TensorBoard, each with its tag. A protobuf message.

Example:
  >>> import penstock as tf, tempfile
  >>> accuracy = 0.75  # computed in Python
  >>> summary = tf.Summary(value=[tf.Summary.Value(tag="accuracy", simple_value=accuracy)])
  >>> with tf.summary.FileWriter(tempfile.mkdtemp()) as writer:
  ...     writer.add_summary(summary, global_step=100)
  >>> summary.value[0].simple_value
  0.75""",
    "Example": "One example of a data set: features by name. A protobuf message." + _FEATURE,
    "Features": "The features of an example by name. A protobuf message." + _FEATURE,
    "Feature": "One feature: a list of numbers or of bytes. A protobuf message." + _FEATURE,
    "Int64List": "Whole numbers of a feature. A protobuf message." + _FEATURE,
    "FloatList": "Numbers of a feature, of 32 bits. A protobuf message." + _FEATURE,
    "BytesList": "Byte strings of a feature. A protobuf message." + _FEATURE,
    "ProjectorConfig": """What the embedding projector of TensorBoard shows. A protobuf message.

Example:
  >>> import os, tempfile
  >>> import penstock as tf
  >>> from penstock.contrib.tensorboard.plugins import projector
  >>> folder = tempfile.mkdtemp()
  >>> config = projector.ProjectorConfig()
  >>> embedding = config.embeddings.add()
  >>> embedding.tensor_name, embedding.metadata_path = "embedding", "words.tsv"
  >>> with tf.summary.FileWriter(folder) as writer:
  ...     projector.visualize_embeddings(writer, config)
  >>> "projector_config.pbtxt" in os.listdir(folder)
  True""",
}


def describe(*kinds: Any) -> None:
    """Gives messages their docstrings."""
    for kind in kinds:
        kind.__doc__ = DOCS[kind.DESCRIPTOR.name]


describe(ConfigProto, RunMetadata, RunOptions)

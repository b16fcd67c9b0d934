"""Freezes a network and runs it again, by the paths of TensorFlow's source tree."""

import argparse
import os

import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2
from tensorflow.python.client import timeline
from tensorflow.python.framework import dtypes, graph_util, ops, tensor_shape
from tensorflow.python.ops import array_ops, math_ops, nn, rnn, rnn_cell, variable_scope
from tensorflow.python.platform import gfile
from tensorflow.python.training import moving_averages
from tensorflow.python.util import compat, nest

parser = argparse.ArgumentParser()
parser.add_argument("--data_dir")
args, _ = parser.parse_known_args()

X = np.linspace(-1, 1, 24).astype(np.float32).reshape(2, 4, 3)
with ops.Graph().as_default() as graph:
    x = array_ops.placeholder(dtypes.float32, tensor_shape.TensorShape([2, 4, 3]), name="x")
    with variable_scope.variable_scope("net", initializer=tf.constant_initializer(0.1)):
        outputs, state = rnn.dynamic_rnn(rnn_cell.GRUCell(5), x, dtype=dtypes.float32)
        last = array_ops.reshape(outputs[:, -1, :], [2, 5])
        w = variable_scope.get_variable("w", [5, 2])
        mean = variable_scope.get_variable("mean", [2], trainable=False)
        logits = math_ops.matmul(last, w)
        update = moving_averages.assign_moving_average(
            mean, math_ops.reduce_mean(logits, 0), 0.9, zero_debias=False
        )
        with ops.control_dependencies([update]):
            y = array_ops.identity(nn.softmax(logits - mean), name="y")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        value = sess.run(y, {x: X}, options=options, run_metadata=metadata)
        assert timeline.Timeline(metadata.step_stats).generate_chrome_trace_format()
        kept = sess.run(mean)
        frozen = graph_util.convert_variables_to_constants(
            sess, sess.graph_def, ["net/MatMul"], variable_names_blacklist=[]
        )

path = os.path.join(args.data_dir, "frozen.pb")
with gfile.GFile(path, "wb") as f:
    f.write(frozen.SerializeToString())
graph_def = graph_pb2.GraphDef()
with gfile.FastGFile(path, "rb") as f:
    graph_def.ParseFromString(f.read())
with ops.Graph().as_default():
    (found,) = tf.import_graph_def(graph_def, return_elements=["net/MatMul:0"], name="")
    with tf.Session() as sess:
        again = sess.run(found, {"x:0": X})
print(
    compat.as_str(b"ok"),
    nest.flatten([1, (2, [3])]),
    sorted(v.name for v in graph.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES)),
)
print(np.round(value, 4).tolist(), np.round(kept, 4).tolist())
print(np.round(again, 3).tolist(), sum(node.op == "Const" for node in graph_def.node) > 5)

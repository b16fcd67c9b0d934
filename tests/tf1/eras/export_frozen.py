"""A graph frozen, written, read and imported again.  Written as for TensorFlow 1.0."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import graph_util
from tensorflow.python.platform import gfile

output_dir = tempfile.mkdtemp()
output_graph = os.path.join(output_dir, 'frozen_model.pb')
rng = np.random.RandomState(56)


def freeze_graph(sess, output_node_names):
    input_graph_def = tf.get_default_graph().as_graph_def()
    output_graph_def = graph_util.convert_variables_to_constants(
        sess, input_graph_def, output_node_names.split(","))
    with tf.gfile.GFile(output_graph, "wb") as f:
        f.write(output_graph_def.SerializeToString())
    print("%d ops in the final graph." % len(output_graph_def.node))


def load_graph(frozen_graph_filename):
    with tf.gfile.GFile(frozen_graph_filename, "rb") as f:
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(f.read())
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="prefix")
    return graph


xs = rng.randn(6, 5)
with tf.Graph().as_default(), tf.Session() as sess:
    x = tf.placeholder(tf.float32, [None, 5], name='input')
    w = tf.Variable(rng.randn(5, 3).astype(np.float32), name='w')
    b = tf.Variable(tf.constant(0.1, shape=[3]), name='b')
    hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b), name='hidden')
    with tf.name_scope('Accuracy'):
        predictions = tf.nn.softmax(hidden, name='predictions')
    loss = tf.reduce_mean(tf.square(predictions - 0.5))
    train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    sess.run(tf.global_variables_initializer())
    for _ in range(3):
        print('%.6g' % sess.run([loss, train], {x: xs})[0])
    expected = sess.run(predictions, {x: xs})
    freeze_graph(sess, 'Accuracy/predictions')
    tf.train.write_graph(sess.graph_def, output_dir, 'graph.pbtxt', as_text=True)

graph = load_graph(output_graph)
for op in graph.get_operations():
    print(op.name, op.type)
with tf.Session(graph=graph) as sess:
    y = graph.get_tensor_by_name('prefix/Accuracy/predictions:0')
    out = sess.run(y, feed_dict={graph.get_tensor_by_name('prefix/input:0'): xs})
    print('%.6g' % np.abs(out - expected).max(), ' '.join('%.6g' % v for v in out[0]))

# Another input, and the bottleneck taken out.
with tf.Graph().as_default(), tf.Session() as sess:
    with gfile.FastGFile(output_graph, 'rb') as f:
        graph_def = tf.GraphDef()
        graph_def.ParseFromString(f.read())
    doubled = tf.constant(2 * xs, tf.float32, name='doubled')
    bottleneck, = tf.import_graph_def(graph_def, input_map={'input:0': doubled},
                                      return_elements=['hidden:0'], name='')
    print(bottleneck.name, '%.6g' % sess.run(bottleneck).sum())
    kept = graph_util.extract_sub_graph(graph_def, ['hidden'])
    print(sorted(n.name for n in kept.node))
    print(len(gfile.Glob(os.path.join(output_dir, '*.pb*'))))

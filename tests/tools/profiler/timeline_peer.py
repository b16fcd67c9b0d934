"""TensorFlow 1.15's half of ``test_timeline.py``: a step's stats, and timelines of given ones.

Usage: ``timeline_peer.py DIRECTORY``; writes ``tensorflow.pb`` there and, for each ``*.pb``, a
``NAME.json`` with TensorFlow's trace and memory maximums under every combination of options.
"""

import json
import pathlib
import sys

import numpy as np
import tensorflow as tf
from tensorflow.core.framework.step_stats_pb2 import StepStats
from tensorflow.python.client.timeline import Timeline


def _stats():
    x = tf.compat.v1.placeholder(tf.float32, [None, 4], name="x")
    w = tf.compat.v1.Variable(tf.ones([4, 3]), name="w")
    first, _ = tf.split(tf.nn.relu(tf.matmul(x, w) + 1.0), [1, 2], axis=1)
    loss = tf.reduce_sum(first)
    train = tf.compat.v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    metadata = tf.compat.v1.RunMetadata()
    options = tf.compat.v1.RunOptions(trace_level=tf.compat.v1.RunOptions.FULL_TRACE)
    with tf.compat.v1.Session() as sess:
        sess.run(tf.compat.v1.global_variables_initializer())
        sess.run([train, loss], {x: np.ones((2, 4))}, options=options, run_metadata=metadata)
    return metadata.step_stats


def _timelines(data):
    result = []
    for dataflow in (False, True):
        for memory in (False, True):
            found = Timeline(StepStats.FromString(data)).analyze_step_stats(dataflow, memory)
            maximums = {
                name: [maximum.timestamp, maximum.num_bytes, sorted(maximum.tensors)]
                for name, maximum in found.allocator_maximums.items()
            }
            result.append([json.loads(found.chrome_trace.format_to_string()), maximums])
    return result


directory = pathlib.Path(sys.argv[1])
(directory / "tensorflow.pb").write_bytes(_stats().SerializeToString())
for path in directory.glob("*.pb"):
    path.with_suffix(".json").write_text(json.dumps(_timelines(path.read_bytes())))

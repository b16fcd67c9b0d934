"""Run options, metadata and a timeline; gfile.  Written as for TensorFlow 1.0."""
from __future__ import print_function

import json
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.client import device_lib, timeline
from tensorflow.python.platform import gfile

rng = np.random.RandomState(80)
log_dir = os.path.join(tempfile.mkdtemp(), 'logs', 'run')
if gfile.Exists(log_dir):
    gfile.DeleteRecursively(log_dir)
gfile.MakeDirs(log_dir)

x = tf.placeholder(tf.float32, [None, 8], name='x')
w = tf.Variable(rng.randn(8, 8).astype(np.float32), name='w')
y = x
for i in range(3):
    with tf.name_scope('layer%d' % i):
        y = tf.nn.elu(tf.matmul(y, w), name='out')
y = tf.Print(y, [tf.shape(y)], 'shape of y: ')
checked = tf.check_numerics(y, 'y is bad')
with tf.control_dependencies([tf.Assert(tf.reduce_all(tf.is_finite(y)), [y]),
                              tf.assert_equal(tf.shape(x)[1], 8)]):
    loss = tf.reduce_mean(tf.square(checked))
train = tf.train.GradientDescentOptimizer(1e-3).minimize(loss)
tf.summary.scalar('loss', loss)
merged = tf.summary.merge_all()
config = tf.ConfigProto(
    intra_op_parallelism_threads=1, inter_op_parallelism_threads=1,
    gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=0.5),
    graph_options=tf.GraphOptions(optimizer_options=tf.OptimizerOptions(
        opt_level=tf.OptimizerOptions.L0)))
with tf.Session(config=config) as sess:
    writer = tf.summary.FileWriter(log_dir, sess.graph)
    sess.run(tf.global_variables_initializer())
    data = rng.randn(5, 8)
    for i in range(3):
        run_options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        run_metadata = tf.RunMetadata()
        value, summary, _ = sess.run([loss, merged, train], {x: data}, options=run_options,
                                     run_metadata=run_metadata)
        writer.add_run_metadata(run_metadata, 'step%03d' % i)
        writer.add_summary(summary, i)
        print('step %d loss %.6g' % (i, value))
    writer.close()
    trace = timeline.Timeline(step_stats=run_metadata.step_stats)
    with open(os.path.join(log_dir, 'timeline.json'), 'w') as f:
        f.write(trace.generate_chrome_trace_format())
    try:
        sess.run(loss, {x: data * np.inf})
    except tf.errors.InvalidArgumentError as e:
        print('bad' in e.message or 'assert' in e.message.lower())
    try:
        sess.run(loss, {x: data[:, :3]})
    except ValueError as e:
        print('Cannot feed value of shape' in str(e))
with open(os.path.join(log_dir, 'timeline.json')) as f:
    print(len(json.load(f)['traceEvents']) > 0)
print(len(run_metadata.step_stats.dev_stats) > 0)
print([d.device_type for d in device_lib.list_local_devices()][0])
print(len(gfile.Glob(os.path.join(log_dir, 'events*'))), gfile.IsDirectory(log_dir),
      sorted(name.split('.')[0] for name in gfile.ListDirectory(log_dir)))

"""Saver, import_meta_graph, parts restored under other names.  Written as for TensorFlow 1.0."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

save_dir = tempfile.mkdtemp()
path = os.path.join(save_dir, 'model')
rng = np.random.RandomState(49)
xs = rng.randn(10, 3)

with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [None, 3], name='x')
    with tf.variable_scope('hidden'):
        w = tf.get_variable('w', initializer=rng.randn(3, 4).astype(np.float32))
    out = tf.get_variable('out', initializer=rng.randn(4, 1).astype(np.float32))
    y = tf.matmul(tf.tanh(tf.matmul(x, w)), out, name='y')
    step = tf.Variable(0, name='step', trainable=False)
    loss = tf.reduce_mean(tf.square(y - 1.0), name='loss')
    train = tf.train.AdamOptimizer(0.05).minimize(loss, step, name='train')
    tf.add_to_collection('endpoints', y)
    saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(4):
            _, value = sess.run([train, loss], {x: xs})
            saver.save(sess, path, global_step=step)
            print('step %d loss %.6g' % (i, value))
    print([os.path.basename(p) for p in saver.last_checkpoints])

# The whole graph again, trained further.
tf.reset_default_graph()
with tf.Session() as sess:
    new_saver = tf.train.import_meta_graph(tf.train.latest_checkpoint(save_dir) + '.meta')
    new_saver.restore(sess, tf.train.latest_checkpoint(save_dir))
    graph = tf.get_default_graph()
    for i in range(2):
        value, _ = sess.run(['loss:0', 'train'], {'x:0': xs})
        print('continued %.6g' % value)
    y, = tf.get_collection('endpoints')
    print('y %.6g' % sess.run(y, {graph.get_tensor_by_name('x:0'): xs})[0, 0])
    print(sess.run('step:0'))

# A part of it, under another name.
tf.reset_default_graph()
renamed = tf.get_variable('encoder/kernel', [3, 4], initializer=tf.zeros_initializer())
other = tf.get_variable('fresh', [2], initializer=tf.ones_initializer())
with tf.Session() as sess:
    print(len(sess.run(tf.report_uninitialized_variables())))
    tf.train.Saver({'hidden/w': renamed}).restore(sess, tf.train.latest_checkpoint(save_dir))
    sess.run(other.initializer)
    print('%.6g %.6g' % (np.abs(renamed.eval()).sum(), other.eval().sum()))
    try:
        tf.train.Saver([other]).restore(sess, tf.train.latest_checkpoint(save_dir))
    except tf.errors.NotFoundError:
        print('not found')

reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(save_dir))
for name in sorted(reader.get_variable_to_shape_map()):
    print(name, '%.6g' % np.abs(reader.get_tensor(name)).sum())

"""A perceptron that writes summaries, read again at the end.  Written as for TensorFlow 1.0."""
from __future__ import print_function

import glob
import os
import tempfile

import numpy as np
import tensorflow as tf

log_dir = tempfile.mkdtemp()
rng = np.random.RandomState(2)


def feed_dict(train):
    r = np.random.RandomState(10 if train else 20)
    xs = r.rand(32, 16).astype(np.float32)
    ys = (xs[:, :8].sum(1) > xs[:, 8:].sum(1)).astype(np.int64)
    return {x: xs, y_: ys}


def variable_summaries(var):
    """Attach a lot of summaries to a Tensor (for TensorBoard visualization)."""
    with tf.name_scope('summaries'):
        mean = tf.reduce_mean(var)
        tf.summary.scalar('mean', mean)
        with tf.name_scope('stddev'):
            stddev = tf.sqrt(tf.reduce_mean(tf.square(var - mean)))
        tf.summary.scalar('stddev', stddev)
        tf.summary.scalar('max', tf.reduce_max(var))
        tf.summary.scalar('min', tf.reduce_min(var))
        tf.summary.histogram('histogram', var)


def nn_layer(input_tensor, input_dim, output_dim, layer_name, act=tf.nn.relu):
    with tf.name_scope(layer_name):
        with tf.name_scope('weights'):
            initial = 0.4 * rng.randn(input_dim, output_dim)
            weights = tf.Variable(initial.astype(np.float32))
            variable_summaries(weights)
        with tf.name_scope('biases'):
            biases = tf.Variable(tf.constant(0.1, shape=[output_dim]))
            variable_summaries(biases)
        with tf.name_scope('Wx_plus_b'):
            preactivate = tf.matmul(input_tensor, weights) + biases
            tf.summary.histogram('pre_activations', preactivate)
        activations = act(preactivate, name='activation')
        tf.summary.histogram('activations', activations)
        return activations


with tf.name_scope('input'):
    x = tf.placeholder(tf.float32, [None, 16], name='x-input')
    y_ = tf.placeholder(tf.int64, [None], name='y-input')
with tf.name_scope('input_reshape'):
    tf.summary.image('input', tf.reshape(x, [-1, 4, 4, 1]), 3)

hidden1 = nn_layer(x, 16, 10, 'layer1')
y = nn_layer(hidden1, 10, 2, 'layer2', act=tf.identity)
with tf.name_scope('cross_entropy'):
    diff = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y_, logits=y)
    with tf.name_scope('total'):
        cross_entropy = tf.reduce_mean(diff)
tf.summary.scalar('cross_entropy', cross_entropy)
with tf.name_scope('train'):
    train_step = tf.train.AdamOptimizer(0.01).minimize(cross_entropy)

merged = tf.summary.merge_all()
with tf.Session() as sess:
    train_writer = tf.summary.FileWriter(log_dir + '/train', sess.graph)
    test_writer = tf.summary.FileWriter(log_dir + '/test')
    tf.global_variables_initializer().run()
    for i in range(6):
        if i % 3 == 0:
            summary, loss = sess.run([merged, cross_entropy], feed_dict=feed_dict(False))
            test_writer.add_summary(summary, i)
            print('test loss at step %s: %.6g' % (i, loss))
        summary = sess.run(merged, feed_dict=feed_dict(True))
        sess.run(train_step, feed_dict=feed_dict(True))
        train_writer.add_summary(summary, i)
    train_writer.close()
    test_writer.close()

for run in ['train', 'test']:
    path, = glob.glob(os.path.join(log_dir, run, 'events*'))
    for event in tf.train.summary_iterator(path):
        for value in event.summary.value:
            if value.HasField('simple_value'):
                print(run, event.step, value.tag, '%.6g' % value.simple_value)
            elif value.HasField('histo'):
                print(run, event.step, value.tag, value.histo.num, '%.6g' % value.histo.sum)
            elif value.HasField('image'):
                print(run, event.step, value.tag, value.image.height, value.image.width)

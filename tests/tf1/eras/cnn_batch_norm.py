"""Batch normalization with its update ops.  Written as for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(6)
W1 = (0.3 * rng.randn(3, 3, 3, 8)).astype(np.float32)
W2 = (0.3 * rng.randn(3, 3, 8, 8)).astype(np.float32)
W3 = (0.3 * rng.randn(8, 3)).astype(np.float32)


def conv_bn_relu(x, kernel, training, strides=1):
    x = tf.layers.conv2d(x, kernel.shape[-1], 3, strides=strides, padding='same', use_bias=False,
                         kernel_initializer=tf.constant_initializer(kernel))
    x = tf.layers.batch_normalization(x, momentum=0.9, epsilon=1e-3, training=training)
    return tf.nn.relu(x)


def network(x, training, reuse=None):
    with tf.variable_scope('net', reuse=tf.AUTO_REUSE if reuse is None else reuse):
        x = conv_bn_relu(x, W1, training)
        x = conv_bn_relu(x, W2, training, strides=2)
        x = tf.reduce_mean(x, axis=[1, 2])
        return tf.layers.dense(x, 3, kernel_initializer=tf.constant_initializer(W3), name='fc')


images = tf.placeholder(tf.float32, [None, 8, 8, 3])
labels = tf.placeholder(tf.int64, [None])
is_training = tf.placeholder(tf.bool, [], name='is_training')
logits = network(images, is_training)
loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
update_ops = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
print('update ops', len(update_ops))
with tf.control_dependencies(update_ops):
    train_op = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss)

xs = rng.randn(16, 8, 8, 3) * 2 + 1
ys = rng.randint(0, 3, 16)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for i in range(6):
        _, l = sess.run([train_op, loss], {images: xs, labels: ys, is_training: True})
        e = sess.run(loss, {images: xs, labels: ys, is_training: False})
        print('%d train %.6g eval %.6g' % (i, l, e))
    for v in tf.global_variables():
        if 'moving' in v.name:
            print(v.op.name, '%.6g' % sess.run(v).sum())
    print([v.op.name for v in tf.trainable_variables()])

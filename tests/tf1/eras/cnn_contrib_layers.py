"""tf.contrib.layers with optimize_loss.  Written as for TensorFlow 0.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers

rng = np.random.RandomState(13)


def values(*shape):
    return tf.constant_initializer(0.2 * rng.randn(*shape).astype(np.float32))


def conv_model(X, y):
    X = tf.reshape(X, [-1, 8, 8, 1])
    with tf.variable_scope('conv_layer1'):
        h_conv1 = layers.convolution2d(X, 4, kernel_size=[5, 5], activation_fn=tf.nn.relu,
                                       weights_initializer=values(5, 5, 1, 4))
        h_pool1 = layers.max_pool2d(h_conv1, kernel_size=[2, 2], stride=[2, 2])
    with tf.variable_scope('conv_layer2'):
        h_conv2 = layers.convolution2d(h_pool1, 6, kernel_size=[3, 3],
                                       weights_initializer=values(3, 3, 4, 6))
        h_norm2 = layers.layer_norm(h_conv2)
        h_flat = layers.flatten(h_norm2)
    h_fc1 = layers.fully_connected(h_flat, 10, activation_fn=tf.nn.elu,
                                   weights_initializer=values(96, 10),
                                   weights_regularizer=layers.l2_regularizer(0.01))
    logits = layers.fully_connected(h_fc1, 3, activation_fn=None, weights_initializer=values(10, 3))
    loss = tf.contrib.losses.softmax_cross_entropy(logits, layers.one_hot_encoding(y, 3))
    return tf.argmax(logits, 1), loss


X = tf.placeholder(tf.float32, [None, 64])
y = tf.placeholder(tf.int64, [None])
prediction, loss = conv_model(X, y)
regularization = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
train_op = layers.optimize_loss(
    loss + regularization, tf.contrib.framework.get_or_create_global_step(),
    optimizer='Adagrad', learning_rate=0.05, clip_gradients=5.0)

xs, ys = rng.rand(20, 64), rng.randint(0, 3, 20)
with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    for i in range(5):
        print('step %d total %.6g' % (i, sess.run(train_op, {X: xs, y: ys})))
    print('loss %.6g reg %.6g' % tuple(sess.run([loss, regularization], {X: xs, y: ys})))
    print(sess.run(prediction, {X: xs[:8]}).tolist())
    for v in tf.trainable_variables():
        print(v.op.name)

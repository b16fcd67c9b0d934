"""Moving averages restored for evaluation, clipped gradients.  Written as for TensorFlow 1.0."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(64)
path = os.path.join(tempfile.mkdtemp(), 'averaged.ckpt')
xs = rng.randn(24, 5)
ys = rng.randint(0, 3, 24)


def inference(x):
    regularizer = tf.contrib.layers.l2_regularizer(0.01)
    with tf.variable_scope('layer1'):
        weights = tf.get_variable('weights', [5, 8], regularizer=regularizer,
                                  initializer=tf.constant_initializer(0.3 * rng.randn(5, 8)))
        biases = tf.get_variable('biases', [8], initializer=tf.constant_initializer(0.1))
        layer1 = tf.nn.relu(tf.matmul(x, weights) + biases)
    with tf.variable_scope('layer2'):
        weights = tf.get_variable('weights', [8, 3], regularizer=regularizer,
                                  initializer=tf.constant_initializer(0.3 * rng.randn(8, 3)))
        return tf.matmul(layer1, weights)


with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [None, 5], name='x-input')
    y_ = tf.placeholder(tf.int64, [None], name='y-input')
    y = inference(x)
    global_step = tf.Variable(0, trainable=False)
    variable_averages = tf.train.ExponentialMovingAverage(0.8, global_step)
    cross_entropy = tf.reduce_mean(
        tf.nn.sparse_softmax_cross_entropy_with_logits(logits=y, labels=y_))
    loss = cross_entropy + tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    gradients, variables = zip(*optimizer.compute_gradients(loss))
    clipped, global_norm = tf.clip_by_global_norm(gradients, 0.3)
    train_step = optimizer.apply_gradients(zip(clipped, variables), global_step=global_step)
    with tf.control_dependencies([train_step]):
        train_op = variable_averages.apply(tf.trainable_variables())
    averages = [variable_averages.average(v) for v in tf.trainable_variables()]
    print([v.op.name for v in averages])
    saver = tf.train.Saver()
    with tf.Session() as sess:
        tf.global_variables_initializer().run()
        for i in range(6):
            _, value, norm = sess.run([train_op, loss, global_norm], feed_dict={x: xs, y_: ys})
            print("After %d training step(s), loss is %.6g, norm %.6g." % (
                global_step.eval(), value, norm))
        saver.save(sess, path)

with tf.Graph().as_default():
    x = tf.placeholder(tf.float32, [None, 5], name='x-input')
    y = inference(x)
    variable_averages = tf.train.ExponentialMovingAverage(0.8)
    variables_to_restore = variable_averages.variables_to_restore()
    print(sorted(variables_to_restore))
    saver = tf.train.Saver(variables_to_restore)
    with tf.Session() as sess:
        saver.restore(sess, path)
        print(' '.join('%.6g' % v for v in sess.run(y, {x: xs})[0]))
        print('%.6g' % sess.run(tf.global_norm(tf.trainable_variables())))

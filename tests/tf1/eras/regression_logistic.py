"""Logistic regression with flags and tf.app.run.  Written as for TensorFlow 1.0."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import numpy as np
import tensorflow as tf

flags = tf.app.flags
FLAGS = flags.FLAGS
flags.DEFINE_float('learning_rate', 0.3, 'Initial learning rate.')
flags.DEFINE_integer('max_steps', 8, 'Number of steps to run trainer.')
flags.DEFINE_integer('features', 5, 'Width of the input.')
flags.DEFINE_string('optimizer', 'momentum', 'gd or momentum.')
flags.DEFINE_boolean('nesterov', True, 'Whether momentum looks ahead.')


def make_data(n, rng):
    x = rng.randn(n, FLAGS.features).astype(np.float32)
    w = np.linspace(-1, 1, FLAGS.features)
    y = (x.dot(w) + 0.3 * rng.randn(n) > 0).astype(np.float32)
    return x, y.reshape(-1, 1)


def inference(x):
    with tf.variable_scope('logistic'):
        w = tf.get_variable('w', [FLAGS.features, 1], initializer=tf.zeros_initializer())
        b = tf.get_variable('b', [1], initializer=tf.constant_initializer(0.1))
        return tf.nn.xw_plus_b(x, w, b, name='logits')


def main(argv=None):
    rng = np.random.RandomState(0)
    x_train, y_train = make_data(60, rng)
    x_test, y_test = make_data(30, rng)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, FLAGS.features], name='x')
        y = tf.placeholder(tf.float32, [None, 1], name='y')
        logits = inference(x)
        loss = tf.reduce_mean(
            tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=y), name='xent')
        global_step = tf.Variable(0, name='global_step', trainable=False)
        if FLAGS.optimizer == 'momentum':
            opt = tf.train.MomentumOptimizer(FLAGS.learning_rate, 0.9, use_nesterov=FLAGS.nesterov)
        else:
            opt = tf.train.GradientDescentOptimizer(FLAGS.learning_rate)
        train_op = opt.minimize(loss, global_step=global_step)
        correct = tf.equal(tf.to_float(tf.greater(tf.sigmoid(logits), 0.5)), y)
        accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(FLAGS.max_steps):
                _, value = sess.run([train_op, loss], feed_dict={x: x_train, y: y_train})
                print('Step %d: loss = %.6g' % (global_step.eval(), value))
            print('Test accuracy: %.6g' % sess.run(accuracy, feed_dict={x: x_test, y: y_test}))


if __name__ == '__main__':
    tf.app.run()

"""A GAN of one dimension, scopes reused by hand.  Written as for TensorFlow 0.12."""
from __future__ import absolute_import
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(19)


def linear(input, output_dim, scope=None):
    shape = [input.get_shape().as_list()[1], output_dim]
    with tf.variable_scope(scope or 'linear') as s:
        norm = tf.constant_initializer((0.6 * rng.randn(*shape)).astype(np.float32))
        const = tf.constant_initializer(0.0)
        w = tf.get_variable('w', shape, initializer=norm)
        b = tf.get_variable('b', [output_dim], initializer=const)
        return tf.matmul(input, w) + b


def generator(input, h_dim):
    h0 = tf.nn.softplus(linear(input, h_dim, 'g0'))
    h1 = linear(h0, 1, 'g1')
    return h1


def discriminator(input, h_dim):
    h0 = tf.tanh(linear(input, h_dim * 2, 'd0'))
    h1 = tf.tanh(linear(h0, h_dim * 2, 'd1'))
    return tf.sigmoid(linear(h1, 1, scope='d3'))


def optimizer(loss, var_list, initial_learning_rate):
    decay = 0.95
    num_decay_steps = 2
    batch = tf.Variable(0)
    learning_rate = tf.train.exponential_decay(
        initial_learning_rate, batch, num_decay_steps, decay, staircase=True)
    return tf.train.GradientDescentOptimizer(learning_rate).minimize(
        loss, global_step=batch, var_list=var_list)


class GAN(object):
    def __init__(self, batch_size, mlp_hidden_size):
        with tf.variable_scope('Gen'):
            self.z = tf.placeholder(tf.float32, shape=(batch_size, 1))
            self.G = generator(self.z, mlp_hidden_size)
        with tf.variable_scope('Disc') as scope:
            self.x = tf.placeholder(tf.float32, shape=(batch_size, 1))
            self.D1 = discriminator(self.x, mlp_hidden_size)
            scope.reuse_variables()
            self.D2 = discriminator(self.G, mlp_hidden_size)
        self.loss_d = tf.reduce_mean(-tf.log(self.D1) - tf.log(1 - self.D2))
        self.loss_g = tf.reduce_mean(-tf.log(self.D2))
        self.d_params = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='Disc')
        self.g_params = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope='Gen')
        self.opt_d = optimizer(self.loss_d, self.d_params, 0.03)
        self.opt_g = optimizer(self.loss_g, self.g_params, 0.03)


model = GAN(8, 4)
print([v.name for v in model.d_params], [v.name for v in model.g_params])
with tf.Session() as session:
    tf.initialize_all_variables().run()
    for step in range(8):
        x = np.sort(4 + 0.5 * rng.randn(8))
        z = np.linspace(-8, 8, 8) + rng.random_sample(8) * 0.01
        loss_d, _ = session.run([model.loss_d, model.opt_d], {
            model.x: np.reshape(x, (8, 1)), model.z: np.reshape(z, (8, 1))})
        z = np.linspace(-8, 8, 8) + rng.random_sample(8) * 0.01
        loss_g, _ = session.run([model.loss_g, model.opt_g], {model.z: np.reshape(z, (8, 1))})
        print('{}: {:.6g}\t{:.6g}'.format(step, loss_d, loss_g))

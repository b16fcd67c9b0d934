"""A DCGAN on random images.  Written as for TensorFlow 1.0."""
from __future__ import division
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(20)


class batch_norm(object):
  def __init__(self, epsilon=1e-5, momentum=0.9, name="batch_norm"):
    self.epsilon, self.momentum, self.name = epsilon, momentum, name

  def __call__(self, x):
    with tf.variable_scope(self.name):
      channels = x.get_shape()[-1]
      gamma = tf.get_variable('gamma', [channels], initializer=tf.ones_initializer())
      beta = tf.get_variable('beta', [channels], initializer=tf.zeros_initializer())
      mean, var = tf.nn.moments(x, [0, 1, 2])
      return tf.nn.batch_normalization(x, mean, var, beta, gamma, self.epsilon)


def weights(shape):
  return tf.constant_initializer((0.1 * rng.randn(*shape)).astype(np.float32))


def conv2d(input_, output_dim, k=5, d=2, name="conv2d"):
  with tf.variable_scope(name):
    shape = [k, k, input_.get_shape().as_list()[-1], output_dim]
    w = tf.get_variable('w', shape, initializer=weights(shape))
    conv = tf.nn.conv2d(input_, w, strides=[1, d, d, 1], padding='SAME')
    biases = tf.get_variable('biases', [output_dim], initializer=tf.constant_initializer(0.0))
    return tf.reshape(tf.nn.bias_add(conv, biases), tf.shape(conv))


def deconv2d(input_, output_shape, k=5, d=2, name="deconv2d"):
  with tf.variable_scope(name):
    shape = [k, k, output_shape[-1], input_.get_shape().as_list()[-1]]
    w = tf.get_variable('w', shape, initializer=weights(shape))
    deconv = tf.nn.conv2d_transpose(input_, w, output_shape=output_shape, strides=[1, d, d, 1])
    biases = tf.get_variable('biases', [output_shape[-1]],
                             initializer=tf.constant_initializer(0.0))
    return tf.reshape(tf.nn.bias_add(deconv, biases), deconv.get_shape())


def lrelu(x, leak=0.2):
  return tf.maximum(x, leak * x)


def linear(input_, output_size, scope):
  shape = input_.get_shape().as_list()
  with tf.variable_scope(scope):
    matrix = tf.get_variable("Matrix", [shape[1], output_size], tf.float32,
                             weights([shape[1], output_size]))
    bias = tf.get_variable("bias", [output_size], initializer=tf.constant_initializer(0.0))
    return tf.matmul(input_, matrix) + bias


BATCH, SIZE, GF, DF = 6, 8, 4, 4
d_bn1, g_bn0, g_bn1 = batch_norm(name='d_bn1'), batch_norm(name='g_bn0'), batch_norm(name='g_bn1')


def discriminator(image, reuse=False):
  with tf.variable_scope("discriminator") as scope:
    if reuse:
      scope.reuse_variables()
    h0 = lrelu(conv2d(image, DF, name='d_h0_conv'))
    h1 = lrelu(d_bn1(conv2d(h0, DF * 2, name='d_h1_conv')))
    h2 = linear(tf.reshape(h1, [BATCH, -1]), 1, 'd_h2_lin')
    return tf.nn.sigmoid(h2), h2


def generator(z):
  with tf.variable_scope("generator"):
    h0 = tf.reshape(linear(z, GF * 2 * 2 * 2, 'g_h0_lin'), [-1, 2, 2, GF * 2])
    h0 = tf.nn.relu(g_bn0(h0))
    h1 = deconv2d(h0, [BATCH, 4, 4, GF], name='g_h1')
    h1 = tf.nn.relu(g_bn1(h1))
    h2 = deconv2d(h1, [BATCH, 8, 8, 3], name='g_h2')
    return tf.nn.tanh(h2)


inputs = tf.placeholder(tf.float32, [BATCH, SIZE, SIZE, 3], name='real_images')
z = tf.placeholder(tf.float32, [None, 10], name='z')
G = generator(z)
D, D_logits = discriminator(inputs)
D_, D_logits_ = discriminator(G, reuse=True)


def xent(x, y):
  return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(logits=x, labels=y))


d_loss_real = xent(D_logits, tf.ones_like(D))
d_loss_fake = xent(D_logits_, tf.zeros_like(D_))
g_loss = xent(D_logits_, tf.ones_like(D_))
d_loss = d_loss_real + d_loss_fake
t_vars = tf.trainable_variables()
d_vars = [var for var in t_vars if 'd_' in var.name]
g_vars = [var for var in t_vars if 'g_' in var.name]
d_optim = tf.train.AdamOptimizer(0.002, beta1=0.5).minimize(d_loss, var_list=d_vars)
g_optim = tf.train.AdamOptimizer(0.002, beta1=0.5).minimize(g_loss, var_list=g_vars)

with tf.Session() as sess:
  try:
    tf.global_variables_initializer().run()
  except AttributeError:
    tf.initialize_all_variables().run()
  print(len(d_vars), len(g_vars))
  for idx in range(4):
    feed = {inputs: rng.uniform(-1, 1, [BATCH, SIZE, SIZE, 3]), z: rng.uniform(-1, 1, [BATCH, 10])}
    sess.run(d_optim, feed)
    sess.run(g_optim, feed)
    sess.run(g_optim, feed)
    print("%2d d_loss: %.6g, g_loss: %.6g" % (idx, d_loss.eval(feed), g_loss.eval(feed)))

"""Residual blocks with hand-made batch normalization, random images.  As for TensorFlow 1.0."""
from __future__ import print_function

from collections import namedtuple

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import control_flow_ops
from tensorflow.python.training import moving_averages

Block = namedtuple('Block', 'filters stride')
BN_DECAY = 0.9
UPDATE_OPS_COLLECTION = 'resnet_update_ops'
RESNET_VARIABLES = 'resnet_variables'
rng = np.random.RandomState(14)


def _get_variable(name, shape, values=None, weight_decay=0.0, trainable=True):
  if weight_decay > 0:
    regularizer = tf.contrib.layers.l2_regularizer(weight_decay)
  else:
    regularizer = None
  collections = [tf.GraphKeys.GLOBAL_VARIABLES, RESNET_VARIABLES]
  return tf.get_variable(name, shape=shape, initializer=tf.constant_initializer(values),
                         dtype='float', regularizer=regularizer, collections=collections,
                         trainable=trainable)


def bn(x, is_training):
  params_shape = x.get_shape()[-1:]
  axis = list(range(len(x.get_shape()) - 1))
  beta = _get_variable('beta', params_shape, 0.0)
  gamma = _get_variable('gamma', params_shape, 1.0)
  moving_mean = _get_variable('moving_mean', params_shape, 0.0, trainable=False)
  moving_variance = _get_variable('moving_variance', params_shape, 1.0, trainable=False)
  mean, variance = tf.nn.moments(x, axis)
  update_mean = moving_averages.assign_moving_average(moving_mean, mean, BN_DECAY)
  update_variance = moving_averages.assign_moving_average(moving_variance, variance, BN_DECAY)
  tf.add_to_collection(UPDATE_OPS_COLLECTION, update_mean)
  tf.add_to_collection(UPDATE_OPS_COLLECTION, update_variance)
  mean, variance = control_flow_ops.cond(
      is_training, lambda: (mean, variance), lambda: (moving_mean, moving_variance))
  return tf.nn.batch_normalization(x, mean, variance, beta, gamma, 0.001)


def conv(x, filters, ksize, stride):
  shape = [ksize, ksize, x.get_shape()[-1].value, filters]
  values = (rng.randn(*shape) * np.sqrt(2.0 / (ksize * ksize * shape[2]))).astype(np.float32)
  weights = _get_variable('weights', shape, values, weight_decay=0.0002)
  return tf.nn.conv2d(x, weights, [1, stride, stride, 1], padding='SAME')


def block(x, c, is_training):
  shortcut = x
  with tf.variable_scope('A'):
    y = tf.nn.relu(bn(conv(x, c.filters, 3, c.stride), is_training))
  with tf.variable_scope('B'):
    y = bn(conv(y, c.filters, 3, 1), is_training)
  with tf.variable_scope('shortcut'):
    if c.filters != x.get_shape()[-1] or c.stride != 1:
      shortcut = bn(conv(x, c.filters, 1, c.stride), is_training)
  return tf.nn.relu(y + shortcut)


is_training = tf.placeholder('bool', [], name='is_training')
images = tf.placeholder(tf.float32, [None, 16, 16, 3])
labels = tf.placeholder(tf.int32, [None])
x = images
with tf.variable_scope('scale1'):
  x = tf.nn.relu(bn(conv(x, 8, 3, 1), is_training))
for number, c in enumerate([Block(8, 1), Block(12, 2), Block(12, 1)]):
  with tf.variable_scope('scale%d' % (number + 2)):
    x = block(x, c, is_training)
x = tf.reduce_mean(x, reduction_indices=[1, 2], name='avg_pool')
with tf.variable_scope('fc'):
  w = _get_variable('weights', [12, 6], (0.1 * rng.randn(12, 6)).astype(np.float32), 0.0002)
  b = _get_variable('biases', [6], 0.0)
  logits = tf.nn.xw_plus_b(x, w, b)

cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels)
cross_entropy_mean = tf.reduce_mean(cross_entropy)
regularization_losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
loss = tf.add_n([cross_entropy_mean] + regularization_losses)
in_top2 = tf.reduce_mean(tf.to_float(tf.nn.in_top_k(logits, labels, 2)))
grads = tf.train.MomentumOptimizer(0.02, 0.9)
apply_op = grads.apply_gradients(grads.compute_gradients(loss))
batchnorm_updates_op = tf.group(*tf.get_collection(UPDATE_OPS_COLLECTION))
train_op = tf.group(apply_op, batchnorm_updates_op)

xs = rng.rand(12, 16, 16, 3).astype(np.float32)
ys = rng.randint(0, 6, 12)
sess = tf.Session()
sess.run(tf.global_variables_initializer())
print(len(tf.trainable_variables()), len(regularization_losses),
      len(tf.get_collection(RESNET_VARIABLES)))
for step in range(5):
  _, value = sess.run([train_op, loss], {images: xs, labels: ys, is_training: True})
  print('step %d loss %.6g' % (step, value))
print('eval %.6g top2 %.6g' % tuple(
    sess.run([cross_entropy_mean, in_top2], {images: xs, labels: ys, is_training: False})))

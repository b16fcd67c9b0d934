"""A CIFAR-10-like network: weight decay, LRN, averages of losses.  As for TensorFlow 0.8."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import re

import numpy as np
import tensorflow as tf

BATCH_SIZE = 8
NUM_CLASSES = 5
MOVING_AVERAGE_DECAY = 0.99
NUM_EPOCHS_PER_DECAY = 3.0
LEARNING_RATE_DECAY_FACTOR = 0.5
INITIAL_LEARNING_RATE = 0.05
TOWER_NAME = 'tower'
rng = np.random.RandomState(4)


def _activation_summary(x):
  tensor_name = re.sub('%s_[0-9]*/' % TOWER_NAME, '', x.op.name)
  tf.histogram_summary(tensor_name + '/activations', x)
  tf.scalar_summary(tensor_name + '/sparsity', tf.nn.zero_fraction(x))


def _variable_on_cpu(name, shape, initializer):
  with tf.device('/cpu:0'):
    var = tf.get_variable(name, shape, initializer=initializer)
  return var


def _variable_with_weight_decay(name, shape, stddev, wd):
  values = (stddev * rng.randn(*shape)).astype(np.float32)
  var = _variable_on_cpu(name, shape, tf.constant_initializer(values))
  if wd:
    weight_decay = tf.mul(tf.nn.l2_loss(var), wd, name='weight_loss')
    tf.add_to_collection('losses', weight_decay)
  return var


def inference(images):
  with tf.variable_scope('conv1') as scope:
    kernel = _variable_with_weight_decay('weights', [5, 5, 3, 8], 0.1, 0.0)
    conv = tf.nn.conv2d(images, kernel, [1, 1, 1, 1], padding='SAME')
    biases = _variable_on_cpu('biases', [8], tf.constant_initializer(0.0))
    bias = tf.nn.bias_add(conv, biases)
    conv1 = tf.nn.relu(bias, name=scope.name)
    _activation_summary(conv1)
  pool1 = tf.nn.max_pool(conv1, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1],
                         padding='SAME', name='pool1')
  norm1 = tf.nn.lrn(pool1, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name='norm1')
  with tf.variable_scope('local3') as scope:
    dim = 1
    for d in norm1.get_shape()[1:].as_list():
      dim *= d
    reshape = tf.reshape(norm1, [BATCH_SIZE, dim])
    weights = _variable_with_weight_decay('weights', [dim, 16], 0.04, 0.004)
    biases = _variable_on_cpu('biases', [16], tf.constant_initializer(0.1))
    local3 = tf.nn.relu(tf.matmul(reshape, weights) + biases, name=scope.name)
    _activation_summary(local3)
  with tf.variable_scope('softmax_linear') as scope:
    weights = _variable_with_weight_decay('weights', [16, NUM_CLASSES], 1 / 16.0, 0.0)
    biases = _variable_on_cpu('biases', [NUM_CLASSES], tf.constant_initializer(0.0))
    softmax_linear = tf.add(tf.matmul(local3, weights), biases, name=scope.name)
    _activation_summary(softmax_linear)
  return softmax_linear


def loss(logits, labels):
  labels = tf.cast(labels, tf.int64)
  cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
      logits, labels, name='cross_entropy_per_example')
  cross_entropy_mean = tf.reduce_mean(cross_entropy, name='cross_entropy')
  tf.add_to_collection('losses', cross_entropy_mean)
  return tf.add_n(tf.get_collection('losses'), name='total_loss')


def _add_loss_summaries(total_loss):
  loss_averages = tf.train.ExponentialMovingAverage(0.9, name='avg')
  losses = tf.get_collection('losses')
  loss_averages_op = loss_averages.apply(losses + [total_loss])
  for l in losses + [total_loss]:
    tf.scalar_summary(l.op.name + ' (raw)', l)
    tf.scalar_summary(l.op.name, loss_averages.average(l))
  return loss_averages_op, loss_averages.average(total_loss)


with tf.Graph().as_default():
  global_step = tf.Variable(0, trainable=False)
  images = tf.constant(rng.rand(BATCH_SIZE, 12, 12, 3).astype(np.float32))
  labels = tf.constant(rng.randint(0, NUM_CLASSES, BATCH_SIZE).astype(np.int32))
  logits = inference(images)
  total = loss(logits, labels)
  lr = tf.train.exponential_decay(INITIAL_LEARNING_RATE, global_step, NUM_EPOCHS_PER_DECAY,
                                  LEARNING_RATE_DECAY_FACTOR, staircase=True)
  loss_averages_op, averaged = _add_loss_summaries(total)
  with tf.control_dependencies([loss_averages_op]):
    opt = tf.train.GradientDescentOptimizer(lr)
    grads = opt.compute_gradients(total)
  apply_gradient_op = opt.apply_gradients(grads, global_step=global_step)
  for grad, var in grads:
    if grad is not None:
      tf.histogram_summary(var.op.name + '/gradients', grad)
  variable_averages = tf.train.ExponentialMovingAverage(MOVING_AVERAGE_DECAY, global_step)
  with tf.control_dependencies([apply_gradient_op]):
    train_op = variable_averages.apply(tf.trainable_variables())
  saver = tf.train.Saver(tf.all_variables())
  summary_op = tf.merge_all_summaries()
  sess = tf.Session(config=tf.ConfigProto(log_device_placement=False))
  sess.run(tf.initialize_all_variables())
  for step in range(7):
    rate = sess.run(lr)
    _, loss_value = sess.run([train_op, total])
    print('step %d, loss = %.6g (rate %.6g)' % (step, loss_value, rate))
  print('averaged %.6g' % sess.run(averaged))
  for v in tf.trainable_variables():
    print(v.op.name, '%.6g' % np.abs(sess.run(variable_averages.average(v))).sum())
  text = tf.Summary.FromString(sess.run(summary_op))
  print(len(text.value), 'summaries')

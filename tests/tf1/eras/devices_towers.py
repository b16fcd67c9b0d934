"""Towers on devices that share variables, their gradients averaged.  As for TensorFlow 0.12."""
from __future__ import absolute_import, division, print_function

import numpy as np
import tensorflow as tf

NUM_GPUS, BATCH = 2, 6
rng = np.random.RandomState(61)


def assign_to_device(worker, ps_device='/cpu:0'):
  def _assign(op):
    node_def = op if isinstance(op, tf.NodeDef) else op.node_def
    if node_def.op in ('Variable', 'VariableV2'):
      return ps_device
    return worker
  return _assign


def tower_loss(scope, images, labels):
  kernel = tf.get_variable('kernel', [3, 3, 1, 4], initializer=tf.constant_initializer(
      0.3 * np.random.RandomState(1).randn(3, 3, 1, 4)))
  conv = tf.nn.relu(tf.nn.conv2d(images, kernel, [1, 1, 1, 1], 'SAME'))
  weights = tf.get_variable('weights', [64 * 4, 3], initializer=tf.constant_initializer(
      0.1 * np.random.RandomState(2).randn(256, 3)))
  decay = tf.mul(tf.nn.l2_loss(weights), 0.01)
  tf.add_to_collection('losses', decay)
  logits = tf.matmul(tf.reshape(conv, [BATCH, -1]), weights)
  cross_entropy = tf.reduce_mean(
      tf.nn.sparse_softmax_cross_entropy_with_logits(logits, labels))
  tf.add_to_collection('losses', cross_entropy)
  losses = tf.get_collection('losses', scope)
  return tf.add_n(losses, name='total_loss')


def average_gradients(tower_grads):
  average_grads = []
  for grad_and_vars in zip(*tower_grads):
    grads = []
    for g, _ in grad_and_vars:
      expanded_g = tf.expand_dims(g, 0)
      grads.append(expanded_g)
    grad = tf.concat(0, grads)
    grad = tf.reduce_mean(grad, 0)
    v = grad_and_vars[0][1]
    average_grads.append((grad, v))
  return average_grads


with tf.Graph().as_default(), tf.device('/cpu:0'):
  global_step = tf.get_variable('global_step', [], initializer=tf.constant_initializer(0),
                                trainable=False)
  lr = tf.train.exponential_decay(0.1, global_step, 2, 0.7, staircase=True)
  opt = tf.train.GradientDescentOptimizer(lr)
  all_images = tf.placeholder(tf.float32, [NUM_GPUS * BATCH, 8, 8, 1])
  all_labels = tf.placeholder(tf.int32, [NUM_GPUS * BATCH])
  images = tf.split(0, NUM_GPUS, all_images)
  labels = tf.split(0, NUM_GPUS, all_labels)
  tower_grads, tower_losses = [], []
  with tf.variable_scope(tf.get_variable_scope()):
    for i in range(NUM_GPUS):
      with tf.device(assign_to_device('/gpu:%d' % i)):
        with tf.name_scope('%s_%d' % ('tower', i)) as scope:
          loss = tower_loss(scope, images[i], labels[i])
          tf.get_variable_scope().reuse_variables()
          grads = opt.compute_gradients(loss)
          tower_grads.append(grads)
          tower_losses.append(loss)
  grads = average_gradients(tower_grads)
  train_op = opt.apply_gradients(grads, global_step=global_step)
  print([v.name for v in tf.trainable_variables()])
  print([l.op.name for l in tower_losses], tower_losses[1].device)
  sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True,
                                          log_device_placement=False))
  sess.run(tf.initialize_all_variables())
  feed = {all_images: rng.rand(12, 8, 8, 1), all_labels: rng.randint(0, 3, 12)}
  for step in range(5):
    _, values = sess.run([train_op, tower_losses], feed)
    print('step %d: %.6g %.6g' % (step, values[0], values[1]))
  print('%.6g' % sess.run(lr))

"""LeNet of slim with arg_scope and create_train_op.  Written as for TensorFlow 1.0."""
from __future__ import absolute_import, division, print_function

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim
rng = np.random.RandomState(9)


def numpy_initializer(shape, dtype=tf.float32, partition_info=None):
  shape = [int(d) for d in shape]
  fan_in = np.prod(shape[:-1])
  return tf.constant((rng.randn(*shape) / np.sqrt(fan_in)).astype(np.float32))


def lenet_arg_scope(weight_decay=0.001):
  with slim.arg_scope([slim.conv2d, slim.fully_connected],
                      weights_regularizer=slim.l2_regularizer(weight_decay),
                      weights_initializer=numpy_initializer,
                      activation_fn=tf.nn.relu) as sc:
    return sc


def lenet(images, num_classes=5, is_training=False, scope='LeNet'):
  end_points = {}
  with tf.variable_scope(scope, 'LeNet', [images, num_classes]):
    net = slim.conv2d(images, 6, [5, 5], scope='conv1')
    net = slim.max_pool2d(net, [2, 2], 2, scope='pool1')
    net = slim.repeat(net, 2, slim.conv2d, 8, [3, 3], scope='conv2')
    net = slim.max_pool2d(net, [2, 2], 2, scope='pool2')
    net = slim.flatten(net)
    end_points['Flatten'] = net
    net = slim.fully_connected(net, 16, scope='fc3')
    net = slim.dropout(net, 0.5, is_training=is_training, scope='dropout3')
    logits = slim.fully_connected(net, num_classes, activation_fn=None, scope='fc4')
  end_points['Logits'] = logits
  end_points['Predictions'] = slim.softmax(logits, scope='Predictions')
  return logits, end_points


with tf.Graph().as_default():
  images = tf.constant(rng.rand(10, 12, 12, 3).astype(np.float32))
  labels = tf.constant(rng.randint(0, 5, 10))
  with slim.arg_scope(lenet_arg_scope()):
    logits, end_points = lenet(images)
  one_hot = slim.one_hot_encoding(labels, 5)
  slim.losses.softmax_cross_entropy(logits, one_hot)
  total_loss = slim.losses.get_total_loss()
  global_step = slim.get_or_create_global_step()
  optimizer = tf.train.RMSPropOptimizer(0.001, momentum=0.9)
  train_op = slim.learning.create_train_op(total_loss, optimizer, clip_gradient_norm=4)
  for variable in slim.get_model_variables():
    print(variable.op.name, variable.get_shape().as_list())
  with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for _ in range(6):
      loss = sess.run(train_op)
      print('global step %d: loss = %.6g' % (global_step.eval(), loss))
    predictions = sess.run(end_points['Predictions'])
    print(' '.join('%.6g' % p for p in predictions[0]))

"""A cell of one's own, in dynamic_rnn below a wrapped one.  Written as for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf


class MinimalGRUCell(tf.nn.rnn_cell.RNNCell):
  """A gated unit with one gate."""

  def __init__(self, num_units, values, reuse=None):
    super(MinimalGRUCell, self).__init__(_reuse=reuse)
    self._num_units = num_units
    self._values = values

  @property
  def state_size(self):
    return self._num_units

  @property
  def output_size(self):
    return self._num_units

  def call(self, inputs, state):
    shape = [inputs.shape[1].value + self._num_units, self._num_units]
    init = tf.constant_initializer(self._values)
    gate_w = tf.get_variable('gate', shape, initializer=init)
    cand_w = tf.get_variable('candidate', shape, initializer=init)
    f = tf.sigmoid(tf.matmul(tf.concat([inputs, state], 1), gate_w) + 1.0)
    c = tf.tanh(tf.matmul(tf.concat([inputs, f * state], 1), cand_w))
    new_state = (1 - f) * state + f * c
    return new_state, new_state


rng = np.random.RandomState(34)
inputs = tf.placeholder(tf.float32, [3, 5, 4])
values = rng.uniform(-0.6, 0.6, (10, 6)).astype(np.float32)
cell = MinimalGRUCell(6, values)
outputs, state = tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32, scope='rnn')

residual = tf.nn.rnn_cell.ResidualWrapper(tf.nn.rnn_cell.GRUCell(
    6, kernel_initializer=tf.constant_initializer(0.05)))
top, top_state = tf.nn.dynamic_rnn(residual, outputs, dtype=tf.float32, scope='top')

loss = tf.reduce_sum(tf.square(top[:, -1] - 0.5)) + 0.1 * tf.reduce_sum(tf.abs(state))
train = tf.train.AdadeltaOptimizer(1.0, rho=0.9).minimize(loss)
data = rng.randn(3, 5, 4)
with tf.Session() as sess:
  sess.run(tf.global_variables_initializer())
  for v in tf.trainable_variables():
    print(v.name, v.shape)
  for i in range(5):
    print('%d %.6g' % (i, sess.run([loss, train], {inputs: data})[0]))
  print(' '.join('%.6g' % v for v in sess.run(state, {inputs: data})[0]))

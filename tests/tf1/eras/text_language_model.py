"""A word language model of PTB's kind: configs, reuse, assigned rates.  As for TensorFlow 1.0."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import numpy as np
import tensorflow as tf


class SmallConfig(object):
  init_scale = 0.1
  learning_rate = 0.5
  max_grad_norm = 5
  num_layers = 2
  num_steps = 5
  hidden_size = 10
  max_epoch = 1
  max_max_epoch = 3
  lr_decay = 0.5
  batch_size = 4
  vocab_size = 15


def init_by_shape(shape, dtype=tf.float32, partition_info=None):
  values = np.random.RandomState(sum(shape)).uniform(-0.3, 0.3, shape)
  return tf.constant(values.astype(np.float32))


class PTBModel(object):
  """The PTB model."""

  def __init__(self, is_training, config):
    self.batch_size, self.num_steps = config.batch_size, config.num_steps
    size, vocab_size = config.hidden_size, config.vocab_size
    self._input_data = tf.placeholder(tf.int32, [self.batch_size, self.num_steps])
    self._targets = tf.placeholder(tf.int32, [self.batch_size, self.num_steps])

    def lstm_cell():
      cell = tf.contrib.rnn.BasicLSTMCell(size, forget_bias=0.0, state_is_tuple=True)
      if is_training:
        cell = tf.contrib.rnn.DropoutWrapper(cell, output_keep_prob=1.0)
      return cell

    cell = tf.contrib.rnn.MultiRNNCell([lstm_cell() for _ in range(config.num_layers)],
                                       state_is_tuple=True)
    self._initial_state = cell.zero_state(self.batch_size, tf.float32)
    with tf.device("/cpu:0"):
      embedding = tf.get_variable("embedding", [vocab_size, size], dtype=tf.float32)
      inputs = tf.nn.embedding_lookup(embedding, self._input_data)
    outputs = []
    state = self._initial_state
    with tf.variable_scope("RNN"):
      for time_step in range(self.num_steps):
        if time_step > 0:
          tf.get_variable_scope().reuse_variables()
        (cell_output, state) = cell(inputs[:, time_step, :], state)
        outputs.append(cell_output)
    output = tf.reshape(tf.concat(outputs, 1), [-1, size])
    softmax_w = tf.get_variable("softmax_w", [size, vocab_size], dtype=tf.float32)
    softmax_b = tf.get_variable("softmax_b", [vocab_size], dtype=tf.float32)
    logits = tf.matmul(output, softmax_w) + softmax_b
    loss = tf.contrib.legacy_seq2seq.sequence_loss_by_example(
        [logits], [tf.reshape(self._targets, [-1])],
        [tf.ones([self.batch_size * self.num_steps], dtype=tf.float32)])
    self.cost = tf.reduce_sum(loss) / self.batch_size
    self.final_state = state
    if not is_training:
      return
    self._lr = tf.Variable(0.0, trainable=False)
    tvars = tf.trainable_variables()
    grads, self.norm = tf.clip_by_global_norm(tf.gradients(self.cost, tvars),
                                              config.max_grad_norm)
    optimizer = tf.train.GradientDescentOptimizer(self._lr)
    self.train_op = optimizer.apply_gradients(zip(grads, tvars))
    self._new_lr = tf.placeholder(tf.float32, shape=[], name="new_learning_rate")
    self._lr_update = tf.assign(self._lr, self._new_lr)

  def assign_lr(self, session, lr_value):
    session.run(self._lr_update, feed_dict={self._new_lr: lr_value})


def run_epoch(session, model, data, eval_op=None):
  costs, iters = 0.0, 0
  state = session.run(model._initial_state)
  steps = (data.shape[1] - 1) // model.num_steps
  fetches = {"cost": model.cost, "final_state": model.final_state}
  if eval_op is not None:
    fetches["eval_op"] = eval_op
  for step in range(steps):
    at = step * model.num_steps
    feed_dict = {model._input_data: data[:, at:at + model.num_steps],
                 model._targets: data[:, at + 1:at + 1 + model.num_steps]}
    for i, (c, h) in enumerate(model._initial_state):
      feed_dict[c] = state[i].c
      feed_dict[h] = state[i].h
    vals = session.run(fetches, feed_dict)
    state = vals["final_state"]
    costs += vals["cost"]
    iters += model.num_steps
  return np.exp(costs / iters)


def main(_):
  config = SmallConfig()
  rng = np.random.RandomState(26)
  train = np.cumsum(rng.randint(1, 3, (config.batch_size, 31)), 1) % config.vocab_size
  valid = np.cumsum(rng.randint(1, 3, (config.batch_size, 16)), 1) % config.vocab_size
  with tf.Graph().as_default(), tf.Session() as session:
    with tf.variable_scope("model", reuse=None, initializer=init_by_shape):
      m = PTBModel(is_training=True, config=config)
    with tf.variable_scope("model", reuse=True):
      mvalid = PTBModel(is_training=False, config=config)
    session.run(tf.global_variables_initializer())
    for i in range(config.max_max_epoch):
      lr_decay = config.lr_decay ** max(i + 1 - config.max_epoch, 0.0)
      m.assign_lr(session, config.learning_rate * lr_decay)
      print("Epoch: %d Learning rate: %.6g" % (i + 1, session.run(m._lr)))
      print("Train Perplexity: %.6g" % run_epoch(session, m, train, eval_op=m.train_op))
      print("Valid Perplexity: %.6g" % run_epoch(session, mvalid, valid))
    for v in tf.trainable_variables():
      print(v.op.name)


if __name__ == "__main__":
  tf.app.run()

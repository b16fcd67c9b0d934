"""A Transformer's encoder as BERT has it, AdamW of its own.  Written as for TensorFlow 1.12."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import math
import re

import numpy as np
import tensorflow as tf


def gelu(x):
  return 0.5 * x * (1.0 + tf.erf(x / math.sqrt(2.0)))


def create_initializer(shape, dtype=tf.float32, partition_info=None):
  rng = np.random.RandomState(int(np.prod([int(d) for d in shape])))
  return tf.constant(0.2 * rng.randn(*[int(d) for d in shape]), dtype)


def layer_norm(x, name=None):
  return tf.contrib.layers.layer_norm(inputs=x, begin_norm_axis=-1, begin_params_axis=-1,
                                      scope=name)


def attention_layer(x, mask, heads, size):
  batch, length = tf.shape(x)[0], x.shape[1].value

  def project(name):
    y = tf.layers.dense(x, heads * size, name=name, kernel_initializer=create_initializer)
    return tf.transpose(tf.reshape(y, [batch, length, heads, size]), [0, 2, 1, 3])

  scores = tf.matmul(project("query"), project("key"), transpose_b=True)
  scores = tf.multiply(scores, 1.0 / math.sqrt(float(size)))
  scores += (1.0 - tf.expand_dims(mask, 1)) * -10000.0
  context = tf.matmul(tf.nn.softmax(scores), project("value"))
  return tf.reshape(tf.transpose(context, [0, 2, 1, 3]), [batch, length, heads * size])


class AdamWeightDecayOptimizer(tf.train.Optimizer):
  """A basic Adam optimizer that includes "correct" L2 weight decay."""

  def __init__(self, learning_rate, weight_decay_rate=0.01, exclude_from_weight_decay=None,
               name="AdamWeightDecayOptimizer"):
    super(AdamWeightDecayOptimizer, self).__init__(False, name)
    self.learning_rate = learning_rate
    self.weight_decay_rate = weight_decay_rate
    self.exclude = exclude_from_weight_decay

  def apply_gradients(self, grads_and_vars, global_step=None, name=None):
    assignments = []
    for grad, param in grads_and_vars:
      if grad is None or param is None:
        continue
      m, v = [tf.get_variable(name=re.match("^(.*):\\d+$", param.name).group(1) + suffix,
                              shape=param.shape.as_list(), dtype=tf.float32, trainable=False,
                              initializer=tf.zeros_initializer()) for suffix in ("/m", "/v")]
      next_m = tf.multiply(0.9, m) + tf.multiply(0.1, grad)
      next_v = tf.multiply(0.999, v) + tf.multiply(0.001, tf.square(grad))
      update = next_m / (tf.sqrt(next_v) + 1e-3)
      if not any(re.search(r, param.name) for r in self.exclude):
        update += self.weight_decay_rate * param
      assignments.extend([param.assign(param - self.learning_rate * update),
                          m.assign(next_m), v.assign(next_v)])
    return tf.group(*assignments, name=name)


HIDDEN, LENGTH, VOCAB = 8, 6, 15
input_ids = tf.placeholder(tf.int32, [None, LENGTH])
input_mask = tf.placeholder(tf.int32, [None, LENGTH])
labels = tf.placeholder(tf.int32, [None])
with tf.variable_scope("bert"):
  with tf.variable_scope("embeddings"):
    table = tf.get_variable("word_embeddings", [VOCAB, HIDDEN], initializer=create_initializer)
    one_hot_ids = tf.one_hot(tf.reshape(input_ids, [-1]), depth=VOCAB)
    x = tf.reshape(tf.matmul(one_hot_ids, table), [-1, LENGTH, HIDDEN])
    full = tf.get_variable("position_embeddings", [20, HIDDEN], initializer=create_initializer)
    x += tf.slice(full, [0, 0], [LENGTH, -1])
    x = layer_norm(x)
  mask = tf.ones_like(input_mask[:, :, None], tf.float32) * tf.to_float(input_mask[:, None, :])
  for i in range(2):
    with tf.variable_scope("layer_%d" % i):
      with tf.variable_scope("attention"):
        attention = attention_layer(x, mask, 2, 4)
        attention = tf.layers.dense(attention, HIDDEN, kernel_initializer=create_initializer)
        x = layer_norm(attention + x)
      with tf.variable_scope("output"):
        y = tf.layers.dense(x, 16, activation=gelu, kernel_initializer=create_initializer)
        y = tf.layers.dense(y, HIDDEN, kernel_initializer=create_initializer)
        x = layer_norm(y + x)
  with tf.variable_scope("pooler"):
    first = tf.squeeze(x[:, 0:1, :], axis=1)
    pooled = tf.layers.dense(first, HIDDEN, activation=tf.tanh,
                             kernel_initializer=create_initializer)
logits = tf.layers.dense(pooled, 2, kernel_initializer=create_initializer, name="cls")
log_probs = tf.nn.log_softmax(logits, axis=-1)
loss = -tf.reduce_mean(tf.reduce_sum(tf.one_hot(labels, depth=2) * log_probs, axis=-1))
tvars = tf.trainable_variables()
grads, norm = tf.clip_by_global_norm(tf.gradients(loss, tvars), clip_norm=1.0)
optimizer = AdamWeightDecayOptimizer(0.01, exclude_from_weight_decay=["LayerNorm", "bias"])
train_op = optimizer.apply_gradients(zip(grads, tvars))

rng = np.random.RandomState(77)
feed = {input_ids: rng.randint(0, VOCAB, (6, LENGTH)), labels: rng.randint(0, 2, 6),
        input_mask: np.arange(LENGTH)[None] < rng.randint(3, LENGTH + 1, (6, 1))}
with tf.Session() as sess:
  sess.run(tf.global_variables_initializer())
  for var in tvars:
    print(var.name, var.shape.as_list())
  for step in range(5):
    value, n, _ = sess.run([loss, norm, train_op], feed)
    print("step %d loss %.6g norm %.6g" % (step, value, n))
  print(" ".join("%.6g" % v for v in sess.run(log_probs, feed)[0]))

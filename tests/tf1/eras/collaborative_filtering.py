"""Collaborative filtering: embeddings, biases, regularization.  Written as for TensorFlow 1.0."""
from __future__ import absolute_import, division, print_function

from collections import deque

import numpy as np
import tensorflow as tf

USERS, ITEMS, DIM, BATCH, EPOCHS = 15, 12, 4, 20, 4
rng = np.random.RandomState(39)


class ShuffleIterator(object):
    def __init__(self, inputs, batch_size=10):
        self.inputs = np.transpose(np.vstack(inputs))
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def __next__(self):
        return self.next()

    def next(self):
        ids = rng.randint(0, len(self.inputs), (self.batch_size,))
        out = self.inputs[ids, :]
        return [out[:, i] for i in range(out.shape[1])]


def table(name, *shape):
    return tf.get_variable(name, shape, initializer=tf.constant_initializer(
        0.3 * rng.randn(*shape)))


def inference_svd(user_batch, item_batch, user_num, item_num, dim=5, device="/cpu:0"):
    with tf.device("/cpu:0"):
        global_bias = tf.get_variable("bias_global", shape=[],
                                      initializer=tf.constant_initializer(2.5))
        w_bias_user = table("embd_bias_user", user_num)
        w_bias_item = table("embd_bias_item", item_num)
        bias_user = tf.nn.embedding_lookup(w_bias_user, user_batch, name="bias_user")
        bias_item = tf.nn.embedding_lookup(w_bias_item, item_batch, name="bias_item")
        w_user = table("embd_user", user_num, dim)
        w_item = table("embd_item", item_num, dim)
        embd_user = tf.nn.embedding_lookup(w_user, user_batch, name="embedding_user")
        embd_item = tf.nn.embedding_lookup(w_item, item_batch, name="embedding_item")
    with tf.device(device):
        infer = tf.reduce_sum(tf.multiply(embd_user, embd_item), 1)
        infer = tf.add(infer, global_bias)
        infer = tf.add(infer, bias_user)
        infer = tf.add(infer, bias_item, name="svd_inference")
        regularizer = tf.add(tf.nn.l2_loss(embd_user), tf.nn.l2_loss(embd_item),
                             name="svd_regularizer")
    return infer, regularizer


def optimization(infer, regularizer, rate_batch, learning_rate=0.01, reg=0.1):
    global_step = tf.train.get_global_step()
    assert global_step is not None
    cost_l2 = tf.nn.l2_loss(tf.subtract(infer, rate_batch))
    penalty = tf.constant(reg, dtype=tf.float32, shape=[], name="l2")
    cost = tf.add(cost_l2, tf.multiply(regularizer, penalty))
    return cost, tf.train.AdamOptimizer(learning_rate).minimize(cost, global_step=global_step)


users, items = [a.ravel() for a in np.meshgrid(np.arange(USERS), np.arange(ITEMS))]
true_u, true_i = rng.randn(USERS, 2), rng.randn(ITEMS, 2)
rates = np.clip(np.round(3 + (true_u[users] * true_i[items]).sum(1)), 1, 5)

user_batch = tf.placeholder(tf.int32, shape=[None], name="id_user")
item_batch = tf.placeholder(tf.int32, shape=[None], name="id_item")
rate_batch = tf.placeholder(tf.float32, shape=[None])
infer, regularizer = inference_svd(user_batch, item_batch, USERS, ITEMS, dim=DIM)
global_step = tf.contrib.framework.get_or_create_global_step()
cost, train_op = optimization(infer, regularizer, rate_batch, learning_rate=0.02, reg=0.05)

iterator = ShuffleIterator([users, items, rates], batch_size=BATCH)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    errors = deque(maxlen=5)
    for i in range(EPOCHS * 5):
        u, v, r = next(iterator)
        _, pred_batch = sess.run([train_op, infer], feed_dict={
            user_batch: u, item_batch: v, rate_batch: r})
        pred_batch = np.clip(pred_batch, 1.0, 5.0)
        errors.append(np.power(pred_batch - r, 2))
        if i % 5 == 4:
            train_err = np.sqrt(np.mean(errors))
            test = sess.run(infer, {user_batch: users[::7], item_batch: items[::7]})
            test_err = np.sqrt(np.mean(np.power(np.clip(test, 1, 5) - rates[::7], 2)))
            print("{:3d} {:.6g} {:.6g}".format(i // 5, train_err, test_err))
    print(sess.run(global_step))

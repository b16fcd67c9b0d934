"""dynamic_rnn over sequences of different lengths, the last outputs gathered.  TensorFlow 1.0."""
from __future__ import print_function

import numpy as np
import tensorflow as tf


class ToySequenceData(object):
    """Linear sequences are class 0, random ones class 1; zeros pad them."""

    def __init__(self, n_samples=24, max_seq_len=8, min_seq_len=3, max_value=100):
        rng = np.random.RandomState(32)
        self.data, self.labels, self.seqlen = [], [], []
        self.batch_id = 0
        for i in range(n_samples):
            length = rng.randint(min_seq_len, max_seq_len + 1)
            self.seqlen.append(length)
            if rng.rand() < .5:
                start = rng.randint(0, max_value - length)
                s = [[float(j) / max_value] for j in range(start, start + length)]
                self.labels.append([1., 0.])
            else:
                s = [[float(rng.randint(0, max_value)) / max_value] for _ in range(length)]
                self.labels.append([0., 1.])
            s += [[0.] for _ in range(max_seq_len - length)]
            self.data.append(s)

    def next(self, batch_size):
        if self.batch_id == len(self.data):
            self.batch_id = 0
        end = min(self.batch_id + batch_size, len(self.data))
        part = slice(self.batch_id, end)
        self.batch_id = end
        return self.data[part], self.labels[part], self.seqlen[part]


learning_rate = 0.1
batch_size, seq_max_len, n_hidden, n_classes = 8, 8, 6, 2
rng = np.random.RandomState(33)

x = tf.placeholder("float", [None, seq_max_len, 1])
y = tf.placeholder("float", [None, n_classes])
seqlen = tf.placeholder(tf.int32, [None])
weights = {'out': tf.Variable(rng.randn(n_hidden, n_classes).astype(np.float32))}
biases = {'out': tf.Variable(rng.randn(n_classes).astype(np.float32))}


def dynamicRNN(x, seqlen, weights, biases):
    values = rng.uniform(-.7, .7, [1 + n_hidden, 4 * n_hidden]).astype(np.float32)
    with tf.variable_scope("lstm"):
        lstm_cell = tf.contrib.rnn.LSTMCell(
            n_hidden, initializer=tf.constant_initializer(values))
        outputs, states = tf.nn.dynamic_rnn(lstm_cell, x, dtype=tf.float32,
                                            sequence_length=seqlen)
    batch_size = tf.shape(outputs)[0]
    # Start indices for each sample
    index = tf.range(0, batch_size) * seq_max_len + (seqlen - 1)
    last = tf.gather(tf.reshape(outputs, [-1, n_hidden]), index)
    return tf.matmul(last, weights['out']) + biases['out'], last - states.h


pred, difference = dynamicRNN(x, seqlen, weights, biases)
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=pred, labels=y))
optimizer = tf.train.GradientDescentOptimizer(learning_rate=learning_rate).minimize(cost)
correct_pred = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(correct_pred, tf.float32))

trainset = ToySequenceData()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for step in range(1, 10):
        batch_x, batch_y, batch_seqlen = trainset.next(batch_size)
        feed = {x: batch_x, y: batch_y, seqlen: batch_seqlen}
        sess.run(optimizer, feed_dict=feed)
        if step % 3 == 0:
            acc, loss = sess.run([accuracy, cost], feed_dict=feed)
            print("Step %d, Minibatch Loss= %.6g, Accuracy= %.6g" % (step, loss, acc))
    print("%.6g" % np.abs(sess.run(difference, feed)).max())

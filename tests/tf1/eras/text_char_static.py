"""A character model by static_rnn, the state fed and fetched.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import numpy as np
import tensorflow as tf
from tensorflow.contrib import rnn

num_steps, batch_size, state_size, num_classes = 6, 5, 9, 2
rng = np.random.RandomState(27)


def gen_data(size=300):
    X = rng.choice(2, size=(size,))
    Y = []
    for i in range(size):
        threshold = 0.5 + 0.5 * X[i - 3] - 0.25 * X[i - 4]
        Y.append(int(rng.rand() <= threshold))
    return X, np.array(Y)


x = tf.placeholder(tf.int32, [batch_size, num_steps], name='input_placeholder')
y = tf.placeholder(tf.int32, [batch_size, num_steps], name='labels_placeholder')
init_state = tf.placeholder(tf.float32, [2, 2, batch_size, state_size], name='state')
state_per_layer = tf.unstack(init_state, axis=0)
rnn_tuple_state = tuple(rnn.LSTMStateTuple(s[0], s[1]) for s in state_per_layer)

x_one_hot = tf.one_hot(x, num_classes)
rnn_inputs = tf.unstack(x_one_hot, axis=1)
with tf.variable_scope('rnn', initializer=tf.constant_initializer(0.1)):
    w_in = tf.get_variable('w_in', initializer=rng.uniform(
        -1, 1, [num_classes, num_classes]).astype(np.float32))
    cells = [rnn.LSTMCell(state_size, use_peepholes=True, state_is_tuple=True),
             rnn.BasicLSTMCell(state_size, forget_bias=1.0)]
    cell = rnn.MultiRNNCell(cells)
    rnn_outputs, final_state = rnn.static_rnn(
        cell, [tf.matmul(i, w_in) for i in rnn_inputs], initial_state=rnn_tuple_state)
with tf.variable_scope('softmax'):
    W = tf.get_variable('W', initializer=rng.randn(state_size, num_classes).astype(np.float32))
    b = tf.get_variable('b', [num_classes], initializer=tf.constant_initializer(0.0))
logits = [tf.matmul(rnn_output, W) + b for rnn_output in rnn_outputs]
y_as_list = tf.unstack(y, num=num_steps, axis=1)
losses = [tf.nn.sparse_softmax_cross_entropy_with_logits(labels=label, logits=logit)
          for logit, label in zip(logits, y_as_list)]
total_loss = tf.reduce_mean(losses)
train_step = tf.train.AdagradOptimizer(0.1).minimize(total_loss)

X, Y = gen_data()
X, Y = X.reshape(batch_size, -1), Y.reshape(batch_size, -1)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    state = np.zeros((2, 2, batch_size, state_size))
    for i in range(X.shape[1] // num_steps):
        part = slice(i * num_steps, (i + 1) * num_steps)
        loss, state, _ = sess.run([total_loss, final_state, train_step],
                                  {x: X[:, part], y: Y[:, part], init_state: state})
        print('%d %.6g' % (i, loss))
    print(' '.join('%.6g' % v for v in state[1].h[0]))

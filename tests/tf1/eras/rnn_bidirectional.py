"""A bidirectional RNN over lists of inputs.  Written as for TensorFlow 0.8."""
import numpy as np
import tensorflow as tf
from tensorflow.python.ops import rnn, rnn_cell

learning_rate = 0.05
batch_size = 6
n_input, n_steps, n_hidden, n_classes = 5, 4, 6, 3
rng = np.random.RandomState(35)

x = tf.placeholder("float", [None, n_steps, n_input])
y = tf.placeholder("float", [None, n_classes])
weights = {
    'hidden': tf.Variable(0.4 * rng.randn(n_input, 2 * n_hidden).astype('float32')),
    'out': tf.Variable(0.4 * rng.randn(2 * n_hidden, n_classes).astype('float32'))
}
biases = {
    'hidden': tf.Variable(tf.zeros([2 * n_hidden])),
    'out': tf.Variable(tf.zeros([n_classes]))
}


def BiRNN(_X, _weights, _biases):
    # input shape: (batch_size, n_steps, n_input)
    _X = tf.transpose(_X, [1, 0, 2])  # permute n_steps and batch_size
    _X = tf.reshape(_X, [-1, n_input])
    _X = tf.matmul(_X, _weights['hidden']) + _biases['hidden']
    lstm_fw_cell = rnn_cell.BasicLSTMCell(n_hidden, forget_bias=1.0)
    lstm_bw_cell = rnn_cell.BasicLSTMCell(n_hidden, forget_bias=1.0)
    _X = tf.split(0, n_steps, _X)
    with tf.variable_scope('bi', initializer=tf.constant_initializer(0.07)):
        outputs, _, _ = rnn.bidirectional_rnn(lstm_fw_cell, lstm_bw_cell, _X, dtype=tf.float32)
    return tf.matmul(outputs[-1], _weights['out']) + _biases['out']


pred = BiRNN(x, weights, biases)
cost = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(pred, y))
optimizer = tf.train.AdamOptimizer(learning_rate=learning_rate).minimize(cost)
correct_pred = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
accuracy = tf.reduce_mean(tf.cast(correct_pred, tf.float32))
init = tf.initialize_all_variables()

batch_xs = rng.randn(batch_size, n_steps, n_input)
batch_ys = np.eye(n_classes)[rng.randint(0, n_classes, batch_size)]
with tf.Session() as sess:
    sess.run(init)
    step = 1
    while step * batch_size < 40:
        sess.run(optimizer, feed_dict={x: batch_xs, y: batch_ys})
        acc = sess.run(accuracy, feed_dict={x: batch_xs, y: batch_ys})
        loss = sess.run(cost, feed_dict={x: batch_xs, y: batch_ys})
        print("Iter " + str(step * batch_size) + ", Minibatch Loss= " + "{:.6g}".format(loss)
              + ", Training Accuracy= " + "{:.6g}".format(acc))
        step += 1

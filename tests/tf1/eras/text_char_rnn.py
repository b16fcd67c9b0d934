"""A char-RNN on rnn_decoder, with sampling.  Written as for TensorFlow 0.8."""
from __future__ import print_function

import collections

import numpy as np
import tensorflow as tf
from tensorflow.python.ops import rnn_cell
from tensorflow.python.ops import seq2seq

TEXT = "hello world , this is a small text to learn from ; " * 4


class Model():
    def __init__(self, rnn_size, num_layers, vocab_size, batch_size, seq_length, infer=False):
        if infer:
            batch_size = 1
            seq_length = 1
        rng = np.random.RandomState(25)
        cells = [rnn_cell.BasicLSTMCell(rnn_size, state_is_tuple=False) for _ in range(num_layers)]
        self.cell = cell = rnn_cell.MultiRNNCell(cells, state_is_tuple=False)
        self.input_data = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.targets = tf.placeholder(tf.int32, [batch_size, seq_length])
        self.initial_state = cell.zero_state(batch_size, tf.float32)

        def initial(*shape):
            return tf.constant_initializer((0.2 * rng.randn(*shape)).astype(np.float32))

        with tf.variable_scope('rnnlm', initializer=tf.constant_initializer(0.05)):
            softmax_w = tf.get_variable("softmax_w", [rnn_size, vocab_size],
                                        initializer=initial(rnn_size, vocab_size))
            softmax_b = tf.get_variable("softmax_b", [vocab_size])
            with tf.device("/cpu:0"):
                embedding = tf.get_variable("embedding", [vocab_size, rnn_size],
                                            initializer=initial(vocab_size, rnn_size))
                inputs = tf.split(1, seq_length, tf.nn.embedding_lookup(embedding, self.input_data))
                inputs = [tf.squeeze(input_, [1]) for input_ in inputs]

            def loop(prev, _):
                prev = tf.matmul(prev, softmax_w) + softmax_b
                prev_symbol = tf.stop_gradient(tf.argmax(prev, 1))
                return tf.nn.embedding_lookup(embedding, prev_symbol)

            outputs, last_state = seq2seq.rnn_decoder(
                inputs, self.initial_state, cell, loop_function=loop if infer else None,
                scope='rnnlm')
        output = tf.reshape(tf.concat(1, outputs), [-1, rnn_size])
        self.logits = tf.matmul(output, softmax_w) + softmax_b
        self.probs = tf.nn.softmax(self.logits)
        loss = seq2seq.sequence_loss_by_example(
            [self.logits], [tf.reshape(self.targets, [-1])],
            [tf.ones([batch_size * seq_length])], vocab_size)
        self.cost = tf.reduce_sum(loss) / batch_size / seq_length
        self.final_state = last_state
        self.lr = tf.Variable(0.0, trainable=False)
        tvars = tf.trainable_variables()
        grads, _ = tf.clip_by_global_norm(tf.gradients(self.cost, tvars), 5.0)
        optimizer = tf.train.AdamOptimizer(self.lr)
        self.train_op = optimizer.apply_gradients(zip(grads, tvars))


counter = collections.Counter(TEXT)
chars = sorted(counter, key=lambda c: (-counter[c], c))
vocab = dict(zip(chars, range(len(chars))))
data = np.array([vocab[c] for c in TEXT])
batch_size, seq_length = 4, 10
n = len(data) // (batch_size * seq_length)
xdata = data[:n * batch_size * seq_length]
ydata = np.append(xdata[1:], xdata[0])
x_batches = np.split(xdata.reshape(batch_size, -1), n, 1)
y_batches = np.split(ydata.reshape(batch_size, -1), n, 1)

model = Model(12, 2, len(chars), batch_size, seq_length)
with tf.Session() as sess:
    tf.initialize_all_variables().run()
    for e in range(3):
        sess.run(tf.assign(model.lr, 0.01 * (0.9 ** e)))
        state = model.initial_state.eval()
        for b in range(n):
            feed = {model.input_data: x_batches[b], model.targets: y_batches[b],
                    model.initial_state: state}
            train_loss, state, _ = sess.run([model.cost, model.final_state, model.train_op], feed)
        print("epoch {}, train_loss = {:.6g}, state {:.6g}".format(
            e, train_loss, np.abs(state).sum()))
    for v in tf.trainable_variables():
        print(v.op.name.split('/')[-1], v.get_shape().as_list())

"""An LSTM with CTC on made-up features.  Written as for TensorFlow 1.0."""
from __future__ import absolute_import
from __future__ import division
from __future__ import print_function

import numpy as np
import tensorflow as tf

num_features, num_units, num_classes, batch_size = 5, 8, 6, 3
rng = np.random.RandomState(71)


def sparse_tuple_from(sequences, dtype=np.int32):
    indices = []
    values = []
    for n, seq in enumerate(sequences):
        indices.extend(zip([n] * len(seq), range(len(seq))))
        values.extend(seq)
    indices = np.asarray(indices, dtype=np.int64)
    values = np.asarray(values, dtype=dtype)
    shape = np.asarray([len(sequences), np.asarray(indices).max(0)[1] + 1], dtype=np.int64)
    return indices, values, shape


graph = tf.Graph()
with graph.as_default():
    inputs = tf.placeholder(tf.float32, [None, None, num_features])
    targets = tf.sparse_placeholder(tf.int32)
    seq_len = tf.placeholder(tf.int32, [None])
    values = rng.uniform(-0.5, 0.5, [num_features + num_units, 4 * num_units])
    cell = tf.contrib.rnn.LSTMCell(num_units, state_is_tuple=True,
                                   initializer=tf.constant_initializer(values))
    stack = tf.contrib.rnn.MultiRNNCell([cell], state_is_tuple=True)
    outputs, _ = tf.nn.dynamic_rnn(stack, inputs, seq_len, dtype=tf.float32)
    shape = tf.shape(inputs)
    batch_s, max_time_steps = shape[0], shape[1]
    outputs = tf.reshape(outputs, [-1, num_units])
    W = tf.Variable(0.4 * rng.randn(num_units, num_classes).astype(np.float32))
    b = tf.Variable(tf.constant(0., shape=[num_classes]))
    logits = tf.matmul(outputs, W) + b
    logits = tf.reshape(logits, [batch_s, -1, num_classes])
    logits = tf.transpose(logits, (1, 0, 2))
    loss = tf.nn.ctc_loss(targets, logits, seq_len)
    cost = tf.reduce_mean(loss)
    optimizer = tf.train.MomentumOptimizer(0.02, 0.9).minimize(cost)
    decoded, log_prob = tf.nn.ctc_greedy_decoder(logits, seq_len)
    beams, beam_log_prob = tf.nn.ctc_beam_search_decoder(logits, seq_len, beam_width=10,
                                                         top_paths=2)
    ler = tf.reduce_mean(tf.edit_distance(tf.cast(decoded[0], tf.int32), targets))

lengths = np.array([9, 7, 8])
train_inputs = rng.randn(batch_size, 9, num_features)
train_targets = sparse_tuple_from([[0, 1, 2], [3, 3], [4, 0, 4]])
with tf.Session(graph=graph) as session:
    tf.global_variables_initializer().run()
    feed = {inputs: train_inputs, targets: train_targets, seq_len: lengths}
    for curr_epoch in range(5):
        batch_cost, _ = session.run([cost, optimizer], feed)
        print("Epoch {}, train_cost = {:.6g}, train_ler = {:.6g}".format(
            curr_epoch, batch_cost, session.run(ler, feed_dict=feed)))
    d = session.run(decoded[0], feed_dict=feed)
    print(tf.SparseTensorValue(*d).values.tolist())
    print(' '.join('%.6g' % v for v in session.run(log_prob, feed).ravel()))
    print(' '.join('%.6g' % v for v in session.run(beam_log_prob, feed).ravel()))
    print(session.run(loss, feed).shape)

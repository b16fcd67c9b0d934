"""embedding_rnn_seq2seq with buckets of one length.  Written as for TensorFlow 0.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

seq_length = 5
batch_size = 4
vocab_size = 7
embedding_dim = 6
memory_dim = 10
rng = np.random.RandomState(29)

enc_inp = [tf.placeholder(tf.int32, shape=(None,), name="inp%i" % t) for t in range(seq_length)]
labels = [tf.placeholder(tf.int32, shape=(None,), name="labels%i" % t) for t in range(seq_length)]
weights = [tf.ones_like(labels_t, dtype=tf.float32) for labels_t in labels]
dec_inp = ([tf.zeros_like(enc_inp[0], dtype=np.int32, name="GO")]
           + [tf.identity(t) for t in labels[:-1]])

cell = tf.nn.rnn_cell.GRUCell(memory_dim)
with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.0)):
    dec_outputs, dec_memory = tf.nn.seq2seq.embedding_rnn_seq2seq(
        enc_inp, dec_inp, cell, vocab_size, vocab_size, embedding_dim)
loss = tf.nn.seq2seq.sequence_loss(dec_outputs, labels, weights)
outputs = tf.pack(dec_outputs)

learning_rate = 0.05
momentum = 0.9
optimizer = tf.train.MomentumOptimizer(learning_rate, momentum)
train_op = optimizer.minimize(loss)

# Everything starts from numpy's values.
assigns = []
for variable in tf.trainable_variables():
    values = 0.3 * np.random.RandomState(30).randn(*variable.get_shape().as_list())
    assigns.append(tf.assign(variable, values.astype(np.float32)))

sess = tf.InteractiveSession()
sess.run(tf.initialize_all_variables())
sess.run(assigns)
for name in sorted(v.op.name.replace('rnn/', '') for v in tf.trainable_variables())[:2]:
    print(name.split('/')[0])


def train_batch(batch_size):
    X = [rng.choice(vocab_size, size=(seq_length,), replace=False) for _ in range(batch_size)]
    Y = X[:]
    X = np.array(X).T
    Y = np.array(Y).T
    feed_dict = {enc_inp[t]: X[t] for t in range(seq_length)}
    feed_dict.update({labels[t]: Y[t] for t in range(seq_length)})
    _, loss_t = sess.run([train_op, loss], feed_dict)
    return loss_t, feed_dict


for t in range(6):
    loss_t, feed_dict = train_batch(batch_size)
    print("%d %.6g" % (t, loss_t))
values = sess.run(outputs, feed_dict)
print(values.shape, "%.6g" % np.abs(values).sum())
print("%.6g" % np.abs(sess.run(dec_memory, feed_dict)).sum())

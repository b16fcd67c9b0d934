"""A tagger: bidirectional LSTM and a CRF.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

num_tags, vocab, embed_dim, hidden = 4, 20, 6, 7
rng = np.random.RandomState(31)


def const(*shape):
    return tf.constant_initializer(rng.uniform(-0.5, 0.5, shape).astype(np.float32))


class NERModel(object):
    def add_placeholders(self):
        self.word_ids = tf.placeholder(tf.int32, shape=[None, None], name="word_ids")
        self.sequence_lengths = tf.placeholder(tf.int32, shape=[None], name="sequence_lengths")
        self.labels = tf.placeholder(tf.int32, shape=[None, None], name="labels")

    def add_logits_op(self):
        with tf.variable_scope("words"):
            table = tf.get_variable("_word_embeddings", [vocab, embed_dim], tf.float32,
                                    const(vocab, embed_dim))
            embeddings = tf.nn.embedding_lookup(table, self.word_ids)
        with tf.variable_scope("bi-lstm"):
            cell_fw = tf.contrib.rnn.LSTMCell(hidden, initializer=const(embed_dim + hidden,
                                                                        4 * hidden))
            cell_bw = tf.contrib.rnn.LSTMCell(hidden, initializer=const(embed_dim + hidden,
                                                                        4 * hidden))
            (output_fw, output_bw), _ = tf.nn.bidirectional_dynamic_rnn(
                cell_fw, cell_bw, embeddings, sequence_length=self.sequence_lengths,
                dtype=tf.float32)
            output = tf.concat([output_fw, output_bw], axis=-1)
        with tf.variable_scope("proj"):
            W = tf.get_variable("W", [2 * hidden, num_tags], tf.float32,
                                const(2 * hidden, num_tags))
            b = tf.get_variable("b", [num_tags], tf.float32, tf.zeros_initializer())
            nsteps = tf.shape(output)[1]
            output = tf.reshape(output, [-1, 2 * hidden])
            pred = tf.matmul(output, W) + b
            self.logits = tf.reshape(pred, [-1, nsteps, num_tags])

    def add_loss_op(self):
        trans = tf.get_variable("transitions", [num_tags, num_tags],
                                initializer=const(num_tags, num_tags))
        log_likelihood, self.trans_params = tf.contrib.crf.crf_log_likelihood(
            self.logits, self.labels, self.sequence_lengths, trans)
        self.loss = tf.reduce_mean(-log_likelihood)
        self.decoded, self.best = tf.contrib.crf.crf_decode(
            self.logits, self.trans_params, self.sequence_lengths)

    def build(self):
        self.add_placeholders()
        self.add_logits_op()
        self.add_loss_op()
        self.train_op = tf.train.AdamOptimizer(0.02).minimize(self.loss)


model = NERModel()
model.build()
lengths = np.array([6, 4, 5])
words = rng.randint(0, vocab, (3, 6))
tags = words % num_tags
feed = {model.word_ids: words, model.sequence_lengths: lengths, model.labels: tags}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(5):
        _, train_loss = sess.run([model.train_op, model.loss], feed)
        print("epoch %d loss %.6g" % (epoch, train_loss))
    logits, trans_params = sess.run([model.logits, model.trans_params], feed)
    decoded = sess.run(model.decoded, feed)
    for logit, length, row in zip(logits, lengths, decoded):
        viterbi_seq, viterbi_score = tf.contrib.crf.viterbi_decode(logit[:length], trans_params)
        print(list(map(int, viterbi_seq)), list(row[:length]) == viterbi_seq, "%.6g" % viterbi_score)

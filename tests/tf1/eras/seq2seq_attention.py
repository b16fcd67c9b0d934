"""An encoder and decoder with Bahdanau's attention.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import numpy as np
import tensorflow as tf
from tensorflow.python.layers.core import Dense

VOCAB, EMBED, UNITS, BATCH = 12, 6, 8, 4
GO, EOS = 1, 2
rng = np.random.RandomState(28)


def numpy_values(shape, dtype=None, partition_info=None):
    seed = np.random.RandomState(int(np.sum(shape)))
    return tf.constant(seed.uniform(-0.4, 0.4, shape).astype(np.float32))


source = tf.placeholder(tf.int32, [BATCH, None], name='source')
source_length = tf.placeholder(tf.int32, [BATCH], name='source_length')
target_in = tf.placeholder(tf.int32, [BATCH, None])
target_out = tf.placeholder(tf.int32, [BATCH, None])
target_length = tf.placeholder(tf.int32, [BATCH])

with tf.variable_scope('model', initializer=numpy_values):
    embedding = tf.get_variable('embedding', [VOCAB, EMBED])
    with tf.variable_scope('encoder'):
        cell = tf.contrib.rnn.GRUCell(UNITS)
        encoder_outputs, encoder_state = tf.nn.dynamic_rnn(
            cell, tf.nn.embedding_lookup(embedding, source), sequence_length=source_length,
            dtype=tf.float32)
    with tf.variable_scope('decoder') as decoder_scope:
        attention = tf.contrib.seq2seq.BahdanauAttention(
            UNITS, encoder_outputs, memory_sequence_length=source_length, normalize=False)
        decoder_cell = tf.contrib.seq2seq.AttentionWrapper(
            tf.contrib.rnn.GRUCell(UNITS), attention, attention_layer_size=UNITS)
        projection = Dense(VOCAB, use_bias=False, name='projection')
        initial = decoder_cell.zero_state(BATCH, tf.float32).clone(cell_state=encoder_state)
        helper = tf.contrib.seq2seq.TrainingHelper(
            tf.nn.embedding_lookup(embedding, target_in), target_length)
        decoder = tf.contrib.seq2seq.BasicDecoder(decoder_cell, helper, initial, projection)
        outputs, _, lengths = tf.contrib.seq2seq.dynamic_decode(decoder, scope=decoder_scope)
        logits = outputs.rnn_output
    with tf.variable_scope('decoder', reuse=True) as decoder_scope:
        greedy = tf.contrib.seq2seq.GreedyEmbeddingHelper(embedding, tf.fill([BATCH], GO), EOS)
        decoder = tf.contrib.seq2seq.BasicDecoder(decoder_cell, greedy, initial, projection)
        translations, _, _ = tf.contrib.seq2seq.dynamic_decode(
            decoder, maximum_iterations=6, scope=decoder_scope)

mask = tf.sequence_mask(target_length, dtype=tf.float32)
loss = tf.contrib.seq2seq.sequence_loss(logits, target_out, mask)
params = tf.trainable_variables()
gradients = tf.gradients(loss, params)
clipped, norm = tf.clip_by_global_norm(gradients, 5.0)
train_op = tf.train.AdamOptimizer(0.01).apply_gradients(zip(clipped, params))

lengths_in = np.array([5, 3, 4, 2])
tokens = rng.randint(3, VOCAB, (BATCH, 5))
tokens[np.arange(5)[None] >= lengths_in[:, None]] = 0
decoder_inputs = np.concatenate([np.full((BATCH, 1), GO), tokens], 1)
decoder_targets = np.concatenate([tokens, np.zeros((BATCH, 1), int)], 1)
decoder_targets[np.arange(BATCH), lengths_in] = EOS
feed = {source: tokens, source_length: lengths_in, target_in: decoder_inputs,
        target_out: decoder_targets, target_length: lengths_in + 1}
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for p in params:
        print(p.name, p.shape.as_list())
    for step in range(5):
        l, n, _ = sess.run([loss, norm, train_op], feed)
        print('step %d loss %.6g norm %.6g' % (step, l, n))
    ids = sess.run(translations.sample_id, feed)
    print(ids.tolist())

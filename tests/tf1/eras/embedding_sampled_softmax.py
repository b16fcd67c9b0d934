"""CBOW with a sampled softmax and the projector's config.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib.tensorboard.plugins import projector

VOCAB, DIM, BATCH, WINDOW, SAMPLED = 30, 6, 8, 4, 7
rng = np.random.RandomState(23)


class CBOW(object):
    def __init__(self):
        self.context = tf.placeholder(tf.int32, [BATCH, WINDOW], 'context')
        self.target = tf.placeholder(tf.int64, [BATCH, 1], 'target')
        self.candidates = tf.placeholder(tf.int64, [SAMPLED], 'candidates')
        self.global_step = tf.Variable(0, dtype=tf.int32, trainable=False, name='global_step')

    def build(self):
        with tf.name_scope('embed'):
            init = rng.uniform(-1, 1, (VOCAB, DIM)).astype(np.float32)
            self.embed_matrix = tf.get_variable('embed_matrix', initializer=init)
            embedded = tf.nn.embedding_lookup(self.embed_matrix, self.context)
            mean = tf.reduce_mean(embedded, axis=1)
        with tf.name_scope('loss'):
            w = tf.get_variable('softmax_w', initializer=0.5 * rng.randn(VOCAB, DIM).astype('f'))
            b = tf.get_variable('softmax_b', [VOCAB], initializer=tf.zeros_initializer())
            expected = (tf.ones([BATCH, 1]) * 0.2, tf.ones([SAMPLED]) * 0.2)
            losses = tf.nn.sampled_softmax_loss(
                weights=w, biases=b, labels=self.target, inputs=mean, num_sampled=SAMPLED,
                num_classes=VOCAB, sampled_values=(self.candidates,) + expected)
            self.loss = tf.reduce_mean(losses, name='loss')
        logits = tf.matmul(mean, w, transpose_b=True) + b
        self.full = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=tf.squeeze(self.target, 1), logits=logits))
        self.optimizer = tf.train.AdagradOptimizer(0.3).minimize(
            self.loss, global_step=self.global_step)


def main():
    model = CBOW()
    model.build()
    folder = tempfile.mkdtemp()
    contexts = rng.randint(0, VOCAB, (BATCH, WINDOW))
    targets = contexts[:, :1]
    saver = tf.train.Saver([model.embed_matrix])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(6):
            feed = {model.context: contexts, model.target: targets,
                    model.candidates: rng.permutation(VOCAB)[:SAMPLED]}
            full = sess.run(model.full, feed)
            _, loss = sess.run([model.optimizer, model.loss], feed)
            print('step %d sampled %.6g full %.6g' % (step, loss, full))
        writer = tf.summary.FileWriter(folder)
        config = projector.ProjectorConfig()
        embedding = config.embeddings.add()
        embedding.tensor_name = model.embed_matrix.name
        embedding.metadata_path = 'vocab.tsv'
        projector.visualize_embeddings(writer, config)
        writer.close()
        with open(os.path.join(folder, 'projector_config.pbtxt')) as f:
            print(f.read().strip())
        saver.save(sess, os.path.join(folder, 'model.ckpt'), model.global_step)
    reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(folder))
    print(reader.get_variable_to_shape_map())
    print('%.6g' % np.abs(reader.get_tensor('embed_matrix')).sum())


if __name__ == '__main__':
    main()

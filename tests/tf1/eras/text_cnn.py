"""Kim's CNN for sentences.  Written as for TensorFlow 0.12."""
import re

import numpy as np
import tensorflow as tf

POSITIVE = ["a great and moving film", "I loved every minute of it", "what a fine cast",
            "great fun , great music", "a moving story well told"]
NEGATIVE = ["a dull and boring film", "I hated every minute of it", "what a poor script",
            "no fun , bad music", "a boring story badly told"]


def clean_str(string):
    string = re.sub(r"[^A-Za-z0-9(),!?\'\`]", " ", string)
    return re.sub(r"\s{2,}", " ", string).strip().lower()


class TextCNN(object):
    """
    A CNN for text classification.
    Uses an embedding layer, followed by a convolutional, max-pooling and softmax layer.
    """
    def __init__(self, sequence_length, num_classes, vocab_size, embedding_size, filter_sizes,
                 num_filters, l2_reg_lambda=0.0):
        rng = np.random.RandomState(24)
        self.input_x = tf.placeholder(tf.int32, [None, sequence_length], name="input_x")
        self.input_y = tf.placeholder(tf.float32, [None, num_classes], name="input_y")
        self.dropout_keep_prob = tf.placeholder(tf.float32, name="dropout_keep_prob")
        l2_loss = tf.constant(0.0)
        with tf.device('/cpu:0'), tf.name_scope("embedding"):
            W = tf.Variable(
                rng.uniform(-1.0, 1.0, [vocab_size, embedding_size]).astype(np.float32), name="W")
            self.embedded_chars = tf.nn.embedding_lookup(W, self.input_x)
            self.embedded_chars_expanded = tf.expand_dims(self.embedded_chars, -1)
        pooled_outputs = []
        for i, filter_size in enumerate(filter_sizes):
            with tf.name_scope("conv-maxpool-%s" % filter_size):
                filter_shape = [filter_size, embedding_size, 1, num_filters]
                W = tf.Variable((0.1 * rng.randn(*filter_shape)).astype(np.float32), name="W")
                b = tf.Variable(tf.constant(0.1, shape=[num_filters]), name="b")
                conv = tf.nn.conv2d(self.embedded_chars_expanded, W, strides=[1, 1, 1, 1],
                                    padding="VALID", name="conv")
                h = tf.nn.relu(tf.nn.bias_add(conv, b), name="relu")
                pooled = tf.nn.max_pool(h, ksize=[1, sequence_length - filter_size + 1, 1, 1],
                                        strides=[1, 1, 1, 1], padding='VALID', name="pool")
                pooled_outputs.append(pooled)
        num_filters_total = num_filters * len(filter_sizes)
        self.h_pool = tf.concat(3, pooled_outputs)
        self.h_pool_flat = tf.reshape(self.h_pool, [-1, num_filters_total])
        with tf.name_scope("dropout"):
            self.h_drop = tf.nn.dropout(self.h_pool_flat, self.dropout_keep_prob)
        with tf.name_scope("output"):
            W = tf.Variable((0.3 * rng.randn(num_filters_total, num_classes)).astype("float32"))
            b = tf.Variable(tf.constant(0.1, shape=[num_classes]), name="b")
            l2_loss += tf.nn.l2_loss(W)
            l2_loss += tf.nn.l2_loss(b)
            self.scores = tf.nn.xw_plus_b(self.h_drop, W, b, name="scores")
            self.predictions = tf.argmax(self.scores, 1, name="predictions")
        with tf.name_scope("loss"):
            losses = tf.nn.softmax_cross_entropy_with_logits(self.scores, self.input_y)
            self.loss = tf.reduce_mean(losses) + l2_reg_lambda * l2_loss
        with tf.name_scope("accuracy"):
            correct_predictions = tf.equal(self.predictions, tf.argmax(self.input_y, 1))
            self.accuracy = tf.reduce_mean(tf.cast(correct_predictions, "float"), name="accuracy")


sentences = [clean_str(s).split() for s in POSITIVE + NEGATIVE]
vocabulary = sorted(set(w for s in sentences for w in s))
index = {w: i + 1 for i, w in enumerate(vocabulary)}
length = max(len(s) for s in sentences)
x = np.array([[index[w] for w in s] + [0] * (length - len(s)) for s in sentences])
y = np.array([[0, 1]] * 5 + [[1, 0]] * 5)

with tf.Graph().as_default():
    sess = tf.Session(config=tf.ConfigProto(allow_soft_placement=True))
    with sess.as_default():
        cnn = TextCNN(length, 2, len(vocabulary) + 1, 8, [2, 3, 4], 3, l2_reg_lambda=0.1)
        global_step = tf.Variable(0, name="global_step", trainable=False)
        optimizer = tf.train.AdamOptimizer(1e-2)
        grads_and_vars = optimizer.compute_gradients(cnn.loss)
        train_op = optimizer.apply_gradients(grads_and_vars, global_step=global_step)
        sess.run(tf.global_variables_initializer())
        for _ in range(6):
            feed_dict = {cnn.input_x: x, cnn.input_y: y, cnn.dropout_keep_prob: 1.0}
            _, loss, accuracy = sess.run([train_op, cnn.loss, cnn.accuracy], feed_dict)
            step = tf.train.global_step(sess, global_step)
            print("step {}, loss {:.6g}, acc {:.6g}".format(step, loss, accuracy))

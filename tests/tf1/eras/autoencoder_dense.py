"""A dense autoencoder, RMSProp.  Written as for TensorFlow 0.12."""
from __future__ import division, print_function, absolute_import

import numpy as np
import tensorflow as tf

learning_rate = 0.01
n_input, n_hidden_1, n_hidden_2 = 24, 12, 5
rng = np.random.RandomState(16)
X = tf.placeholder("float", [None, n_input])


def var(*shape):
    return tf.Variable(tf.cast(0.4 * rng.randn(*shape), tf.float32))


weights = {
    'encoder_h1': var(n_input, n_hidden_1),
    'encoder_h2': var(n_hidden_1, n_hidden_2),
    'decoder_h1': var(n_hidden_2, n_hidden_1),
    'decoder_h2': var(n_hidden_1, n_input),
}
biases = {
    'encoder_b1': var(n_hidden_1),
    'encoder_b2': var(n_hidden_2),
    'decoder_b1': var(n_hidden_1),
    'decoder_b2': var(n_input),
}


def encoder(x):
    layer_1 = tf.nn.sigmoid(tf.add(tf.matmul(x, weights['encoder_h1']), biases['encoder_b1']))
    layer_2 = tf.nn.sigmoid(tf.add(tf.matmul(layer_1, weights['encoder_h2']), biases['encoder_b2']))
    return layer_2


def decoder(x):
    layer_1 = tf.nn.sigmoid(tf.add(tf.matmul(x, weights['decoder_h1']), biases['decoder_b1']))
    layer_2 = tf.nn.sigmoid(tf.add(tf.matmul(layer_1, weights['decoder_h2']), biases['decoder_b2']))
    return layer_2


encoder_op = encoder(X)
decoder_op = decoder(encoder_op)
y_pred = decoder_op
y_true = X

cost = tf.reduce_mean(tf.pow(y_true - y_pred, 2))
optimizer = tf.train.RMSPropOptimizer(learning_rate).minimize(cost)
init = tf.global_variables_initializer()

data = rng.rand(40, n_input)
with tf.Session() as sess:
    sess.run(init)
    for epoch in range(5):
        for i in range(4):
            batch_xs = data[10 * i:10 * (i + 1)]
            _, c = sess.run([optimizer, cost], feed_dict={X: batch_xs})
        print("Epoch:", '%04d' % (epoch + 1), "cost=", "{:.6g}".format(c))
    codes = sess.run(encoder_op, feed_dict={X: data[:2]})
    for code in codes:
        print(" ".join("%.6g" % v for v in code))
    encode_decode = sess.run(y_pred, feed_dict={X: data[:1]})
    print("%.6g %.6g" % (encode_decode.mean(), encode_decode.std()))

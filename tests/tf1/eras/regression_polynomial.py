"""Polynomial regression with a regularizer, numpy style.  Written as for TensorFlow 0.12."""
import numpy as np
import tensorflow as tf

num_coeffs = 5
rng = np.random.RandomState(11)
trX = np.linspace(-1, 1, 41).astype(np.float32)
trY_coeffs = [1, 2, -3, 0.4, 1.5]
trY = sum(c * np.power(trX, i) for i, c in enumerate(trY_coeffs))
trY = (trY + rng.randn(*trX.shape) * 0.2).astype(np.float32)

X = tf.placeholder(tf.float32)
Y = tf.placeholder(tf.float32)


def model(X, w):
    terms = []
    for i in range(num_coeffs):
        term = tf.mul(w[i], tf.pow(X, i))
        terms.append(term)
    return tf.add_n(terms)


w = tf.Variable(np.full([num_coeffs], 0.3, np.float32), name="parameters")
y_model = model(X, w)

reg = tf.mul(0.001, tf.reduce_sum(tf.abs(w)) + tf.reduce_sum(tf.square(w)))
cost = tf.reduce_sum(tf.square(Y - y_model)) + reg
train_op = tf.train.AdamOptimizer(0.1).minimize(cost)

with tf.Session() as sess:
    init = tf.global_variables_initializer()
    sess.run(init)

    for epoch in range(20):
        for x, y in zip(np.array_split(trX, 4), np.array_split(trY, 4)):
            sess.run(train_op, feed_dict={X: x, Y: y})
        if epoch % 5 == 4:
            print('%d %.6g' % (epoch, sess.run(cost, feed_dict={X: trX, Y: trY})))
    w_val = sess.run(w)
    print(' '.join('%.6g' % v for v in w_val))

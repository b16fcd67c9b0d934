"""Linear regression by gradient descent, one point at a time.  Written as for TensorFlow 0.6."""
from __future__ import print_function

import numpy
import tensorflow as tf

rng = numpy.random.RandomState(7)

# Parameters
learning_rate = 0.01
training_epochs = 6
display_step = 2

# Training Data
train_X = numpy.linspace(0.5, 9.5, 17).astype('float32')
train_Y = (0.25 * train_X + 0.8 + 0.1 * rng.randn(17)).astype('float32')
n_samples = train_X.shape[0]

# tf Graph Input
X = tf.placeholder("float")
Y = tf.placeholder("float")

# Create Model
W = tf.Variable(float(rng.randn()), name="weight")
b = tf.Variable(float(rng.randn()), name="bias")

activation = tf.add(tf.mul(X, W), b)
cost = tf.reduce_sum(tf.pow(tf.sub(activation, Y), 2)) / (2 * n_samples)  # L2 loss
optimizer = tf.train.GradientDescentOptimizer(learning_rate).minimize(cost)

init = tf.initialize_all_variables()

with tf.Session() as sess:
    sess.run(init)
    for epoch in range(training_epochs):
        for (x, y) in zip(train_X, train_Y):
            sess.run(optimizer, feed_dict={X: x, Y: y})
        if epoch % display_step == 0:
            print("Epoch:", '%04d' % (epoch + 1),
                  "cost=", "{:.6g}".format(sess.run(cost, feed_dict={X: train_X, Y: train_Y})),
                  "W=", "%.6g" % sess.run(W), "b=", "%.6g" % sess.run(b))

    print("Optimization Finished!")
    test_X = numpy.asarray([6.83, 4.668, 8.9, 7.91], 'float32')
    test_Y = numpy.asarray([2.4, 1.9, 3.1, 2.8], 'float32')
    testing_cost = sess.run(
        tf.reduce_sum(tf.pow(activation - Y, 2)) / (2 * test_X.shape[0]),
        feed_dict={X: test_X, Y: test_Y})
    print("Testing cost= %.6g" % testing_cost)

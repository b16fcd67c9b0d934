"""Softmax regression on MNIST files through input_data.  Written as for TensorFlow 0.8.

The digits are made here and written as idx files, so that nothing is downloaded.
"""
from __future__ import print_function

import gzip
import os
import struct
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data


def write_digits(folder, prefix, count, rng):
    labels = rng.randint(0, 10, count).astype(np.uint8)
    images = rng.randint(0, 60, (count, 28, 28)).astype(np.uint8)
    for i, label in enumerate(labels):
        images[i, 2 * label:2 * label + 5, 4:24] += 150
    with gzip.open(os.path.join(folder, prefix + '-images-idx3-ubyte.gz'), 'wb') as f:
        f.write(struct.pack('>IIII', 2051, count, 28, 28) + images.tobytes())
    with gzip.open(os.path.join(folder, prefix + '-labels-idx1-ubyte.gz'), 'wb') as f:
        f.write(struct.pack('>II', 2049, count) + labels.tobytes())


os.chdir(tempfile.mkdtemp())
data_dir = 'MNIST_data'
os.mkdir(data_dir)
generator = np.random.RandomState(1)
write_digits(data_dir, 'train', 5300, generator)
write_digits(data_dir, 't10k', 100, generator)

mnist = input_data.read_data_sets(data_dir, one_hot=True)
print("sizes", mnist.train.num_examples, mnist.validation.num_examples, mnist.test.num_examples)

sess = tf.InteractiveSession()

# Create the model
x = tf.placeholder("float", [None, 784])
W = tf.Variable(tf.zeros([784, 10]))
b = tf.Variable(tf.zeros([10]))
y = tf.nn.softmax(tf.matmul(x, W) + b)

# Define loss and optimizer
y_ = tf.placeholder("float", [None, 10])
cross_entropy = -tf.reduce_sum(y_ * tf.log(y))
train_step = tf.train.GradientDescentOptimizer(0.0005).minimize(cross_entropy)

# Train
tf.initialize_all_variables().run()
np.random.seed(3)  # the batches are drawn by numpy
for i in range(9):
    batch_xs, batch_ys = mnist.train.next_batch(50)
    train_step.run({x: batch_xs, y_: batch_ys})
    print("step %d cross entropy %.6g" % (i, cross_entropy.eval({x: batch_xs, y_: batch_ys})))
print("epochs", mnist.train.epochs_completed)

# Test trained model
correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
accuracy = tf.reduce_mean(tf.cast(correct_prediction, "float"))
print("%.6g" % accuracy.eval({x: mnist.test.images, y_: mnist.test.labels}))

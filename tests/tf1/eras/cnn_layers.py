"""A CNN of tf.layers with a training flag.  Written as for TensorFlow 1.4."""
from __future__ import division, print_function

import numpy as np
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.ERROR)
rng = np.random.RandomState(3)


def init(*shape):
    fan_in = int(np.prod(shape[:-1]))
    return tf.constant_initializer((rng.randn(*shape) / np.sqrt(fan_in)).astype(np.float32))


def cnn_model(features, mode):
    input_layer = tf.reshape(features, [-1, 16, 16, 1])
    conv1 = tf.layers.conv2d(inputs=input_layer, filters=6, kernel_size=[5, 5], padding="same",
                             kernel_initializer=init(5, 5, 1, 6), activation=tf.nn.relu)
    pool1 = tf.layers.max_pooling2d(inputs=conv1, pool_size=[2, 2], strides=2)
    conv2 = tf.layers.conv2d(inputs=pool1, filters=8, kernel_size=3, padding="valid",
                             kernel_initializer=init(3, 3, 6, 8), activation=tf.nn.relu,
                             name="second")
    pool2 = tf.layers.average_pooling2d(conv2, (2, 2), (2, 2))
    flat = tf.layers.flatten(pool2)
    dense = tf.layers.dense(inputs=flat, units=20, activation=tf.nn.relu,
                            kernel_initializer=init(72, 20),
                            kernel_regularizer=lambda w: 1e-3 * tf.nn.l2_loss(w))
    dropout = tf.layers.dropout(inputs=dense, rate=0.4, training=mode)
    return tf.layers.dense(inputs=dropout, units=4, kernel_initializer=init(20, 4))


features = tf.placeholder(tf.float32, [None, 256])
labels = tf.placeholder(tf.int32, [None])
training = tf.placeholder_with_default(False, [])
logits = cnn_model(features, training)

onehot_labels = tf.one_hot(indices=tf.cast(labels, tf.int32), depth=4)
loss = tf.losses.softmax_cross_entropy(onehot_labels=onehot_labels, logits=logits)
total_loss = tf.losses.get_total_loss()
optimizer = tf.train.GradientDescentOptimizer(learning_rate=0.05)
train_op = optimizer.minimize(loss=total_loss, global_step=tf.train.get_or_create_global_step())
predictions = {
    "classes": tf.argmax(input=logits, axis=1),
    "probabilities": tf.nn.softmax(logits, name="softmax_tensor")
}

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for var in tf.trainable_variables():
        print(var.name, var.get_shape().as_list())
    xs = rng.rand(24, 256)
    ys = rng.randint(0, 4, 24)
    xs[np.arange(24), ys * 60] += 5
    for step in range(6):
        _, a, b = sess.run([train_op, loss, total_loss], {features: xs, labels: ys})
        print("step {} loss {:.6g} total {:.6g}".format(step, a, b))
    result = sess.run(predictions, {features: xs[:3]})
    print(result["classes"].tolist())
    for row in result["probabilities"]:
        print(" ".join("%.6g" % p for p in row))

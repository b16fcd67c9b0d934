"""A denoising autoencoder with tied transposed convolutions.  As for TensorFlow 1.0."""
import math

import numpy as np
import tensorflow as tf


def lrelu(x, leak=0.2, name="lrelu"):
    with tf.variable_scope(name):
        f1 = 0.5 * (1 + leak)
        f2 = 0.5 * (1 - leak)
        return f1 * x + f2 * abs(x)


def corrupt(x, noise):
    return tf.multiply(x, tf.cast(noise, tf.float32))


def autoencoder(input_shape=[None, 100], n_filters=[1, 4, 6], filter_sizes=[3, 3, 3]):
    rng = np.random.RandomState(17)
    x = tf.placeholder(tf.float32, input_shape, name='x')
    noise = tf.placeholder(tf.float32, input_shape, name='noise')
    x_dim = np.sqrt(x.get_shape().as_list()[1])
    x_dim = int(x_dim)
    x_tensor = tf.reshape(corrupt(x, noise), [-1, x_dim, x_dim, n_filters[0]])
    current_input = x_tensor

    encoder = []
    shapes = []
    for layer_i, n_output in enumerate(n_filters[1:]):
        n_input = current_input.get_shape().as_list()[3]
        shapes.append(tf.shape(current_input))
        bound = 1.0 / math.sqrt(n_input)
        W = tf.Variable(rng.uniform(-bound, bound, [
            filter_sizes[layer_i], filter_sizes[layer_i], n_input, n_output]).astype('float32'))
        b = tf.Variable(tf.zeros([n_output]))
        encoder.append(W)
        output = lrelu(tf.add(tf.nn.conv2d(
            current_input, W, strides=[1, 2, 2, 1], padding='SAME'), b))
        current_input = output
    z = current_input
    encoder.reverse()
    shapes.reverse()

    for layer_i, shape in enumerate(shapes):
        W = encoder[layer_i]
        b = tf.Variable(tf.zeros([W.get_shape().as_list()[2]]))
        output = lrelu(tf.add(tf.nn.conv2d_transpose(
            current_input, W,
            tf.stack([tf.shape(x)[0], shape[1], shape[2], W.get_shape().as_list()[2]]),
            strides=[1, 2, 2, 1], padding='SAME'), b))
        current_input = output
    y = current_input
    cost = tf.reduce_sum(tf.square(y - tf.reshape(x, tf.shape(y))))
    return {'x': x, 'noise': noise, 'z': z, 'y': y, 'cost': cost}


def test_digits():
    ae = autoencoder()
    optimizer = tf.train.AdamOptimizer(0.01).minimize(ae['cost'])
    sess = tf.Session()
    sess.run(tf.global_variables_initializer())
    rng = np.random.RandomState(18)
    data = rng.rand(12, 100)
    data = data - data.mean(axis=0)
    mask = rng.rand(12, 100) > 0.2
    for epoch_i in range(6):
        sess.run(optimizer, feed_dict={ae['x']: data, ae['noise']: mask})
        cost = sess.run(ae['cost'], feed_dict={ae['x']: data, ae['noise']: np.ones_like(data)})
        print("%d %.6g" % (epoch_i, cost))
    z, y = sess.run([ae['z'], ae['y']], feed_dict={ae['x']: data, ae['noise']: mask})
    print(z.shape, y.shape)
    print("%.6g %.6g" % (np.abs(z).sum(), np.abs(y).sum()))


if __name__ == '__main__':
    test_digits()

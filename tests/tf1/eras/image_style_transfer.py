"""An image optimized for content, style and smoothness.  Written as for TensorFlow 0.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

CONTENT_WEIGHT, STYLE_WEIGHT, TV_WEIGHT = 5.0, 40.0, 2.0
rng = np.random.RandomState(41)
LAYERS = ('conv1_1', 'relu1_1', 'pool1', 'conv2_1', 'relu2_1')
KERNELS = {'conv1_1': 0.3 * rng.randn(3, 3, 3, 6), 'conv2_1': 0.2 * rng.randn(3, 3, 6, 8)}


def net(input_image):
    network = {}
    current = input_image
    for name in LAYERS:
        kind = name[:4]
        if kind == 'conv':
            conv = tf.nn.conv2d(current, tf.constant(KERNELS[name], tf.float32),
                                strides=(1, 1, 1, 1), padding='SAME')
            current = tf.nn.bias_add(conv, tf.constant([0.05] * KERNELS[name].shape[-1]))
        elif kind == 'relu':
            current = tf.nn.relu(current)
        elif kind == 'pool':
            current = tf.nn.avg_pool(current, ksize=(1, 2, 2, 1), strides=(1, 2, 2, 1),
                                     padding='SAME')
        network[name] = current
    return network


def _tensor_size(tensor):
    size = 1
    for d in tensor.get_shape():
        size *= d.value
    return size


content = rng.uniform(0, 1, (1, 12, 12, 3)).astype(np.float32)
style = np.tile(rng.uniform(0, 1, (1, 3, 3, 3)), (1, 4, 4, 1)).astype(np.float32)
content_features, style_features = {}, {}

# compute content features in feedforward mode
g = tf.Graph()
with g.as_default(), g.device('/cpu:0'), tf.Session() as sess:
    image = tf.placeholder('float', shape=content.shape)
    content_features['relu2_1'] = net(image)['relu2_1'].eval(feed_dict={image: content})

# compute style features in feedforward mode
g = tf.Graph()
with g.as_default(), g.device('/cpu:0'), tf.Session() as sess:
    image = tf.placeholder('float', shape=style.shape)
    layers = net(image)
    for layer in ('relu1_1', 'relu2_1'):
        features = layers[layer].eval(feed_dict={image: style})
        features = np.reshape(features, (-1, features.shape[3]))
        style_features[layer] = np.matmul(features.T, features) / features.size

# make stylized image using backpropagation
with tf.Graph().as_default():
    image = tf.Variable(0.5 + 0.1 * rng.randn(*content.shape).astype(np.float32))
    layers = net(image)
    content_loss = CONTENT_WEIGHT * (
        2 * tf.nn.l2_loss(layers['relu2_1'] - content_features['relu2_1'])
        / content_features['relu2_1'].size)
    style_losses = []
    for style_layer in ('relu1_1', 'relu2_1'):
        layer = layers[style_layer]
        _, height, width, number = map(lambda i: i.value, layer.get_shape())
        size = height * width * number
        feats = tf.reshape(layer, (-1, number))
        gram = tf.matmul(tf.transpose(feats), feats) / size
        style_gram = style_features[style_layer]
        style_losses.append(2 * tf.nn.l2_loss(gram - style_gram) / style_gram.size)
    style_loss = STYLE_WEIGHT * sum(style_losses)
    tv_y_size = _tensor_size(image[:, 1:, :, :])
    tv_x_size = _tensor_size(image[:, :, 1:, :])
    tv_loss = TV_WEIGHT * 2 * (
        (tf.nn.l2_loss(image[:, 1:, :, :] - image[:, :11, :, :]) / tv_y_size)
        + (tf.nn.l2_loss(image[:, :, 1:, :] - image[:, :, :11, :]) / tv_x_size))
    loss = content_loss + style_loss + tv_loss
    train_step = tf.train.AdamOptimizer(0.02).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.initialize_all_variables())
        for i in range(8):
            train_step.run()
            print('Iteration %d: content %.6g style %.6g tv %.6g total %.6g' % (
                i, content_loss.eval(), style_loss.eval(), tv_loss.eval(), loss.eval()))
        result = image.eval()
        print('%.6g %.6g' % (result.mean(), result.std()))

"""Depthwise, separable and dilated convolutions, relu6.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import numpy as np
import tensorflow as tf


class MobileBlockNet(object):
    """A tiny MobileNet."""

    def __init__(self, num_classes=4, seed=15):
        self.rng = np.random.RandomState(seed)
        self.num_classes = num_classes
        self.images = tf.placeholder(tf.float32, [None, 12, 12, 3], name='images')
        self.labels = tf.placeholder(tf.int32, [None], name='labels')
        self._build()

    def _weight(self, name, shape):
        scale = np.sqrt(2.0 / np.prod(shape[:-1]))
        return tf.get_variable(
            name, dtype=tf.float32,
            initializer=tf.constant((scale * self.rng.randn(*shape)).astype(np.float32)))

    def _build(self):
        with tf.variable_scope('stem'):
            net = tf.nn.conv2d(self.images, self._weight('w', [3, 3, 3, 6]), [1, 2, 2, 1], 'SAME')
            net = tf.nn.relu6(net)
        with tf.variable_scope('depthwise'):
            net = tf.nn.depthwise_conv2d(net, self._weight('w', [3, 3, 6, 2]), [1, 1, 1, 1], 'SAME')
            net = tf.nn.leaky_relu(net, alpha=0.1)
        with tf.variable_scope('separable'):
            net = tf.nn.separable_conv2d(net, self._weight('dw', [3, 3, 12, 1]),
                                         self._weight('pw', [1, 1, 12, 8]), [1, 1, 1, 1], 'SAME')
            net = tf.nn.crelu(net)
        with tf.variable_scope('dilated'):
            net = tf.nn.atrous_conv2d(net, self._weight('w', [3, 3, 16, 8]), rate=2, padding='SAME')
            net = tf.nn.selu(net)
        with tf.variable_scope('dilated2'):
            net = tf.nn.convolution(net, self._weight('w', [2, 2, 8, 8]), 'VALID',
                                    dilation_rate=[2, 2])
        self.pooled = tf.nn.avg_pool(net, [1, 4, 4, 1], [1, 1, 1, 1], 'VALID')
        net = tf.squeeze(self.pooled, [1, 2])
        self.logits = tf.matmul(net, self._weight('fc', [8, self.num_classes]))
        self.loss = tf.losses.sparse_softmax_cross_entropy(self.labels, self.logits)
        self.train_op = tf.train.RMSPropOptimizer(0.002, decay=0.9).minimize(self.loss)


def main():
    net = MobileBlockNet()
    xs = net.rng.rand(8, 12, 12, 3)
    ys = net.rng.randint(0, 4, 8)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(5):
            loss, _ = sess.run([net.loss, net.train_op], {net.images: xs, net.labels: ys})
            print('step %d: %.6g' % (step, loss))
        logits = sess.run(net.logits, {net.images: xs})
        print('logits', ' '.join('%.6g' % v for v in logits[0]))


if __name__ == '__main__':
    main()

"""HParams that choose a model.  Written as for TensorFlow 1.4."""
from __future__ import print_function

import json

import numpy as np
import tensorflow as tf

hparams = tf.contrib.training.HParams(
    learning_rate=0.1, num_hidden_units=[6, 4], optimizer='sgd', use_bias=True, steps=5,
    activation='relu')
hparams.parse('learning_rate=0.05,num_hidden_units=[8,5],activation=tanh')
hparams.add_hparam('decay', 0.9)
hparams.set_hparam('steps', 4)
print(json.dumps(hparams.values(), sort_keys=True))
print('decay' in hparams, hparams.get('missing', 3))
try:
    hparams.parse('steps=many')
except ValueError as e:
    print('Could not parse' in str(e))
try:
    hparams.parse('unknown=1')
except ValueError as e:
    print('Unknown hyperparameter' in str(e))


def build(hparams, rng):
    activation = getattr(tf.nn, hparams.activation)
    x = net = tf.placeholder(tf.float32, [None, 3])
    for i, units in enumerate(hparams.num_hidden_units + [1]):
        with tf.variable_scope('layer_%d' % i):
            w = tf.get_variable('w', initializer=(
                0.5 * rng.randn(net.shape[1].value, units)).astype(np.float32))
            net = tf.matmul(net, w)
            if hparams.use_bias:
                net += tf.get_variable('b', [units], initializer=tf.zeros_initializer())
            if units != 1:
                net = activation(net)
    loss = tf.reduce_mean(tf.square(net - tf.reduce_sum(x, 1, keep_dims=True)))
    step = tf.train.create_global_step()
    rate = tf.train.exponential_decay(hparams.learning_rate, step, 1, hparams.decay)
    opt = {'sgd': tf.train.GradientDescentOptimizer, 'adam': tf.train.AdamOptimizer}
    return x, loss, opt[hparams.optimizer](rate).minimize(loss, step)


for override in ('', 'optimizer=adam', 'use_bias=false,num_hidden_units=[4]'):
    hparams.parse(override)
    with tf.Graph().as_default(), tf.Session() as sess:
        rng = np.random.RandomState(67)
        x, loss, train_op = build(hparams, rng)
        sess.run(tf.global_variables_initializer())
        data = rng.randn(10, 3)
        for step in range(hparams.steps):
            value, _ = sess.run([loss, train_op], {x: data})
            print('%s step %d %.6g' % (override or 'default', step, value))
again = tf.contrib.training.HParams(**json.loads(hparams.to_json()))
print(again.num_hidden_units, again.use_bias, '%.6g' % again.learning_rate)

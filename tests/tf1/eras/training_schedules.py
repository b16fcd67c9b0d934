"""Learning rates by schedule with many optimizers.  Written as for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(63)
xs = rng.randn(30, 4).astype(np.float32)
ys = (np.tanh(xs.dot(rng.randn(4, 1))) + 0.5).astype(np.float32)
start = (0.2 * rng.randn(4, 1)).astype(np.float32)

SCHEDULES = {
    'exponential': lambda step: tf.train.exponential_decay(0.1, step, 3, 0.8),
    'piecewise': lambda step: tf.train.piecewise_constant(step, [2, 4], [0.1, 0.05, 0.01]),
    'polynomial': lambda step: tf.train.polynomial_decay(0.1, step, 5, 0.01, power=2.0),
    'cycle': lambda step: tf.train.polynomial_decay(0.1, step, 3, 0.02, cycle=True),
    'inverse': lambda step: tf.train.inverse_time_decay(0.1, step, 2, 0.5, staircase=True),
    'natural': lambda step: tf.train.natural_exp_decay(0.1, step, 2, 0.3),
    'cosine': lambda step: tf.train.cosine_decay(0.1, step, 6, alpha=0.1),
    'restarts': lambda step: tf.train.cosine_decay_restarts(0.1, step, 2),
}
OPTIMIZERS = [
    tf.train.GradientDescentOptimizer,
    lambda lr: tf.train.MomentumOptimizer(lr, 0.9, use_nesterov=True),
    tf.train.AdamOptimizer,
    tf.train.AdagradOptimizer,
    lambda lr: tf.train.RMSPropOptimizer(lr, momentum=0.5, centered=True),
    lambda lr: tf.train.AdadeltaOptimizer(lr * 10),
    lambda lr: tf.train.FtrlOptimizer(lr, l1_regularization_strength=0.01),
    lambda lr: tf.train.ProximalAdagradOptimizer(lr, l1_regularization_strength=0.01),
]

for (name, schedule), optimizer in zip(sorted(SCHEDULES.items()), OPTIMIZERS):
    tf.reset_default_graph()
    step = tf.train.get_or_create_global_step()
    rate = schedule(step)
    with tf.variable_scope('linear', use_resource=name in ('cosine', 'piecewise')):
        w = tf.get_variable('w', initializer=start)
        b = tf.get_variable('b', [], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(ys, tf.matmul(xs, w) + b)
    opt = optimizer(rate)
    train_op = opt.minimize(loss, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(6):
            r, value = sess.run([rate, loss])
            sess.run(train_op)
            print('%s rate %.6g loss %.6g' % (name, r, value))
        print(opt.get_slot_names(), ' '.join('%.6g' % v for v in sess.run(w).ravel()))

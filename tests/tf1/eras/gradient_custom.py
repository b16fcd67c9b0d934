"""tf.custom_gradient, stop_gradient, hessians, gradients of sums.  As for TensorFlow 1.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(60)


@tf.custom_gradient
def log1pexp(x):
    e = tf.exp(x)

    def grad(dy):
        return dy * (1 - 1 / (1 + e))

    return tf.log(1 + e), grad


@tf.custom_gradient
def flip_gradient(x):
    """Identity whose gradient changes its sign, as domain adaptation wants it."""
    return tf.identity(x), lambda dy: -0.3 * dy


@tf.custom_gradient
def clipped_product(a, b):
    def grad(dy):
        return tf.clip_by_norm(dy * b, 1.0), tf.clip_by_norm(dy * a, 1.0)

    return a * b, grad


def show(name, values):
    print(name, ' '.join('%.6g' % v for v in np.ravel(values)))


x = tf.constant([-2.0, 0.5, 30.0, 100.0])
y = log1pexp(x)
w = tf.get_variable('w', initializer=rng.randn(3, 3).astype(np.float32))
v = tf.get_variable('v', initializer=rng.randn(3).astype(np.float32))
h = tf.tanh(tf.tensordot(w, v, 1))
domain = tf.reduce_sum(tf.square(flip_gradient(h)))
task = tf.reduce_sum(clipped_product(h, tf.nn.softplus(v)))
loss = domain + task + 0.1 * tf.reduce_sum(tf.stop_gradient(h) * v)
opt = tf.train.ProximalGradientDescentOptimizer(0.1, l2_regularization_strength=0.01)
grads_and_vars = opt.compute_gradients(loss)
capped = [(tf.clip_by_average_norm(g, 0.3), var) for g, var in grads_and_vars]
train_op = opt.apply_gradients(capped)

quadratic = tf.reduce_sum(tf.pow(v, 3)) + v[0] * v[1]
hessian, = tf.hessians(quadratic, [v])
jacobian = tf.stack([tf.gradients(h[i], v)[0] for i in range(3)])
weighted, = tf.gradients(h, v, grad_ys=tf.constant([1.0, 0.0, -2.0]))
unconnected = tf.gradients(loss, [x])[0]

with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    show('value', sess.run(y)[:3])
    show('gradient', sess.run(tf.gradients(y, x)[0])[:3])
    for step in range(5):
        a, b, _ = sess.run([domain, task, train_op])
        print('step %d domain %.6g task %.6g' % (step, a, b))
    show('hessian', sess.run(hessian))
    show('jacobian', sess.run(jacobian))
    show('weighted', sess.run(weighted))
    print(unconnected)

"""cond, case, while_loop, TensorArray, map_fn, foldl, scan.  Written as for TensorFlow 1.0."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(59)
x = tf.placeholder(tf.float32, [3], name='x')
w = tf.Variable(0.5 * rng.randn(3, 3).astype(np.float32))


def body(i, h, total, ta):
    h = tf.tanh(tf.matmul(h, w) + tf.expand_dims(x, 0))
    ta = ta.write(i, tf.reduce_max(h))
    return i + 1, h, total + tf.reduce_sum(h), ta


steps = tf.placeholder_with_default(4, [])
ta = tf.TensorArray(tf.float32, size=0, dynamic_size=True, clear_after_read=False)
_, final, total, ta = tf.while_loop(
    lambda i, *_: i < steps, body, [tf.constant(0), tf.zeros([1, 3]), tf.constant(0.0), ta],
    parallel_iterations=4, swap_memory=True)
history = ta.stack()
grads = tf.gradients(total + tf.reduce_sum(history), [w, x])

branch = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.reduce_mean(tf.exp(x)),
                 lambda: -tf.reduce_mean(tf.square(x) * w[0]))
branch_grad, = tf.gradients(branch, [x])
kind = tf.case([(tf.reduce_max(x) > 2, lambda: tf.constant('large')),
                (tf.reduce_min(x) < -2, lambda: tf.constant('small'))],
               default=lambda: tf.constant('between'), exclusive=False)
mapped = tf.map_fn(lambda v: tf.cond(v > 0, lambda: v * v, lambda: tf.exp(v)), x)
both = tf.map_fn(lambda p: (p[0] + p[1], p[0] * p[1]), (x, w[0]), dtype=(tf.float32, tf.float32))
folded = tf.foldl(lambda a, v: a * 0.5 + v, x, initializer=1.0)
folded_right = tf.foldr(lambda a, v: a * 0.5 + v, x, initializer=1.0)
fibonacci = tf.scan(lambda a, _: (a[1], a[0] + a[1]), tf.range(8),
                    initializer=(tf.constant(0), tf.constant(1)))[0]
cumulated = tf.scan(lambda a, v: a * w[1, 1] + v, x)
scan_grad, = tf.gradients(cumulated[-1], [w])


def collatz(n):
    return tf.while_loop(
        lambda n, c: tf.greater(n, 1),
        lambda n, c: (tf.cond(tf.equal(tf.mod(n, 2), 0), lambda: n // 2, lambda: 3 * n + 1), c + 1),
        [n, 0])[1]


lengths = tf.map_fn(collatz, tf.constant([1, 6, 7, 27]))


def text(value):
    return ' '.join('%.6g' % v for v in np.ravel(value))


with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for values in ([0.3, -0.2, 0.9], [-2.5, 0.1, 0.4], [3.0, 0.5, 0.25]):
        feed = {x: values}
        print(text(sess.run(final, feed)), text(sess.run(total, feed)))
        print('history', text(sess.run(history, dict(feed, **{steps.name: 6}))))
        for g in sess.run(grads, feed):
            print('gradient', text(g))
        print('branch', text(sess.run(branch, feed)), text(sess.run(branch_grad, feed)))
        print(sess.run(kind, feed).decode(), text(sess.run(mapped, feed)))
        print('both', text(sess.run(both, feed)))
        print('folds', text(sess.run([folded, folded_right], feed)))
        print('scan', text(sess.run(cumulated, feed)), text(sess.run(scan_grad, feed)[1]))
    print(sess.run(fibonacci).tolist(), sess.run(lengths).tolist())

"""partial_run, fetches by name, runs without a feed.  Written as for TensorFlow 0.12."""
from __future__ import print_function

import numpy as np
import tensorflow as tf

a = tf.placeholder(tf.float32, shape=[], name='a')
b = tf.placeholder(tf.float32, shape=[], name='b')
c = tf.placeholder(tf.float32, shape=[], name='c')
r1 = tf.add(a, b)
r2 = tf.mul(r1, c)

with tf.Session() as sess:
    h = sess.partial_run_setup([r1, r2], [a, b, c])
    res = sess.partial_run(h, r1, feed_dict={a: 1.5, b: 2.25})
    print('%.6g' % res)
    res = sess.partial_run(h, r2, feed_dict={c: res})
    print('%.6g' % res)
    try:
        sess.partial_run(h, r2)
    except (RuntimeError, tf.errors.InvalidArgumentError):
        print('already fetched')
    try:
        sess.run(r1, {a: 1.0})
    except tf.errors.InvalidArgumentError as error:
        print('b' in str(error), error.error_code == tf.errors.INVALID_ARGUMENT)

    # A network whose error is computed outside of it, between two parts of one step.
    rng = np.random.RandomState(57)
    x = tf.placeholder(tf.float32, [4, 3])
    target = tf.placeholder(tf.float32, [4, 2])
    w = tf.Variable(rng.randn(3, 2).astype(np.float32))
    out = tf.tanh(tf.matmul(x, w))
    loss = tf.reduce_sum(tf.square(tf.sub(out, target)))
    grad, = tf.gradients(loss, [w])
    sess.run(w.initializer)
    data = rng.randn(4, 3)
    for step in range(4):
        h = sess.partial_run_setup([out, loss, grad], [x, target])
        y = sess.partial_run(h, out, feed_dict={x: data})
        value, g = sess.partial_run(h, [loss, grad], feed_dict={target: np.sign(y) * 0.5})
        print('step %d out %.6g loss %.6g' % (step, np.abs(y).sum(), value))
        w.load(w.eval() - 0.1 * g, sess)
    print(' '.join('%.6g' % v for v in w.eval().ravel()))

    # Structures of fetches, by name and by value; everything may be fed.
    print('%.6g' % sess.run('Mul:0', {'a:0': 2, b: 3, c: 4}))
    print('%.6g' % sess.run(r2, {r1: 10.0, c: 0.5}))
    fetched = sess.run({'pair': [r1, (r2, w)], 'none': tf.no_op()}, {a: 1, b: 1, c: 3})
    print(fetched['none'], '%.6g %.6g' % (fetched['pair'][0], fetched['pair'][1][0]))
    handle = sess.run(tf.get_session_handle(r1), {a: 4, b: 5})
    holder, tensor = tf.get_session_tensor(handle.handle, tf.float32)
    print('%.6g' % sess.run(tf.sqrt(tensor), {holder: handle.handle}))

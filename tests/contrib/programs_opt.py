"""Programs of ``tf.contrib.opt`` (``recorded``)."""

import os
import tempfile

import numpy as np

from tests.contrib.recorded import names, refused

STEPS = 4


def _start(seed, *shape):
    return np.random.RandomState(seed).uniform(-1, 1, size=shape).astype("float32")


def _trained(tf, make, use_resource, table=(5, 3)):
    """Names of variables, and their values after some steps with dense and sparse gradients."""
    with tf.Graph().as_default():
        scale = tf.placeholder(tf.float32, [])
        dense = tf.Variable(_start(1, 3, 2), name="W", use_resource=use_resource)
        rows = tf.Variable(_start(2, *table), name="E", use_resource=use_resource)
        outputs = tf.matmul(tf.gather(rows, [4, 1, 4]), dense)
        loss = tf.reduce_sum(tf.square(outputs - scale))
        step = tf.train.get_or_create_global_step()
        optimizer = make(step)
        op = optimizer.minimize(loss, global_step=step)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for i in range(STEPS):
                sess.run(op, {scale: 0.3 * i})
            found = dict(zip(names(tf.global_variables()), sess.run(tf.global_variables())))
        return [op.name, names(tf.global_variables()), found]


def _both(tf, make):
    return [_trained(tf, make, use_resource) for use_resource in (False, True)]


def case_adamax(tf):
    return _both(tf, lambda step: tf.contrib.opt.AdaMaxOptimizer(0.1, 0.8, 0.9))


def case_nadam(tf):
    return _both(tf, lambda step: tf.contrib.opt.NadamOptimizer(0.1, 0.8, 0.9, name="Nadam"))


def case_lazy_adam(tf):
    return _both(tf, lambda step: tf.contrib.opt.LazyAdamOptimizer(0.1, 0.8, 0.9))


def case_adam_gs(tf):
    return _both(tf, lambda step: tf.contrib.opt.AdamGSOptimizer(step, 0.1, 0.8, 0.9))


def case_lazy_adam_gs(tf):
    return _both(tf, lambda step: tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1, 0.8, 0.9))


def case_add_sign(tf):
    return _trained(tf, lambda step: tf.contrib.opt.AddSignOptimizer(0.05, 0.8), False)


def case_power_sign(tf):
    def decay(step):
        return 1.0 / (1.0 + tf.cast(step, tf.float32))

    return _trained(
        tf, lambda step: tf.contrib.opt.PowerSignOptimizer(0.05, 2.0, 0.7, decay), False
    )


def case_lars(tf):
    opt = tf.contrib.opt
    found = _both(tf, lambda step: opt.LARSOptimizer(0.2, eeta=0.1))
    found += _both(tf, lambda step: opt.LARSOptimizer(
        0.02, 0.8, 0.01, 0.2, 1e-3, "own", ["W"], True))  # fmt: skip
    found.append(refused(lambda: opt.LARSOptimizer(0.1, momentum=-1.0), "momentum should be"))
    found.append(refused(lambda: opt.LARSOptimizer(0.1, weight_decay=-1.0), "weight_decay should"))
    return found


def _decayed(tf, make):
    """As ``_both``, of given gradients: a decay of weights does not wait for what reads them."""
    found = []
    for use_resource in (False, True):
        with tf.Graph().as_default(), tf.Session() as sess:
            w = tf.Variable(_start(1, 3, 2), name="W", use_resource=use_resource)
            e = tf.Variable(_start(2, 5, 3), name="E", use_resource=use_resource)
            grad = tf.constant(_start(3, 3, 2))
            rows = tf.IndexedSlices(tf.constant(_start(4, 2, 3)), tf.constant([4, 1]), [5, 3])
            step = tf.train.get_or_create_global_step()
            op = make(step).apply_gradients([(grad, w), (rows, e)], global_step=step)
            sess.run(tf.global_variables_initializer())
            for _ in range(STEPS):
                sess.run(op)
            found.append([op.name, names(tf.global_variables()), sess.run(tf.global_variables())])
    return found


def case_adam_w(tf):
    return _decayed(tf, lambda step: tf.contrib.opt.AdamWOptimizer(0.05, 0.1))


def case_momentum_w(tf):
    return _decayed(tf, lambda step: tf.contrib.opt.MomentumWOptimizer(0.05, 0.05, 0.9))


def case_extended(tf):
    made = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.AdagradOptimizer)
    assert issubclass(made, tf.contrib.opt.DecoupledWeightDecayExtension)
    found = _decayed(tf, lambda step: made(weight_decay=0.1, learning_rate=0.2))
    with tf.Graph().as_default(), tf.Session() as sess:
        one = tf.Variable([1.0], name="one", use_resource=True)
        two = tf.Variable([1.0], name="two", use_resource=True)
        optimizer = made(weight_decay=0.1, learning_rate=0.0)
        pairs = [(tf.constant([1.0]), one), (tf.constant([2.0]), two)]
        ops = [
            optimizer.apply_gradients(pairs, decay_var_list=[two]),
            optimizer.minimize(one * two, decay_var_list=[two]),
        ]
        sess.run(tf.global_variables_initializer())
        for op in ops:
            sess.run(op)
            found.append(sess.run([one, two]))
    return found


def case_reg_adagrad(tf):
    opt = tf.contrib.opt
    found = _both(tf, lambda step: opt.RegAdagradOptimizer(0.3))
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable([1.0, 2.0], name="w", use_resource=True)
        optimizer = opt.RegAdagradOptimizer(0.3)
        with optimizer.avoid_updating_slots():
            op = optimizer.minimize(tf.reduce_sum(w * w))
        sess.run(tf.global_variables_initializer())
        sess.run(op)
        found.append(sess.run([w, optimizer.get_slot(w, "accumulator")]))
    return found


def case_shampoo(tf):
    opt = tf.contrib.opt
    found = [
        _trained(tf, lambda step: opt.ShampooOptimizer(step, learning_rate=0.1, epsilon=0.1), False)
    ]
    found.append(_trained(tf, lambda step: opt.ShampooOptimizer(
        step, 2, 0.5, 0.5, 0.9, 0.8, 0.1, epsilon=0.1), False))  # fmt: skip
    found.append(_trained(tf, lambda step: opt.ShampooOptimizer(
        step, 2, learning_rate=0.1, epsilon=0.1), False))  # fmt: skip
    found.append(_trained(tf, lambda step: opt.ShampooOptimizer(
        step, learning_rate=lambda s: 0.1 / s, svd_interval=2, epsilon=0.1), False))  # fmt: skip
    return found


def case_moving_average(tf):
    opt = tf.contrib.opt
    w = tf.Variable([1.0, 2.0], name="w", use_resource=True)
    optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 0.5)
    found = [refused(optimizer.swapping_saver, "Must call apply_gradients or minimize")]
    op = optimizer.minimize(tf.reduce_sum(w * w))
    found += [op.name, names(tf.global_variables())]
    saver = optimizer.swapping_saver()
    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(3):
            sess.run(op)
        saver.save(sess, path)
        found.append(sess.run(tf.global_variables()))
        reader = tf.train.NewCheckpointReader(path)
        found += [reader.get_tensor("w"), reader.get_tensor("w/ExponentialMovingAverage")]
        sess.run(w.assign([0.0, 0.0]))
        saver.restore(sess, path)
        found.append(sess.run(tf.global_variables()))
    found.append(refused(lambda: optimizer.swapping_saver([w]), "This breaks MovingAverage"))
    return found


def case_variable_clipping(tf):
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable(_start(1, 3, 2), name="W")
        e = tf.Variable(_start(2, 5, 3), name="E")
        loss = tf.reduce_sum(tf.square(tf.matmul(tf.gather(e, [4, 1]), w)))
        optimizer = tf.contrib.opt.VariableClippingOptimizer(
            tf.train.AdamOptimizer(0.1), {w: [0], e: [1]}, 0.5)  # fmt: skip
        op = optimizer.minimize(loss)
        sess.run(tf.global_variables_initializer())
        sess.run(op)
        return [op.name, optimizer.get_slot(w, "m").name, optimizer.get_slot_names(),
                sess.run([w, e])]  # fmt: skip


def case_stale_gradients(tf):
    step = tf.train.get_or_create_global_step()
    w = tf.Variable([1.0], name="w", use_resource=True)
    optimizer = tf.contrib.opt.DropStaleGradientOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 0)  # fmt: skip
    pairs = optimizer.compute_gradients(tf.reduce_sum(w * w))
    op = optimizer.apply_gradients(pairs, global_step=step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = [sess.run(op), sess.run([w, step])]
        found += [sess.run(op, {optimizer._local_step: -1}), sess.run([w, step])]
    return found + [names(tf.global_variables())]


def case_multitask(tf):
    opt = tf.contrib.opt
    w = tf.Variable([1.0], name="w", use_resource=True)
    v = tf.Variable([1.0], name="v", use_resource=True)
    on = tf.placeholder(tf.float32, [])
    optimizer = opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.1, 0.9))
    op = optimizer.minimize(tf.reduce_sum(w * w) + on * tf.reduce_sum(v))
    pairs, norm = opt.clip_gradients_by_global_norm([(w * 3.0, w), (on * v, v), (None, v)], 1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        found = []
        for value in (1.0, 0.0, 1.0):
            sess.run(op, {on: value})
            found.append(sess.run([w, v]))
        found.append(sess.run([pairs[0][0], pairs[1][0], norm], {on: 0.0}))
    return found + [refused(lambda: opt.MultitaskOptimizerWrapper(w), "must be an instance")]

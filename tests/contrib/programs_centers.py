"""Programs of the optimizers of ``tf.contrib.opt`` that meet a center (``recorded``)."""

import os
import tempfile

import numpy as np

from tests.contrib.recorded import names, refused


def _wired(tf):
    return {
        op.name: " ".join([op.type] + [t.name for t in op.inputs]
                          + sorted("^" + c.name for c in op.control_inputs))
        for op in tf.get_default_graph().get_operations()
        if not op.name.startswith("gradients")
    }  # fmt: skip


def _trained(tf, getter, make, steps=7):
    with tf.Graph().as_default():
        scale = tf.placeholder(tf.float32, [])
        step = tf.train.get_or_create_global_step()
        with tf.variable_scope("", custom_getter=getter):
            v = tf.get_variable("v", initializer=np.array([[1.0, 2.0]], "float32"))
            u = tf.get_variable("u", initializer=np.array([[0.5], [0.25]], "float32"))
            tf.get_variable("kept", [2], trainable=False, initializer=tf.ones_initializer(),
                            collections=[tf.GraphKeys.LOCAL_VARIABLES])  # fmt: skip
        loss = tf.reduce_sum(tf.square(tf.matmul(v, u) - scale))
        op, hook = make(loss, step)
        hook.begin()
        keys = ("variables", "local_variables", "trainable_variables")
        found = [op.name, _wired(tf), [names(tf.get_collection(key)) for key in keys]]
        with tf.Session() as sess:
            sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            hook.after_create_session(sess, None)
            for i in range(steps):
                sess.run(op, {scale: 0.3 * i})
                values = sess.run(tf.global_variables() + tf.local_variables())
            return found + [values]


def case_elastic_average(tf):
    opt = tf.contrib.opt

    def trained(inner, **how):
        getter = opt.ElasticAverageCustomGetter(worker_device="")

        def make(loss, step):
            optimizer = opt.ElasticAverageOptimizer(inner(), 1, getter, communication_period=3,
                                                    **how)  # fmt: skip
            op = optimizer.minimize(loss, global_step=step)
            return op, optimizer.make_session_run_hook(True, 0)

        return _trained(tf, getter, make)

    return [
        trained(lambda: tf.train.GradientDescentOptimizer(0.1), rho=0.5),
        trained(lambda: tf.train.GradientDescentOptimizer(0.1), moving_rate=0.2),
        trained(lambda: tf.train.AdamOptimizer(0.1), rho=0.1),
        refused(lambda: trained(lambda: tf.train.AdamOptimizer(0.1)), "_learning_rate"),
    ]


def case_synchronous(tf):
    opt = tf.contrib.opt
    getter = opt.ElasticAverageCustomGetter(worker_device="")
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0])
    optimizer = opt.ElasticAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.1), 3, getter, synchronous=True)  # fmt: skip
    optimizer.minimize(tf.reduce_sum(v * v), tf.train.get_or_create_global_step())
    optimizer.get_init_op(1)
    return _wired(tf)


def case_swapping_saver(tf):
    opt = tf.contrib.opt
    getter = opt.ElasticAverageCustomGetter(worker_device="")
    with tf.variable_scope("", custom_getter=getter):
        v = tf.get_variable("v", initializer=[1.0])
    optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, getter, 1)
    op = optimizer.minimize(tf.reduce_sum(v * v), tf.train.get_or_create_global_step())
    saver = optimizer.swapping_saver()
    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        sess.run(op)
        saver.save(sess, path)
        reader = tf.train.NewCheckpointReader(path)
        return [sorted(reader.get_variable_to_shape_map()), reader.get_tensor("v"), sess.run(v)]


def case_model_average(tf):
    opt = tf.contrib.opt
    getter = opt.ModelAverageCustomGetter(worker_device="")

    def make(loss, step):
        optimizer = opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, True,
                                              getter, interval_steps=3)  # fmt: skip
        return optimizer.minimize(loss, global_step=step), optimizer.make_session_run_hook()

    trained = _trained(tf, getter, make)
    found = trained[:1] + trained[2:]
    v = tf.Variable([1.0])
    optimizer = opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, True, getter)
    found.append(refused(lambda: optimizer.apply_gradients([]), "Must supply at least one"))
    found.append(refused(lambda: optimizer.apply_gradients([(v, v)]), "Global step is required"))
    return found


def case_accumulated_gradients(tf):
    opt = tf.contrib.opt

    def trained(inner):
        getter = opt.AGNCustomGetter(worker_device="")

        def make(loss, step):
            optimizer = opt.AGNOptimizer(inner(), 1, getter, communication_period=3)
            op = optimizer.minimize(loss, global_step=step)
            return op, optimizer.make_session_run_hook(True, 0)

        return _trained(tf, getter, make)

    return [trained(lambda: tf.train.GradientDescentOptimizer(0.1)),
            trained(lambda: tf.train.AdamOptimizer(0.1))]  # fmt: skip


def case_ggt(tf):
    def trained(use_resource, names_, **how):
        with tf.Graph().as_default(), tf.Session() as sess:
            scale = tf.placeholder(tf.float32, [])
            first, second = (
                tf.get_variable(name, initializer=np.array(value, "float32"),
                                use_resource=use_resource)
                for name, value in zip(names_, ([[1.0, 2.0]], [[0.5, 0.1], [0.25, -0.3]]))
            )  # fmt: skip
            loss = tf.reduce_sum(tf.square(tf.matmul(first, second) - scale))
            optimizer = tf.contrib.opt.GGTOptimizer(0.1, **how)
            op = optimizer.minimize(loss, global_step=tf.train.get_or_create_global_step())
            found = [op.name, {} if use_resource else _wired(tf), names(tf.global_variables())]
            sess.run(tf.global_variables_initializer())
            for i in range(5):
                sess.run(op, {scale: 0.3 * i})
                found.append(sess.run([first, second]))
            return found

    # Small singular values would be found with as many digits as float32 has, by another method.
    firm = {"svd_eps": 0.05, "sigma_eps": 0.5}
    return [trained(False, ["b", "a"], window=3, **firm),
            trained(True, ["a", "b"], beta1=0.5, window=2, **firm),
            trained(False, ["a", "b"], window=4, eps=1e6, **firm)]  # fmt: skip


def case_ggt_stops(tf):
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    twice = v * 2.0
    optimizer = tf.contrib.opt.GGTOptimizer()
    found = [optimizer.compute_gradients(tf.reduce_sum(twice * v), [v], stop_gradients=stopped)
             for stopped in (None, [twice])]  # fmt: skip
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return [sess.run(pairs[0][0]) for pairs in found]

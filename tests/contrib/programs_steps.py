"""Programs of ``tf.contrib.distribute``'s steps (``recorded``)."""

from tests.contrib.recorded import refused


def _strategies(tf):
    return [
        tf.contrib.distribute.OneDeviceStrategy("/cpu:0"),
        tf.contrib.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
    ]


def case_single_loss(tf):
    found = []
    for strategy in _strategies(tf):
        for iterations in (1, 3):
            with tf.Graph().as_default(), strategy.scope():
                w = tf.get_variable("w", initializer=2.0)
                contexts = []

                def loss(context, x, w=w, contexts=contexts):
                    contexts.append(type(context).__name__)
                    return tf.reduce_sum(w * w * x)

                step = tf.contrib.distribute.StandardSingleLossStep(
                    lambda: tf.data.Dataset.range(100).map(
                        lambda i: tf.reshape(tf.cast(i, tf.float32), [1])
                    ),
                    loss,
                    tf.train.GradientDescentOptimizer(0.01),
                    strategy,
                    iterations,
                )
                begin, train = step.initialize(), step()
                with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
                    sess.run(tf.global_variables_initializer())
                    sess.run(begin)
                    values = []
                    for _ in range(3):
                        sess.run(train)
                        values.append(sess.run(tf.global_variables()[0]))
                    sess.run(begin)
                    sess.run(train)
                    values.append(sess.run(tf.global_variables()[0]))
                found.append([values, contexts[0], step.distribution is strategy])
    return found


def case_monitor(tf):
    package, strategy = tf.contrib.distribute, _strategies(tf)[0]
    counter = tf.Variable(0)

    class Count(package.Step):
        def __call__(self):
            return tf.assign_add(counter, 1)

    step, found = Count(strategy), []
    with tf.Session() as sess:
        sess.run(counter.initializer)
        monitor = package.Monitor(step, sess)
        for count in (2, 5):
            monitor.run_steps(count)
            found.append(sess.run(counter))
    found += [step.initialize(), step.distribution is strategy]
    return found + [refused(package.Step(strategy), "must be implemented in descendants")]

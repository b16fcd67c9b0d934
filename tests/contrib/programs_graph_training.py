"""Programs of ``tf.contrib.learn.train`` and ``evaluate`` (``recorded``)."""

import os
import tempfile

from tests.contrib.recorded import refused


def _parts(tf):
    """A graph, its train op, loss and what is fed."""
    graph = tf.Graph()
    with graph.as_default():
        tf.train.create_global_step()
        w, x = tf.get_variable("w", initializer=4.0), tf.placeholder_with_default(1.0, [])
        loss = w * w * x
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        # The loss of a step is that before it moves.
        with tf.control_dependencies([loss]):
            return graph, optimizer.minimize(loss, tf.train.get_global_step()), loss, x


def _train(tf, folder, **given):
    graph, op, loss, x = _parts(tf)
    if given.pop("fed", False):
        given["feed_fn"] = lambda: {x: 0.0}
    found = tf.contrib.learn.train(graph, folder, op, loss, **given)
    state = [float(tf.train.load_variable(folder, n)) for n in ("w", "global_step")]
    return [None if found is None else found >= 0, state]


def case_train(tf):
    folder = tempfile.mkdtemp()
    found = [_train(tf, folder, max_steps=5)]
    kept = sorted(f for f in os.listdir(folder) if f.endswith(".index"))
    found += [kept, _train(tf, folder, steps=3), _train(tf, folder, max_steps=5)]
    found += [_train(tf, folder, steps=2, fed=True)]
    seen = []

    class Seen(tf.contrib.learn.monitors.BaseMonitor):
        def step_end(self, step, output):
            seen.append(step)
            return False

    found += [_train(tf, folder, steps=2, monitors=[Seen()]), seen]
    graph, op, loss, _ = _parts(tf)
    with graph.as_default():
        init = tf.global_variables_initializer()
        tenfold = tf.trainable_variables()[0].assign(10.0)
    other = tempfile.mkdtemp()
    tf.contrib.learn.train(graph, other, op, loss, init_op=init, steps=1,
                           init_fn=lambda session: session.run(tenfold))  # fmt: skip
    return found + [float(tf.train.load_variable(other, "w"))]


def case_refused(tf):
    train, folder = tf.contrib.learn.train, tempfile.mkdtemp()
    graph, op, loss, _ = _parts(tf)
    bare = tf.Graph()
    with bare.as_default():
        w = tf.get_variable("w", initializer=4.0)
        other = w * 1.0
        move = tf.train.GradientDescentOptimizer(0.1).minimize(other)
    nan_graph, nan_op, nan_loss, _ = _parts(tf)
    with nan_graph.as_default():
        nan = nan_loss * float("nan")
    return [
        refused(lambda: train(graph, folder, op, loss, steps=1, max_steps=2), "both steps and max"),
        refused(lambda: train(graph, "", op, loss, steps=1), "directory should be non-empty"),
        refused(lambda: train(graph, folder, None, loss, steps=1), "Missing train_op."),
        refused(lambda: train(graph, folder, op, None, steps=1), "Missing loss_op."),
        refused(lambda: train(bare, folder, move, other, steps=1), 'No "global_step" was provided'),
        refused(lambda: train(nan_graph, folder, nan_op, nan, steps=3), "NaN loss"),
    ]


def _evaluated(tf, path, feeds=None, update=True, **given):
    graph, folder = tf.Graph(), tempfile.mkdtemp()
    with graph.as_default():
        tf.train.create_global_step()
        w, x = tf.get_variable("w", initializer=0.0), tf.placeholder_with_default(1.0, [])
        total = tf.Variable(0.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        add = total.assign_add(x) if update else None
        asked = {"w": w + 0.0, "total": total + 0.0}
    if feeds is not None:
        each = iter(feeds)
        given["feed_fn"] = lambda: {x: next(each)}
    found = tf.contrib.learn.evaluate(graph, folder, path, asked, add, **given)
    events = [os.path.join(folder, name) for name in os.listdir(folder)]
    written = [[event.step, sorted([v.tag, v.simple_value] for v in event.summary.value)]
               for path in events for event in tf.train.summary_iterator(path)
               if event.HasField("summary")]  # fmt: skip
    return [list(found), [each for each in written if each[1]]]


def case_evaluate(tf):
    folder = tempfile.mkdtemp()
    _train(tf, folder, max_steps=3)
    path = tf.train.latest_checkpoint(folder)
    return [
        _evaluated(tf, path, max_steps=4), _evaluated(tf, folder, max_steps=1),
        _evaluated(tf, path, [2.0, 3.0]), _evaluated(tf, path, [2.0] * 9, max_steps=2),
        _evaluated(tf, path, update=False, max_steps=2), _evaluated(tf, None, max_steps=2),
    ]  # fmt: skip

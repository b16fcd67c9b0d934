"""Programs of ``tf.contrib.checkpoint`` (``recorded``), in graph mode."""

import tempfile

import numpy as np

from tests.contrib.recorded import names, refused


def state(tf, value):
    class State(tf.train.experimental.PythonState):
        def __init__(self):
            self.value = value

        def serialize(self):
            return self.value

        def deserialize(self, string_value):
            self.value = string_value

    return State()


def saved(tf, root):
    """The path of a checkpoint of an object whose variables are initialized."""
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return root.save(tempfile.mkdtemp() + "/ckpt", session=sess)


def keys(tf, path):
    return [list(each) for each in tf.train.list_variables(path)]


def dense(tf, units=2):
    return tf.keras.layers.Dense(units)


def case_python_state(tf):
    root = tf.train.Checkpoint(text=state(tf, "h\u00e9"), n=tf.contrib.checkpoint.NumpyState())
    root.n.x, root.n.y = np.array([1.0, 2.0]), np.array(3, np.int32)
    path = saved(tf, root)
    found = [keys(tf, path)]
    root.text.value, root.n.x, root.n.y = "other", np.zeros(3), np.array(0)
    with tf.Session():
        root.restore(path)
    found += [root.text.value, root.n.x, root.n.y, root.n.y.dtype.name]
    new = tf.contrib.checkpoint.NumpyState()
    with tf.Session():
        tf.train.Checkpoint(n=new).restore(path)
    found += [new.x, new.y]
    words = "which is not a NumPy array. Currently mixing NumPy arrays and other trackable objects"
    found.append(refused(lambda: setattr(new, "z", 3.0), words))
    found.append(refused(lambda: new.w, "object has no attribute 'w'"))
    return found


def case_containers(tf):
    c = tf.contrib.checkpoint
    held = c.List([dense(tf), c.Mapping(a=dense(tf, 1))])
    held.append(tf.Variable(1.0, name="own"))
    held.extend([[dense(tf, 3)]])
    for layer in held.layers:
        layer(tf.zeros([1, 2]))
    found = [len(held), len(held.layers), names(held.weights), names(held.trainable_weights)]
    found += [names(held[:1][0].weights), type(held[1]).__name__]
    held.trainable = False
    found += [names(held.trainable_variables), names(held.non_trainable_variables)]
    found += [len(held + [dense(tf)]), len([dense(tf)] + held), len(held.copy()), held == held]
    names_of = c.UniqueNameTracker()
    for name in ("x", "y", "x", "x"):
        names_of.track(tf.Variable(0.0, name=name), name)
    mapping = c.Mapping({"b": dense(tf)}, a=names_of)
    found += [sorted(mapping), sorted(mapping.keys()), "b" in mapping, mapping.get("z", 5)]
    mapping["b"] = mapping["b"]
    root = tf.train.Checkpoint(held=held, mapping=mapping)
    found.append(keys(tf, saved(tf, root)))
    found.append(len(c.list_objects(root)))
    found.append(refused(lambda: held.append(3), "Only trackable objects (such as Layers or"))
    found.append(refused(lambda: mapping.update(b=dense(tf)), "Mappings are an append-only data"))
    found.append(refused(lambda: mapping.update({3: held}), "Mapping accepts only string keys"))
    found.append(refused(lambda: names_of.track(3, "x"), "Expected a trackable value, got 3"))
    return [["ValueError", *each[1:]] if each[:1] == ["_UntrackableError"] else each
            if isinstance(each, list) else each for each in map(listed, found)]  # fmt: skip


def listed(item):
    return list(item) if isinstance(item, (list, tuple)) else [item]


def case_metadata(tf):
    c = tf.contrib.checkpoint
    v = tf.Variable([1.0, 2.0], name="v")
    optimizer = tf.train.AdamOptimizer()
    optimizer.minimize(tf.reduce_sum(v * v))
    root = tf.train.Checkpoint(optimizer=optimizer, v=v, plain=c.CheckpointableBase())
    root.apart = c.NoDependency(tf.Variable(1.0))
    root.part = c.Checkpointable()
    root.part.w = tf.Variable(2, name="w")
    path = saved(tf, root)
    record = c.object_metadata(path)
    found = [str(record), isinstance(record, c.CheckpointableObjectGraph)]
    found.append(c.dot_graph_from_checkpoint(path))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        named = tf.train.Saver([v]).save(sess, tempfile.mkdtemp() + "/ckpt")
    found.append(refused(lambda: c.object_metadata(named), "does not appear to be object-based"))
    found.append(
        refused(
            lambda: c.object_metadata(tempfile.mkdtemp() + "/none"), "Failed to find any matching"
        )
    )
    return found


def case_templates(tf):
    def scale(x):
        with tf.variable_scope("inner"):
            return x * tf.get_variable("w", [2]) + tf.get_variable("b", [2])

    template = tf.make_template("layer", scale)
    template(tf.zeros([2]))
    template(tf.zeros([2]))
    return keys(tf, saved(tf, tf.train.Checkpoint(template=template)))


def case_split_dependency(tf):
    given = {}
    v = tf.Variable([1.0, 2.0], use_resource=True)

    def fill(buffer):
        low, high = tf.unstack(v.read_value())
        buffer["low"], buffer["high"] = low, high

    def consume(buffer):
        given.update({key: t.dtype.name for key, t in buffer.items()})
        return v.assign(tf.stack([tf.reshape(buffer[k], []) for k in ("low", "high")]) * 10.0).op

    parts = tf.contrib.checkpoint.split_dependency(
        ["low", "high"], [tf.float32] * 2, fill, consume, "cpu:0"
    )
    root = tf.train.Checkpoint(**parts)
    path = saved(tf, root)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        root.restore(path).run_restore_ops(sess)
        return [sorted(parts), keys(tf, path), given, sess.run(v)]

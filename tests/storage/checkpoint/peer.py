"""The half of ``test_interchange`` that TensorFlow runs: ``peer.py COMMAND DIRECTORY``.

Runs under TensorFlow 1.15 (Python 3.7) and 2.21, and as a module under Penstock, which takes the
builders of models from it.
"""

import json
import os
import sys

import numpy as np

DTYPES = (
    "float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "bool", "complex64", "complex128",
)  # fmt: skip


def given(tf, array):
    """An initializer that gives an array, or the part of it that a partition holds."""

    def initializer(shape, dtype=None, partition_info=None):
        offset = partition_info.var_offset if partition_info is not None else [0] * len(shape)
        part = tuple(slice(o, o + n) for o, n in zip(offset, shape))
        return tf.constant(array[part])

    return initializer


def network(tf, resource, cuts=None):
    """Three layers with Adam: (loss, train)."""
    draw = np.random.RandomState(3)
    x = tf.constant(draw.randn(16, 6).astype(np.float32))
    y = tf.constant(draw.randn(16, 1).astype(np.float32))
    partitioner = tf.fixed_size_partitioner(cuts) if cuts else None
    h = x
    with tf.variable_scope("net", use_resource=resource, partitioner=partitioner):
        for number, (rows, columns) in enumerate(((6, 8), (8, 5), (5, 1))):
            start = draw.randn(rows, columns).astype(np.float32) / 3
            w = tf.get_variable(f"w{number}", [rows, columns], initializer=given(tf, start))
            b = tf.get_variable(f"b{number}", [columns], initializer=tf.zeros_initializer())
            h = tf.matmul(h, tf.convert_to_tensor(w)) + tf.convert_to_tensor(b)
            if number < 2:
                h = tf.tanh(h)
    loss = tf.reduce_mean(tf.square(h - y))
    step = tf.get_variable(
        "step", [], tf.int64, tf.zeros_initializer(), trainable=False, use_resource=resource
    )
    optimizer = tf.train.AdamOptimizer(0.05)
    return loss, optimizer.minimize(loss, global_step=step), optimizer


def curve(sess, loss, train, steps=15):
    """The loss before each of some steps."""
    return [float(sess.run([loss, train])[0]) for _ in range(steps)]


def values(name):
    """What is saved of a dtype, as float64 or bool or complex."""
    base = np.array([[0, 1, 2], [3, 5, 7]], np.float64)
    return base > 2 if name == "bool" else base + 1j * base if name.startswith("complex") else base


def every_dtype(tf):
    """Variables of all dtypes, strings, a partitioned one."""
    for name in DTYPES:
        tf.Variable(tf.cast(tf.constant(values(name)), getattr(tf, name)), name=name)
    tf.Variable([[b"", b"x"], [b"\x00\xff", b"long" * 99]], name="string")
    tf.get_variable(
        "parts", [7, 3], initializer=given(tf, np.arange(21, dtype=np.float32).reshape(7, 3)),
        partitioner=tf.fixed_size_partitioner(3),
    )  # fmt: skip
    tf.get_variable("empty", [0, 4])


def check_dtypes(reader):
    """Compares a checkpoint of ``every_dtype`` by a reader."""
    for name in DTYPES:
        found = np.asarray(reader.get_tensor(name))
        np.testing.assert_array_equal(found.astype(values(name).dtype), values(name), err_msg=name)
    assert reader.get_tensor("string").tolist() == [[b"", b"x"], [b"\x00\xff", b"long" * 99]]
    np.testing.assert_array_equal(reader.get_tensor("parts"), np.arange(21).reshape(7, 3))
    assert reader.get_tensor("empty").shape == (0, 4)


def objects(tf, resource=True):
    """(checkpoint, loss, train) of an object-based checkpoint."""
    loss, train, optimizer = network(tf, resource)
    tracked = {v.op.name.split("/")[-1]: v for v in tf.trainable_variables()}
    return tf.train.Checkpoint(opt=optimizer, **tracked), loss, train


def write(tf, directory):
    """Writes checkpoints of all kinds, and how the losses go on from there."""
    curves = {}
    for kind in ("ref", "resource", "parts", "v1", "sharded"):
        with tf.Graph().as_default(), tf.Session() as sess:
            loss, train, _ = network(tf, kind == "resource", 2 if kind == "parts" else None)
            saver = tf.train.Saver(
                write_version=1 if kind == "v1" else 2, sharded=kind == "sharded"
            )
            sess.run(tf.global_variables_initializer())
            curve(sess, loss, train)
            saver.save(sess, os.path.join(directory, kind), latest_filename="state_" + kind)
            curves[kind] = curve(sess, loss, train)
            tf.add_to_collection("wanted", loss)
            tf.add_to_collection("wanted", train)
            saver.export_meta_graph(os.path.join(directory, kind + ".meta"))
    with tf.Graph().as_default(), tf.Session() as sess:
        every_dtype(tf)
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, os.path.join(directory, "dtypes"), write_meta_graph=False)
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint, loss, train = objects(tf)
        sess.run(tf.global_variables_initializer())
        curve(sess, loss, train)
        checkpoint.save(os.path.join(directory, "objects"), session=sess)
        curves["objects"] = curve(sess, loss, train)
    with open(os.path.join(directory, "curves.json"), "w") as file:
        json.dump(curves, file)


def check(tf, directory):
    """Restores what the other side wrote, goes on, and compares the losses."""
    with open(os.path.join(directory, "curves.json")) as file:
        wanted = json.load(file)
    for kind in ("ref", "resource", "parts", "v1", "sharded"):
        path = tf.train.latest_checkpoint(directory, "state_" + kind)
        assert path is not None, kind
        # Each is also restored into another style and another partitioning.
        for resource, cuts in ((False, None), (True, None), (False, 3)):
            with tf.Graph().as_default(), tf.Session() as sess:
                loss, train, _ = network(tf, resource, cuts)
                tf.train.Saver().restore(sess, path)
                found = curve(sess, loss, train)
            np.testing.assert_allclose(found, wanted[kind], rtol=2e-4, atol=1e-6, err_msg=kind)
        with tf.Graph().as_default(), tf.Session() as sess:
            saver = tf.train.import_meta_graph(os.path.join(directory, kind + ".meta"))
            saver.restore(sess, path)
            loss, train = tf.get_collection("wanted")
            found = curve(sess, loss, train)
        np.testing.assert_allclose(found, wanted[kind], rtol=2e-4, atol=1e-6, err_msg=kind)
    check_dtypes(tf.train.NewCheckpointReader(os.path.join(directory, "dtypes")))
    with tf.Graph().as_default(), tf.Session() as sess:
        every_dtype(tf)
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().restore(sess, os.path.join(directory, "dtypes"))
    path = os.path.join(directory, "objects-1")
    with tf.Graph().as_default(), tf.Session() as sess:
        checkpoint, loss, train = objects(tf)
        checkpoint.restore(path).assert_consumed().run_restore_ops(session=sess)
        extra = [v for v in tf.global_variables() if "step" in v.name]
        sess.run(tf.variables_initializer(extra))
        found = curve(sess, loss, train)
    np.testing.assert_allclose(found, wanted["objects"], rtol=2e-4, atol=1e-6)


def nodes(tf, directory):
    """The nodes that savers of many kinds add, a line each, as ``nodes.json``."""
    lines = {}
    for name, (variables, make) in _savers(tf).items():
        with tf.Graph().as_default() as graph:
            variables()
            before = len(graph.get_operations())
            saver = make()
            added = graph.get_operations()[before:]
            lines[name] = [_line(tf, op) for op in added] + [_definition(saver.as_saver_def())]
    with open(os.path.join(directory, "nodes.json"), "w") as file:
        json.dump(lines, file)


def _line(tf, op):
    value = ""
    if op.type == "Const":
        value = str(tf.make_ndarray(op.get_attr("value")).tolist())
        if "_temp_" in value:
            value = "a temporary name"
    parts = (
        op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs], value,
        op.device, sorted(map(str, op.colocation_groups())), [str(t.shape) for t in op.outputs],
        str(op.get_attr("validate_shape")) if op.type == "Assign" else "",
    )  # fmt: skip
    return str(parts)


def _definition(message):
    fields = ("filename_tensor_name", "save_tensor_name", "restore_op_name", "max_to_keep",
              "sharded", "keep_checkpoint_every_n_hours", "version")  # fmt: skip
    return str([getattr(message, field) for field in fields])


def _savers(tf):
    def plain(resource=False):
        tf.get_variable("a", initializer=1.0, use_resource=resource)
        tf.get_variable("b", initializer=[1, 2], use_resource=resource)

    def placed():
        with tf.device("/job:ps/task:0"):
            tf.Variable(1.0, name="a")
            tf.get_variable("r", [2], use_resource=True)
        with tf.device("/job:ps/task:1"):
            tf.Variable([1, 2], name="b")
        tf.Variable(2.0, name="anywhere")

    def parts(resource=False):
        cut = tf.fixed_size_partitioner(2)
        tf.get_variable("p", [4, 3], partitioner=cut, use_resource=resource)
        tf.Variable(1.0, name="z")

    def open_shape():
        tf.Variable(tf.placeholder(tf.float32), validate_shape=False, name="u")

    def whole():
        variables = tf.global_variables()
        return tf.train.Saver({"q": variables[:2], "z": variables[2]})

    saver = tf.train.Saver
    return {
        "plain": (plain, saver),
        "resource": (lambda: plain(True), saver),
        "sharded": (placed, lambda: saver(sharded=True)),
        "sharded V1": (placed, lambda: saver(sharded=True, write_version=1)),
        "placed": (placed, saver),
        "parts": (parts, saver),
        "resource parts": (lambda: parts(True), saver),
        "V1": (plain, lambda: saver(write_version=1)),
        "V1 parts": (parts, lambda: saver(write_version=1)),
        "reshape": (plain, lambda: saver(reshape=True)),
        "resource reshape": (lambda: plain(True), lambda: saver(reshape=True)),
        "open reshape": (open_shape, lambda: saver(reshape=True)),
        "sequential": (plain, lambda: saver(restore_sequentially=True)),
        "named": (plain, lambda: saver({"x": tf.global_variables()[0]}, name="n", filename="f")),
        "second": (plain, lambda: (saver(), saver(max_to_keep=9))[1]),
        "parts by name": (parts, whole),
        "sharded parts": (parts, lambda: saver(sharded=True)),
        "open shape": (open_shape, saver),
    }


if __name__ == "__main__":
    import tensorflow

    compat = tensorflow.compat.v1
    compat.logging.set_verbosity(compat.logging.ERROR)
    {"write": write, "check": check, "nodes": nodes}[sys.argv[1]](compat, sys.argv[2])

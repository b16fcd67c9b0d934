"""Programs of ``tf.contrib.framework`` (``recorded``)."""

import os
import tempfile

import numpy as np

from tests.contrib.recorded import names, nodes, refused, values


def case_arg_scope(tf):
    framework = tf.contrib.framework

    @framework.add_arg_scope
    def layer(x, size, rate=1, kind="a"):
        return (x, size, rate, kind)

    @framework.add_arg_scope
    def other(x, rate=7):
        return (x, rate)

    found = [layer(1, 2), framework.has_arg_scope(layer), framework.has_arg_scope(max)]
    found.append(framework.arg_scoped_arguments(layer))
    with framework.arg_scope([layer, other], rate=3) as scope:
        found += [layer(1, 2), other(0), layer(1, 2, rate=5)]
        with framework.arg_scope([layer], kind="b"):
            found += [layer(1, 2), other(0)]
            found.append(sorted(len(v) for v in framework.current_arg_scope().values()))
    with framework.arg_scope(scope):
        found += [layer(1, 2), other(1)]
    found.append(layer.__name__)

    def enter(what, **kwargs):
        with framework.arg_scope(what, **kwargs):
            pass

    found.append(refused(lambda: enter([max], a=1), "is not decorated with @add_arg_scope"))
    found.append(refused(lambda: enter(layer, a=1), "must either be a list/tuple"))
    found.append(refused(lambda: enter(scope, a=1), "When attempting to re-use a scope"))
    found.append(refused(lambda: framework.arg_scoped_arguments(max)))
    return found + [len(framework.current_arg_scope())]


def case_finding_variables(tf):
    f = tf.contrib.framework
    with tf.variable_scope("a") as scope:
        f.model_variable("w", [2], initializer=tf.ones_initializer())
        f.variable("w2", [2], collections=["mine"])
        f.local_variable(3, name="count")
    with tf.variable_scope("b"):
        w = f.variable("w", [2])
        f.global_variable(1.0, name="g")
    f.add_model_variable(w)
    f.add_model_variable(w)
    parts = tf.get_variable("p", [4, 2], partitioner=tf.fixed_size_partitioner(2))
    found = [
        f.get_variables(), f.get_variables(scope), f.get_variables("b"),
        f.get_variables(suffix="w"), f.get_variables_by_suffix("w", "a"),
        f.get_variables_by_name("w"), f.get_variables_by_name("w", "b"),
        f.get_model_variables(), f.get_local_variables(), f.get_trainable_variables("a"),
        f.get_variables_to_restore(), f.get_variables_to_restore(["a", "b"], ["b/g"]),
        f.filter_variables(tf.global_variables(), ["w", "p"], ["^b"]),
        f.filter_variables(tf.global_variables(), ["w"], reg_search=False),
        [f.get_unique_variable("b/w")],
    ]  # fmt: skip
    found = [names(v) for v in found]
    found.append([f.get_variable_full_name(v) for v in list(parts) + [w]])
    found.append(refused(lambda: f.get_unique_variable("c"), "Couldn't find variable c"))
    found.append(refused(lambda: f.get_unique_variable("b"), "does not uniquely identify"))
    found.append(refused(lambda: f.get_variables_to_restore("a"), "not a list or a tuple"))
    return found


def case_global_step(tf):
    f = tf.contrib.framework
    found = [f.get_global_step() is None, f.assert_or_get_global_step() is None]
    step = f.get_or_create_global_step()
    found += [step.name, step.dtype.name, f.get_or_create_global_step() is step]
    found.append(f.assert_or_get_global_step() is step)
    found.append(refused(f.create_global_step, '"global_step" already exists'))
    found.append(refused(lambda: f.assert_global_step(tf.constant(1.0))))
    return found


def case_devices_of_variables(tf):
    f = tf.contrib.framework
    chooser = f.VariableDeviceChooser(num_tasks=2, job_name="parameters")
    made = [f.variable(f"v{i}", [1], device=chooser) for i in range(3)]
    made.append(f.variable("w", [1], device=f.VariableDeviceChooser()))
    return [v.device for v in made]


def case_assigning(tf):
    f = tf.contrib.framework
    w = tf.get_variable("w", [2, 2])
    v = tf.get_variable("v", [2])
    op, feed = f.assign_from_values({"w": np.arange(4.0), "v": np.array([5.0, 6.0])})
    with tf.Session() as sess:
        sess.run(op, feed)
        found = sess.run([w, v])
        f.assign_from_values_fn({"v": np.array([1.0, 2.0])})(sess)
        found.append(sess.run(v))
        path = os.path.join(tempfile.mkdtemp(), "model")
        tf.train.Saver().save(sess, path)
    found.append(sorted(t.name for t in feed))
    found.append(f.list_variables(path))
    found.append(f.load_variable(path, "v"))
    found.append(f.load_checkpoint(path).has_tensor("w"))
    with tf.variable_scope("new"):
        w2 = tf.get_variable("w", [2, 2])
        parts = tf.get_variable("v", [2], partitioner=tf.fixed_size_partitioner(2))
        other = tf.get_variable("other", [3])
    op, feed = f.assign_from_checkpoint(path, {"w": w2, "v": list(parts), "x": other}, True)
    restore = f.assign_from_checkpoint_fn(path, {"w": w2, "x": other}, ignore_missing_vars=True)
    with tf.Session() as sess:
        sess.run(op, feed)
        found += sess.run([w2] + list(parts))
        sess.run(w2.assign(tf.zeros([2, 2])))
        restore(sess)
        found.append(sess.run(w2))
    found.append(f.assign_from_checkpoint_fn(path, {"x": other}, ignore_missing_vars=True))
    found.append(refused(lambda: f.assign_from_checkpoint_fn(path, []), "cannot be empty"))
    found.append(refused(lambda: f.assign_from_checkpoint(path, [other]), "is missing variable"))
    found.append(refused(lambda: f.assign_from_checkpoint(path, {"v": other}), "Total size of"))
    found.append(refused(lambda: f.assign_from_values({"z": w}), "Variable z wasn't found"))
    return found


def case_init_from_checkpoint(tf):
    f = tf.contrib.framework
    tf.get_variable("a/w", initializer=[1.0, 2.0])
    path = os.path.join(tempfile.mkdtemp(), "model")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, path)
    v = tf.get_variable("b/w", [2])
    f.init_from_checkpoint(path, {"a/": "b/"})
    return values(tf, v)


def case_shapes(tf):
    f = tf.contrib.framework
    known = tf.constant([[1.0, 2.0]])
    fed = tf.placeholder(tf.float32, None, name="fed")
    open_dim = tf.placeholder(tf.float32, [None, 2], name="open")
    found = [f.with_shape([1, 2], known) is known, f.with_same_shape(known, known) is known]
    checked = f.with_shape([1, 2], fed)
    same = f.with_same_shape(known, open_dim)
    asked = f.with_shape(tf.constant([1, 2]), known)
    scalar = f.with_shape([], tf.constant([3.0]))
    found += [t.shape.as_list() for t in (checked, same, asked, scalar)]
    feed = {fed: [[1.0, 1.0]], open_dim: [[2.0, 2.0]]}
    found += values(tf, [checked, same, asked, scalar], feed)
    with tf.Session() as sess:
        bad = lambda: sess.run(checked, {fed: [1.0]})  # noqa: E731
        found.append(refused(bad, "Wrong shape for fed:0"))
    found.append(refused(lambda: f.with_shape([2, 2], known), "Invalid shape for tensor"))
    found.append(refused(lambda: f.with_shape([[1, 2]], known), "Invalid rank 2"))
    found.append(refused(lambda: f.with_shape([1.0, 2.0], known), "Invalid dtype"))
    return found


def case_squeezing(tf):
    f = tf.contrib.framework
    one, two = tf.ones([3, 1]), tf.zeros([3])
    found = [t.shape.as_list() for t in f.remove_squeezable_dimensions(one, two)]
    found += [t.shape.as_list() for t in f.remove_squeezable_dimensions(two, one)]
    fed = tf.placeholder(tf.float32, None)
    squeezed = f.remove_squeezable_dimensions(fed, two)
    found.append([v.shape for v in values(tf, list(squeezed), {fed: [[1.0], [2.0], [3.0]]})])
    return found


def case_small_functions(tf):
    f = tf.contrib.framework
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.constant([3.0, 1.0, 2.0], name="y")
    found = [names(f.get_placeholders(tf.get_default_graph()))]
    found.append(values(tf, [f.reduce_sum_n([x, y]), f.sort(y), f.argsort(y)], {x: [1.0, 1.0]}))
    found += [f.is_tensor(x), f.is_tensor(3.0)]
    found.append(f.convert_to_tensor_or_sparse_tensor([1, 2]).dtype.name)
    found.append(f.assert_scalar_int(tf.constant(2)).dtype.name)
    found.append(refused(lambda: f.assert_scalar_int(tf.constant(2.0)), "Expected integer type"))
    found.append(refused(lambda: f.assert_scalar_int(tf.constant([2])), ""))
    found.append(refused(lambda: f.reduce_sum_n([]), "No tensors provided."))
    with tf.name_scope("one"), tf.name_scope("two"):
        found.append(f.get_name_scope())
    found += [f.strip_name_scope("a/b/c", "a"), f.strip_name_scope("^a/b", "a/")]
    found += [f.strip_name_scope("loc:@a/b", "a"), f.strip_name_scope("ab/c", "a")]
    found += [f.prepend_name_scope("c", "a/b/"), f.prepend_name_scope("^c", "a")]
    found += [f.prepend_name_scope("loc:@c", "a"), f.prepend_name_scope("c", "")]
    found.append(f.get_graph_from_inputs([3, x]) is x.graph)
    with tf.Graph().as_default():
        z = tf.constant(1)
    found.append(refused(lambda: f.get_graph_from_inputs([x, z]), "must be from the same graph"))
    found.append(values(tf, [f.assert_scalar(tf.constant(2.0))]))
    found.append(f.assert_same_float_dtype([x, y]).name)
    found += [f.zero_initializer(tf.Variable([1.0, 2.0], name="v")).dtype.name]
    return found


def case_zero_initializer(tf):
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), use_resource=True)
    if tf.__version__ == "1.15.0":  # TensorFlow's wheel lacks the library of this op
        return [[0.0, 0.0], [0.0, 0.0]]
    with tf.Session() as sess:
        sess.run([tf.contrib.framework.zero_initializer(v),
                  tf.contrib.framework.zero_initializer(w)])  # fmt: skip
        return sess.run([v, w])


def case_specs(tf):
    f = tf.contrib.framework
    spec = f.BoundedTensorSpec([2], tf.float32, 0.0, [1.0, 2.0], "s")
    found = [spec.minimum, spec.maximum, spec.name, spec == f.BoundedTensorSpec(
        [2], tf.float32, 0.0, [1.0, 2.0])]  # fmt: skip
    found.append(refused(lambda: f.BoundedTensorSpec([2], tf.int32, [1, 2, 3], 5), "not compat"))
    found.append(f.TensorSpec([1], name="t").dtype.name)
    return found


def case_py_func(tf):
    def both(x, by, offset):
        return {"a": x * by, "b": (np.float32(offset["o"] + 1),)}

    made = tf.contrib.framework.py_func(
        both, [tf.constant(3), tf.constant(4)], {"offset": {"o": tf.constant(2.5)}},
        {"a": tf.int32, "b": (tf.float32,)}, {"a": [], "b": ([],)},
    )  # fmt: skip
    return [made["a"].shape.as_list(), values(tf, [made["a"], made["b"][0]])]


def case_fuse_op(tf):
    x = tf.placeholder(tf.float32, name="x")
    y = tf.add(x, x, name="y")
    z = tf.multiply(y, y, name="z")
    tf.identity(tf.identity(z, name="out"), name="after")
    graph_def = tf.get_default_graph().as_graph_def()
    fuse = tf.contrib.framework.fuse_op
    made = fuse(graph_def, ["x"], ["out"], [1], False, "fused", "Fused")
    found = [[n.name, n.op, list(n.input)] for n in made.node]
    found.append(refused(lambda: fuse(graph_def, "x", ["out"], [1], False, "f", "F"), "a list"))
    found.append(refused(lambda: fuse(graph_def, ["y"], ["z"], [1], False, "f", "F")))
    found.append(refused(lambda: fuse(graph_def, ["q"], ["out"], [1], False, "f", "F")))
    return found


def case_vocabularies(tf):
    f = tf.contrib.framework
    folder = tempfile.mkdtemp()
    tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    tf.get_variable("b", initializer=[[7.0], [8.0], [9.0]])
    path = os.path.join(folder, "model")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, path)
    old, new = os.path.join(folder, "old"), os.path.join(folder, "new")
    for name, words in ((old, "a b c"), (new, "c x a")):
        with open(name, "w") as file:
            file.write("\n".join(words.split()) + "\n")
    ones = tf.ones_initializer()
    whole = f.load_and_remap_matrix_initializer(
        path, "w", 3, 2, old_row_vocab_file=old, new_row_vocab_file=new,
        num_row_oov_buckets=1, initializer=ones)  # fmt: skip
    rows = f.load_embedding_initializer(path, "w", 3, 2, old, new, initializer=ones)
    bias = f.load_linear_multiclass_bias_initializer(path, "b", 3, old, new)
    slot = f.load_variable_slot_initializer(
        path, "w", None, 3, 2, old_row_vocab_file=old, new_row_vocab_file=new)  # fmt: skip
    made = [whole([4, 2]), rows([3, 2]), bias([3, 1]), slot([3, 2])]
    found = [values(tf, made)]
    found.append(refused(lambda: rows([3, 3]), "Expected 2nd dim of shape"))
    found.append(refused(lambda: rows([4, 2]), "Trying to initialize"))
    found.append(refused(lambda: rows([4]), "Expected 2-dim shape"))
    found.append(refused(lambda: f.load_and_remap_matrix_initializer(path, "w", 3, 2)([3, 2]),
                         "Must provide either row or column"))  # fmt: skip
    return found


def case_orthogonal(tf):
    """A convolution with each filter, wrapped around, keeps the norm of its input."""
    f = tf.contrib.framework
    found = []
    for rank, make in ((1, f.convolutional_orthogonal_1d), (2, f.convolutional_orthogonal_2d),
                       (3, f.convolutional_orthogonal_3d)):  # fmt: skip
        kernel = values(tf, make(gain=2.0, seed=3)([3] * rank + [2, 4]))
        spectrum = np.fft.fftn(kernel, s=[6] * rank, axes=range(rank))
        product = spectrum @ np.conj(np.swapaxes(spectrum, -1, -2))
        found.append(np.round(np.abs(product - 4 * np.eye(2)).max(), 3))
    delta = values(tf, f.convolutional_delta_orthogonal(seed=3)([3, 3, 2, 4]))
    found.append(np.round(delta[1, 1] @ delta[1, 1].T, 3) + 0.0)
    found.append(np.abs(delta).sum() == np.abs(delta[1, 1]).sum())
    make = f.convolutional_orthogonal_2d()
    found.append(refused(lambda: make([3, 3, 2]), "must be four-dimensional"))
    found.append(refused(lambda: make([3, 3, 4, 2]), "In_filters cannot be greater"))
    found.append(refused(lambda: make([3, 2, 2, 4]), "Kernel sizes must be equal"))
    return found


def case_deprecated(tf):
    f = tf.contrib.framework

    @f.deprecated(None, "write other()")
    def old(x):
        return x + 1

    @f.deprecated_args("2020-01-01", "leave it out", "y")
    def less(x, y=1):
        return x + y

    @f.deprecated_arg_values(None, "say True", flag=False)
    def value(flag=True):
        return flag

    found = [old(1), less(1, 2), value(False), old.__name__]
    found.append(refused(lambda: f.deprecated("soon", "x")(old), "YYYY-MM-DD"))
    found.append(refused(lambda: f.deprecated_args(None, "x", "q")(less), "not present in the f"))
    found.append(refused(lambda: f.deprecated_args(None, "x")(less), "Specify which argument"))
    return found


def case_nodes_of_a_model_variable(tf):
    tf.contrib.framework.model_variable("w", [2], initializer=tf.ones_initializer())
    return nodes(tf)

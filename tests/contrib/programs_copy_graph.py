"""Programs of ``tf.contrib.copy_graph`` (``recorded``)."""

from tests.contrib.recorded import refused


def _nodes(graph):
    return [
        [op.name, op.type, [t.name for t in op.inputs], [c.name for c in op.control_inputs],
         op.device, [g.decode() for g in op.colocation_groups()]]
        for op in graph.get_operations()
    ]  # fmt: skip


def _collections(graph):
    return {key: [item.name for item in graph.get_collection(key)]
            for key in graph.get_all_collection_keys()}  # fmt: skip


def case_copies(tf):
    package = tf.contrib.copy_graph
    x = tf.placeholder(tf.float32, [2], name="x")
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(3.0, trainable=False, name="s/w", collections=["mine", "variables"])
    with tf.control_dependencies([tf.no_op(name="k")]), tf.device("/cpu:0"):
        y = tf.multiply(x, v, name="y")
    z = tf.reduce_sum(y * w, name="z")
    tf.add_to_collection("losses", z)
    tf.add_to_collection("mine", y.op)
    add = tf.assign_add(v, [1.0, 1.0], name="add")
    other = tf.Graph()
    copies = [package.copy_variable_to_graph(v, other), package.copy_variable_to_graph(w, other)]
    scoped = [package.copy_variable_to_graph(each, other, "S") for each in (v, w)]
    found = [c.name for c in copies + scoped] + [_collections(other), _nodes(other)]
    made = [package.copy_op_to_graph(each, other, copies) for each in (z, z.op, y, add, v)]
    made += [package.copy_op_to_graph(each, other, scoped, "S") for each in (y, z)]
    made += [package.copy_op_to_graph(z.op, other, [], "T")]
    found += [m.name for m in made] + [_nodes(other), _collections(other)]
    found += [package.get_copied_op(y.op, other).name, package.get_copied_op(y.op, other, "S").name]
    found.append(refused(lambda: package.get_copied_op(y.op, other, "Q")))
    found.append(refused(lambda: package.copy_variable_to_graph(x, other), "is not a Variable"))
    with tf.Session(graph=other) as sess:
        sess.run([c.initializer for c in copies + scoped])
        found.append(sess.run(made[0], {"x:0": [1.0, 1.0]}))
        return found + [sess.run(made[6], {"S/x:0": [1.0, 1.0]}), sess.run(made[3])]

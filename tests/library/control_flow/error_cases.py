"""Programs with control flow that are refused, for Penstock and for TensorFlow.

Each takes the package as ``tf`` and a function ``run(fetches, feeds)``; the line that an error must
name ends in ``# here``.  The file runs under Python 3.7 as well.
"""

import numpy as np

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def given(tf):
    return tf.placeholder(tf.bool, [], name="p"), tf.placeholder(tf.float32, [2], name="x")


FEEDS = {"p:0": True, "x:0": np.array([0.5, 1.5], np.float32)}


# ---- loops ---------------------------------------------------------------------------------------


@case
def loop_shape(tf, run):
    def body(i, a):
        return i + 1, tf.concat([a, a], 0)

    tf.while_loop(lambda i, a: i < 3, body, [0, tf.ones([2])], name="grows")  # here


@case
def loop_shape_at_run_time(tf, run):
    shape = tf.placeholder(tf.int32, [1], name="shape")

    def body(i, a):
        return i + 1, a + tf.zeros(shape)  # here

    y = tf.while_loop(lambda i, a: i < 3, body, [0, tf.ones([2])], name="grows")
    run(y, {shape: [3]})


@case
def loop_test_is_no_scalar(tf, run):
    x = tf.placeholder(tf.int32, name="x")
    y = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [x], name="rounds")  # here
    run(y, {x: [1]})


@case
def branch_test_is_no_scalar(tf, run):
    p = tf.placeholder(tf.bool, name="p")
    y = tf.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0), name="choice")  # here
    run(y, {p: [True]})


@case
def loop_dtype(tf, run):
    y = tf.while_loop(lambda i: i < 3, lambda i: tf.cast(i, tf.float32), [0], name="turns")  # here
    run(y, {})


@case
def loop_number(tf, run):
    tf.while_loop(lambda i, j: i < 3, lambda i, j: (i, j, i), (0, 0), name="more")  # here


@case
def loop_structure(tf, run):
    tf.while_loop(lambda i, j: i < 3, lambda i, j: (i, (j,)), (0, [0]), name="other")  # here


@case
def loop_keys(tf, run):
    tf.while_loop(lambda d: d["i"] < 3, lambda d: {"j": d["i"]}, [{"i": 0}], name="keys")  # here


@case
def loop_invariant(tf, run):
    bound = [tf.TensorShape([3])]
    tf.while_loop(lambda a: True, lambda a: a, [tf.ones([2])], bound, name="bound")  # here


@case
def loop_test_is_no_bool(tf, run):
    tf.while_loop(lambda i: i, lambda i: i + 1, [0], name="test")  # here


@case
def loop_in_loop_shape(tf, run):
    def outer(i, a):
        few = lambda b: tf.size(b) < 9  # noqa: E731
        return i + 1, tf.while_loop(few, lambda b: tf.tile(b, [2]), [a], name="in")  # here

    tf.while_loop(lambda i, a: i < 3, outer, [0, tf.ones([2])], name="out")


# ---- conditionals --------------------------------------------------------------------------------


@case
def branch_dtype(tf, run):
    p, x = given(tf)
    tf.cond(p, lambda: x, lambda: tf.cast(x, tf.int32), name="kinds")  # here


@case
def branch_number(tf, run):
    p, x = given(tf)
    tf.cond(p, lambda: (x, x), lambda: x, name="number")  # here


@case
def branch_type(tf, run):
    p, x = given(tf)
    tf.cond(p, lambda: (x, x), lambda: [x, x], name="types")  # here


@case
def branch_keys(tf, run):
    p, x = given(tf)
    tf.cond(p, lambda: {"a": x}, lambda: {"b": x}, name="keys")  # here


@case
def branch_nothing(tf, run):
    p, x = given(tf)
    tf.cond(p, lambda: None, lambda: x, name="nothing")  # here


# ---- what is inside ------------------------------------------------------------------------------


def branches(tf, seen):
    p, x = given(tf)

    def other():
        seen.append(tf.multiply(x, 2.0, name="inside"))
        return seen[0]

    return tf.cond(p, lambda: x, other, name="choice")  # here


def rounds(tf, seen):
    _, x = given(tf)

    def body(i, a):
        seen.append(tf.multiply(a, 2.0, name="inside"))
        return i + 1, seen[0]

    return tf.while_loop(lambda i, a: i < 3, body, [0, x], name="rounds")  # here


@case
def fetch_in_a_branch(tf, run):
    seen = []
    branches(tf, seen)
    run(seen[0], FEEDS)


@case
def fetch_in_a_loop(tf, run):
    seen = []
    rounds(tf, seen)
    run(seen[0], FEEDS)


def bare(tf, build, names, run):
    """Fetches by name from a graph that only its GraphDef knows."""
    with tf.Graph().as_default() as graph:
        build(tf, [])
        message = graph.as_graph_def()
    tf.import_graph_def(message, name="")  # here
    feeds = {k: v for k, v in FEEDS.items() if k[0] in [n.name for n in message.node]}
    run(names, feeds)


@case
def fetch_in_a_branch_of_a_graphdef(tf, run):
    bare(tf, branches, "choice/inside:0", run)


@case
def fetch_in_a_loop_of_a_graphdef(tf, run):
    bare(tf, rounds, "rounds/inside:0", run)


@case
def use_outside_of_its_loop(tf, run):
    seen = []
    rounds(tf, seen)
    tf.identity(seen[0], name="outside")


@case
def use_in_another_loop(tf, run):
    seen = []
    rounds(tf, seen)
    tf.while_loop(lambda i: i < 3.0, lambda i: i + seen[0][0], [0.0], name="second")  # here


@case
def use_of_the_branch_not_taken(tf, run):
    seen = []
    branches(tf, seen)
    run(tf.identity(seen[0], name="outside"), FEEDS)  # here


# ---- TensorArrays --------------------------------------------------------------------------------


@case
def array_unwritten(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items", infer_shape=False)
    array = array.write(0, [1.0])
    run(array.read(1, name="get"), {})  # here


@case
def array_unwritten_in_a_loop(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items", infer_shape=False)
    array = array.write(0, [1.0])

    def body(i, a):
        return i + 1, a + tf.reduce_sum(array.read(i, name="get"))  # here

    run(tf.while_loop(lambda i, a: i < 3, body, [0, 0.0]), {})


@case
def array_stacked_too_early(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items", infer_shape=False)
    array = array.write(0, [1.0])
    run(array.stack(name="get"), {})  # here


@case
def array_written_twice(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items")
    array = array.write(0, [1.0])
    array = array.write(0, [2.0], name="put")  # here
    run(array.flow, {})


@case
def array_written_in_each_round(tf, run):
    def body(i, array):
        return i + 1, array.write(0, [1.0], name="put")  # here

    start = tf.TensorArray(tf.float32, 3, tensor_array_name="items")
    run(tf.while_loop(lambda i, _: i < 3, body, [0, start])[1].flow, {})


@case
def array_read_twice(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items").write(0, [1.0])
    first = array.read(0)
    with tf.control_dependencies([first]):
        run(array.read(0, name="get"), {})  # here


@case
def array_index_past_the_end(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items")
    array = array.write(3, [1.0], name="put")  # here
    run(array.flow, {})


@case
def array_index_negative(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items", dynamic_size=True)
    array = array.write(-1, [1.0], name="put")  # here
    run(array.flow, {})


@case
def array_read_past_the_end(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items").unstack(tf.ones([3, 1]))
    run(array.read(3, name="get"), {})  # here


@case
def array_closed(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items").unstack(tf.ones([3, 1]))
    with tf.control_dependencies([array.close()]):
        run(array.read(1, name="get"), {})  # here


@case
def array_shape(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items").write(0, [1.0])  # here
    array.write(1, [1.0, 2.0], name="put")


@case
def array_dtype(tf, run):
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items")
    array = array.write(1, tf.constant([1, 2]), name="put")  # here
    run(array.flow, {})


@case
def array_shape_at_run_time(tf, run):
    fed = tf.placeholder(tf.float32, [None], name="fed")
    array = tf.TensorArray(tf.float32, 3, tensor_array_name="items", element_shape=[3])
    array = array.write(1, fed, name="put")  # here
    run(array.flow, {fed: [1.0, 2.0]})


@case
def array_of_too_many_rows(tf, run):
    fed = tf.placeholder(tf.float32, [None], name="fed")
    array = tf.TensorArray(tf.float32, 1, tensor_array_name="items")
    array = array.unstack(fed, name="put")  # here
    run(array.flow, {fed: [1.0, 2.0]})


@case
def array_size(tf, run):
    size = tf.placeholder(tf.int32, [], name="size")
    array = tf.TensorArray(tf.float32, size, tensor_array_name="items")  # here
    run(array.size(), {size: -1})


def stack(tf):
    """A stack, with nodes that pop and that push twice."""
    message = tf.GraphDef()

    def node(kind, name, inputs, key):
        made = message.node.add()
        made.op, made.name = kind, name
        made.input.extend(inputs)
        made.attr[key].type = 1

    node("Placeholder", "bound", [], "dtype")
    node("Placeholder", "one", [], "dtype")
    message.node[0].attr["dtype"].type = 3
    node("StackV2", "pile", ["bound"], "elem_type")
    message.node[2].attr["stack_name"].s = b"pile"
    node("StackPopV2", "take", ["pile"], "elem_type")
    node("StackPushV2", "push", ["pile", "one"], "T")
    node("StackPushV2", "again", ["pile", "push"], "T")
    tf.import_graph_def(message, {}, name="made")  # here


@case
def stack_underflow(tf, run):
    stack(tf)
    run("made/take:0", {"made/bound:0": 3})


@case
def stack_overflow(tf, run):
    stack(tf)
    run("made/again:0", {"made/bound:0": 1, "made/one:0": 1.0})


# ---- running -------------------------------------------------------------------------------------


def outcome(tf, function):
    """The classes of the error that ends a program, and what it says; ([], "") without one."""

    def run(fetches, feeds):
        # As it is: TensorFlow's optimizer drops stacks that nobody pops from.
        config = tf.ConfigProto()
        config.graph_options.rewrite_options.disable_meta_optimizer = True
        with tf.Session(config=config) as session:
            return session.run(fetches, feeds)

    with tf.Graph().as_default():
        try:
            function(tf, run)
        except Exception as error:
            return [kind.__name__ for kind in type(error).__mro__], str(error)
    return [], ""


if __name__ == "__main__":
    import json
    import os

    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    tf1 = tensorflow.compat.v1
    tf1.disable_v2_behavior()
    found = {name: outcome(tf1, function) for name, function in CASES.items()}
    print("\n" + json.dumps(found))

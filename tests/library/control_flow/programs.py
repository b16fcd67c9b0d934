"""Programs of conditionals and loops, to be built by Penstock and by TensorFlow 1.15 alike.

Each takes the package as ``tf`` and returns nothing: the graph it leaves is what is compared.  The
file runs under Python 3.7 as well.
"""

import collections

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def x_(tf, shape=(), dtype="float32", name="x"):
    return tf.placeholder(dtype, shape, name=name)


# ---- cond ----------------------------------------------------------------------------------------


@program
def cond_simple(tf):
    x, y = x_(tf), x_(tf, name="y")
    tf.cond(x < y, lambda: tf.add(x, 17.0), lambda: y)


@program
def cond_constants_and_captures(tf):
    x = x_(tf, [2, None])
    p = x_(tf, [], "bool", "p")
    tf.cond(p, lambda: x * 2.0 + x, lambda: tf.zeros([2, 3]), name="choice")
    tf.cond(p, lambda: (x, x), lambda: (x + 1.0, x))


@program
def cond_list_strict(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf)
    tf.cond(p, lambda: [x + 1.0], lambda: [x], strict=True)
    tf.cond(p, lambda: [x + 1.0], lambda: x)
    tf.cond(p, fn1=lambda: (x,), fn2=lambda: [x - 1.0], name="old")


@program
def cond_dict_and_namedtuple(tf):
    Pair = collections.namedtuple("Pair", "a, b")
    p, x = x_(tf, [], "bool", "p"), x_(tf)
    tf.cond(p, lambda: {"b": x, "a": x * 2.0}, lambda: {"a": x, "b": tf.constant(1.0)})
    tf.cond(p, lambda: Pair(x, [x]), lambda: Pair(x + 1.0, [x]))


@program
def cond_operations(tf):
    p = x_(tf, [], "bool", "p")
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    tf.cond(p, lambda: tf.group(tf.assign(v, [1.0, 2.0])), tf.no_op)
    tf.cond(p, lambda: tf.assign_add(v, [1.0, 2.0]), lambda: v)
    tf.cond(p, lambda: (v.read_value(), v.op), lambda: (v + 1.0, v.initializer))


@program
def cond_resource_variable(tf):
    p = x_(tf, [], "bool", "p")
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer(), use_resource=True)
    tf.cond(p, lambda: v + 1.0, lambda: v * 2.0)
    tf.cond(p, lambda: tf.assign_add(v, [1.0, 2.0]), lambda: v)


@program
def cond_control_dependencies(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf)
    outside = tf.no_op(name="outside")
    with tf.control_dependencies([outside]):

        def true():
            inside = tf.constant(1.0, name="inside")
            with tf.control_dependencies([inside, outside]):
                a = tf.identity(x, name="after")
                b = tf.constant(2.0, name="late")
            with tf.control_dependencies(None):
                c = tf.constant(5.0, name="free")
            return a + b + c

        tf.cond(p, true, lambda: x)
    with tf.control_dependencies([x]):
        tf.cond(p, lambda: tf.constant(1), lambda: tf.constant(2))


@program
def cond_devices(tf):
    p = x_(tf, [], "bool", "p")
    with tf.device("/cpu:0"):
        x = x_(tf)
    with tf.device("/cpu:1"):
        tf.cond(p, lambda: x + 1.0, lambda: x)
    with tf.colocate_with(x):
        tf.cond(p, lambda: x + 1.0, lambda: tf.constant(2.0))


@program
def cond_nested(tf):
    p, q, x = x_(tf, [], "bool", "p"), x_(tf, [], "bool", "q"), x_(tf)

    def inner():
        y = x * 3.0
        return tf.cond(q, lambda: y + x, lambda: tf.cond(p, lambda: y, lambda: x), name="inner")

    tf.cond(p, inner, lambda: x)
    tf.cond(p, lambda: tf.cond(p, lambda: x, lambda: x + 1.0), lambda: tf.constant(0.0))


@program
def cond_slices_and_sparse(tf):
    p = x_(tf, [], "bool", "p")
    values, rows = x_(tf, [None, 2], name="values"), x_(tf, [None], "int32", "rows")

    def slices(a):
        return tf.IndexedSlices(values * a, rows, tf.constant([4, 2]))

    tf.cond(p, lambda: slices(1.0), lambda: slices(2.0))
    s = tf.SparseTensor(tf.constant([[0, 1]], tf.int64), [1.0], tf.constant([2, 2], tf.int64))
    tf.cond(p, lambda: s, lambda: tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape))


@program
def cond_shapes(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf, [2, 3])
    tf.cond(p, lambda: x, lambda: tf.zeros([4, 3]))
    tf.cond(p, lambda: x, lambda: tf.zeros([3]))
    tf.cond(p, lambda: x, lambda: tf.placeholder(tf.float32))
    tf.cond(p, lambda: 1, lambda: 2)


@program
def cond_python_values(tf):
    p = x_(tf, [], "bool", "p")
    tf.cond(p, lambda: [1.0, 2], lambda: [x_(tf, None), 5])


@program
def cond_from_constant(tf):
    x = x_(tf)
    tf.cond(tf.constant(True), lambda: x, lambda: x + 1.0)


@program
def cond_random_and_names(tf):
    p = x_(tf, [], "bool", "p")
    with tf.name_scope("outer"):
        tf.cond(p, lambda: tf.random_normal([2]), lambda: tf.nn.relu(tf.ones([2])))


@program
def with_dependencies_in_cond(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf)
    tf.cond(p, lambda: tf.tuple([x, x + 1.0]), lambda: tf.tuple([x * 1.0, x]))


# ---- case ----------------------------------------------------------------------------------------


@program
def case_default(tf):
    x, y = x_(tf, [], "int32"), x_(tf, [], "int32", "y")
    tf.case([(x < y, lambda: x), (x > y, lambda: y)], default=lambda: tf.constant(-1))


@program
def case_exclusive(tf):
    x, y = x_(tf, [], "int32"), x_(tf, [], "int32", "y")
    tf.case({x < y: lambda: x, x > y: lambda: y}, lambda: tf.constant(-1), exclusive=True)


@program
def case_no_default(tf):
    x, y = x_(tf, [], "int32"), x_(tf, [], "int32", "y")
    tf.case([(x < y, lambda: x), (x > y, lambda: y), (x > 3, lambda: y * 2)])


# ---- while_loop ----------------------------------------------------------------------------------


@program
def while_counter(tf):
    tf.while_loop(lambda i: i < 10, lambda i: i + 1, [tf.constant(0)])
    tf.while_loop(lambda i: tf.less(i, 10), lambda i: tf.add(i, 1), [0], name="named")


@program
def while_attributes(tf):
    x = x_(tf)
    tf.while_loop(
        lambda i: i < 10.0,
        lambda i: [i + x],
        [x],
        parallel_iterations=3,
        back_prop=False,
        swap_memory=True,
        return_same_structure=True,
    )


@program
def while_captures(tf):
    x, y = x_(tf, [2, 3]), x_(tf, [3], name="y")
    c = tf.constant([1.0, 2.0, 3.0])
    tf.while_loop(
        lambda i, a: tf.logical_and(i < 10, tf.reduce_sum(a) < 100.0),
        lambda i, a: (i + 1, a * y + c + tf.constant(2.0) * y),
        (0, x),
    )


@program
def while_constant_body(tf):
    c = tf.constant(5.0)
    tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, c + c), (0, c))
    tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, tf.ones([])), (0, c))
    tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, c), (0, c))


@program
def while_nested_structure(tf):
    Pair = collections.namedtuple("Pair", "j, k")
    start = (tf.constant(0), Pair(tf.constant(1), tf.constant(2)), {"b": tf.constant(1.0)})
    tf.while_loop(
        lambda i, p, d: i < 10,
        lambda i, p, d: (i + 1, Pair(p.j + p.k, p.j - p.k), {"b": d["b"] * 2.0}),
        start,
    )


@program
def while_shape_invariants(tf):
    i0, m0 = tf.constant(0), tf.ones([2, 2])
    tf.while_loop(
        lambda i, m: i < 10,
        lambda i, m: [i + 1, tf.concat([m, m], axis=0)],
        loop_vars=[i0, m0],
        shape_invariants=[i0.get_shape(), tf.TensorShape([None, 2])],
    )


@program
def while_maximum_iterations(tf):
    x = x_(tf)
    tf.while_loop(lambda i: i < x, lambda i: i + 1.0, [x], maximum_iterations=7)
    tf.while_loop(lambda i: i < x, lambda i: i + 1.0, (x,), maximum_iterations=tf.constant(7))
    tf.while_loop(
        lambda i, j: i < x,
        lambda i, j: (i + 1.0, j),
        (x, 0),
        maximum_iterations=7,
        shape_invariants=(tf.TensorShape(None), tf.TensorShape([])),
    )


@program
def error_maximum_iterations_list(tf):
    x = x_(tf)
    tf.while_loop(lambda i, j: i < x, lambda i, j: (i + 1.0, j), [x, x], maximum_iterations=7)


@program
def while_variables(tf):
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    r = tf.get_variable("r", [2], initializer=tf.zeros_initializer(), use_resource=True)
    tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a + v + r), (0, tf.zeros([2])))
    tf.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a + v), (0, v))

    def update(i):
        with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0]), r.assign_add([1.0, 1.0])]):
            return i + 1

    tf.while_loop(lambda i: i < 10, update, [0])


@program
def while_control_dependencies(tf):
    x = x_(tf)
    op, tensor = tf.no_op(name="before"), tf.constant(1.0, name="tensor")
    with tf.control_dependencies([op, tensor]):

        def body(i, a):
            inside = tf.no_op(name="inside")
            with tf.control_dependencies([inside, tensor]):
                b = tf.identity(x, name="after")
                c = tf.constant(3.0, name="constant")
            with tf.control_dependencies([a]):
                d = tf.constant(4.0, name="constant2")
            return i + 1, a + b + c + d

        tf.while_loop(lambda i, a: i < 3, body, (0, x))


@program
def while_devices(tf):
    with tf.device("/cpu:0"):
        x, y = x_(tf), x_(tf, name="y")
    with tf.device("/cpu:1"):

        def body(i, a):
            with tf.device("/cpu:2"):
                b = a * y
            return i + 1, b

        tf.while_loop(lambda i, a: i < 3, body, (0, x))


@program
def while_nested(tf):
    x = x_(tf)

    def inner(i, a):
        _, b = tf.while_loop(
            lambda j, b: j < i, lambda j, b: (j + 1, b * x + a), (0, a), name="inner"
        )
        return i + 1, b

    tf.while_loop(lambda i, a: i < 3, inner, (0, x), name="outer")


@program
def while_nested_invariant_start(tf):
    x, n = x_(tf, [2]), x_(tf, [], "int32", "n")

    def inner(i, a):
        j, b = tf.while_loop(lambda j, b: j < n, lambda j, b: (j + 1, b * 2.0), (n, x))
        return i + j, a + b

    tf.while_loop(lambda i, a: i < 3, inner, (0, x))


@program
def while_three_deep(tf):
    x = x_(tf)

    def deepest(k, c):
        return k + 1, c + x

    def middle(j, b):
        return j + 1, tf.while_loop(lambda k, c: k < j, deepest, (0, b))[1] * x

    def outer(i, a):
        return i + 1, tf.while_loop(lambda j, b: j < i, middle, (0, a))[1]

    tf.while_loop(lambda i, a: i < 3, outer, (0, x))


@program
def while_slices_and_sparse(tf):
    values, rows = x_(tf, [None, 2], name="values"), x_(tf, [None], "int32", "rows")
    slices = tf.IndexedSlices(values, rows, tf.constant([4, 2]))
    sparse = tf.SparseTensor(tf.constant([[0, 1]], tf.int64), [1.0], tf.constant([2, 2], tf.int64))

    def body(i, a, s):
        return (
            i + 1,
            tf.IndexedSlices(a.values * 2.0, a.indices, a.dense_shape),
            tf.SparseTensor(s.indices, s.values * 2.0, s.dense_shape),
        )

    tf.while_loop(lambda i, a, s: i < 3, body, (0, slices, sparse))
    shapes = (tf.TensorShape([]), tf.TensorShape([None, 2]), tf.TensorShape([None]))
    tf.while_loop(lambda i, a, s: i < 3, body, (0, slices, sparse), shape_invariants=shapes)


@program
def while_same_variable_twice(tf):
    x = x_(tf)
    tf.while_loop(lambda a, b, c: a < 3.0, lambda a, b, c: (b, a, a), (x, x, x))


@program
def while_after_while(tf):
    x = x_(tf)
    a = tf.while_loop(lambda a: a < 3.0, lambda a: a + x, [x])
    tf.while_loop(lambda b: b < a, lambda b: b + a, [a])


# ---- both ----------------------------------------------------------------------------------------


@program
def cond_in_while(tf):
    x = x_(tf)

    def body(i, a):
        b = tf.cond(tf.equal(i % 2, 0), lambda: a * x, lambda: a + 1.0)
        return i + 1, tf.cond(b > x, lambda: b, lambda: tf.constant(0.0))

    tf.while_loop(lambda i, a: i < 10, body, (0, x))


@program
def while_in_cond(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf)

    def loop():
        y = x * 2.0
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x + y), (0, x))[1]

    tf.cond(p, loop, lambda: x)


@program
def cond_in_while_in_cond(tf):
    p, x, n = x_(tf, [], "bool", "p"), x_(tf), x_(tf, [], "int32", "n")

    def body(i, a):
        other = lambda: tf.cond(p, lambda: x, lambda: a)  # noqa: E731
        return i + 1, tf.cond(tf.equal(i, n), lambda: a * x, other)

    def loop():
        return tf.while_loop(lambda i, a: i < n, body, (0, x))[1]

    tf.cond(p, loop, lambda: tf.cond(x > 0.0, loop, lambda: x))


@program
def while_in_cond_in_while(tf):
    p, x, n = x_(tf, [], "bool", "p"), x_(tf), x_(tf, [], "int32", "n")

    def inner(a):
        return tf.while_loop(lambda j, b: j < n, lambda j, b: (j + 1, b * x), (0, a))[1]

    def body(i, a):
        with tf.control_dependencies([x]):
            return i + 1, tf.cond(p, lambda: inner(a), lambda: a + x)

    tf.while_loop(lambda i, a: i < n, body, (0, x))


@program
def cond_in_condition(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf)
    tf.while_loop(
        lambda a: tf.cond(p, lambda: a < x, lambda: tf.constant(False)), lambda a: a * x, [x]
    )


@program
def variables_in_cond_in_while(tf):
    p = x_(tf, [], "bool", "p")
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    r = tf.get_variable("r", [], initializer=tf.zeros_initializer(), use_resource=True)

    def body(i):
        a = tf.cond(p, lambda: tf.assign_add(v, 1.0), lambda: v + r)
        with tf.control_dependencies([a]):
            return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])


@program
def import_in_cond(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf)
    g = tf.Graph()
    with g.as_default():
        a = tf.placeholder(tf.float32, [], name="a")
        tf.add(a, a, name="b")
    message = g.as_graph_def()
    tf.cond(p, lambda: tf.import_graph_def(message, {"a:0": x}, ["b:0"])[0], lambda: x)


@program
def assert_everywhere(tf):
    x, p = x_(tf), x_(tf, [], "bool", "p")
    tf.Assert(x > 1.0, [x])
    tf.Assert(x > 1.0, ["text", 3])

    def body(i, a):
        with tf.control_dependencies([tf.Assert(a < 9.0, [a]), tf.assert_positive(i)]):
            return i + 1, a * x

    tf.while_loop(lambda i, a: i < 3, body, (1, x))

    def branch():
        with tf.control_dependencies([tf.assert_equal(x, 2.0)]):
            return tf.identity(x)

    tf.cond(p, branch, lambda: x)


@program
def optimizer_in_cond(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf, [2])
    v = tf.get_variable("v", [2], initializer=tf.zeros_initializer())
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    grads = optimizer.compute_gradients(tf.reduce_sum(v * v * x))
    tf.cond(p, lambda: optimizer.apply_gradients(grads), lambda: tf.group())


@program
def scopes_in_loop(tf):
    x, q = x_(tf, [2]), tf.FIFOQueue(3, [tf.float32], [[2]])

    def body(i, a):
        with tf.name_scope("layer"), tf.device(lambda op: "/cpu:1"):
            b = tf.nn.relu(a)
        with tf.variable_scope("weights", reuse=tf.AUTO_REUSE):
            w = tf.get_variable("w", [2])
        return i + 1, tf.Print(b + w + q.dequeue(), [i])

    tf.while_loop(lambda i, a: i < 3, body, (0, x))
    tf.while_loop(lambda i, a: i < 3, body, (0, x))


@program
def variable_made_in_cond(tf):
    p = x_(tf, [], "bool", "p")

    def branch():
        with tf.variable_scope("weights", reuse=tf.AUTO_REUSE):
            return tf.get_variable("w", [2]) * 2.0

    tf.cond(p, branch, branch)


@program
def constants_of_outer_loop(tf):
    n, x = x_(tf, [], "int32", "n"), x_(tf)

    def body(i, a):
        with tf.control_dependencies([a]):
            b = tf.constant(2.0) * x
        c = tf.while_loop(lambda j, c: j < n, lambda j, c: (j + i, c + b * x), (i, x))[1]
        with tf.control_dependencies([c]):
            d = tf.while_loop(lambda d: d < x, lambda d: d + tf.constant(1.0), [tf.constant(0.0)])
        return i + 1, c + d

    tf.while_loop(lambda i, a: i < n, body, (0, x))


@program
def conditional_shapes_and_reshape(tf):
    x, p = x_(tf, [None, 3]), x_(tf, [], "bool", "p")
    y = tf.cond(p, lambda: tf.reshape(x, [-1]), lambda: tf.zeros([6]))
    z = tf.while_loop(
        lambda z: tf.shape(z)[0] < 10,
        lambda z: tf.concat([z, y], 0),
        [y],
        shape_invariants=[tf.TensorShape([None])],
    )
    tf.reshape(z, [tf.shape(x)[0], -1])


def message_of_loop(tf):
    g = tf.Graph()
    with g.as_default():
        a = tf.placeholder(tf.float32, [], name="a")
        b = tf.while_loop(
            lambda i, b: i < 3,
            lambda i, b: (i + 1, tf.cond(b > 2.0, lambda: b * a, lambda: b)),
            (0, a),
        )
        tf.identity(b[1], name="b")
    return g.as_graph_def()


@program
def import_loop(tf):
    message = message_of_loop(tf)
    tf.import_graph_def(message, name="")
    tf.import_graph_def(message)


@program
def import_loop_in_cond(tf):
    p, x, message = x_(tf, [], "bool", "p"), x_(tf), message_of_loop(tf)
    tf.cond(p, lambda: tf.import_graph_def(message, {"a:0": x}, ["b:0"])[0], lambda: x)


@program
def import_loop_in_loop(tf):
    x, message = x_(tf), message_of_loop(tf)
    tf.while_loop(
        lambda y: y < 3.0,
        lambda y: tf.import_graph_def(message, {"a:0": y}, ["b:0"])[0] + x,
        [x],
        shape_invariants=[tf.TensorShape(None)],
    )


def nested_constructs(tf):
    p, x = x_(tf, [], "bool", "p"), x_(tf)

    def body(i, a):
        return i + 1, tf.cond(p, lambda: a * x, lambda: tf.cond(a > x, lambda: a, lambda: x))

    with tf.name_scope("scope"):
        tf.while_loop(lambda i, a: i < 3, body, (0, x), maximum_iterations=5)
        tf.cond(p, lambda: tf.while_loop(lambda i, a: i < 3, body, (0, x))[1], lambda: x)


@program
def meta_graph(tf):
    g = tf.Graph()
    with g.as_default():
        nested_constructs(tf)
        message = tf.train.export_meta_graph()
    tf.train.import_meta_graph(message)
    tf.train.import_meta_graph(message, import_scope="again")
    with tf.Graph().as_default():
        tf.train.import_meta_graph(message)
        nested_constructs(tf)


# ---- errors --------------------------------------------------------------------------------------


@program
def error_python_bool(tf):
    tf.cond(True, lambda: 1, lambda: 2)


@program
def error_pred_dtype(tf):
    tf.cond(x_(tf, [], "int32"), lambda: 1, lambda: 2)


@program
def error_pred_rank(tf):
    tf.cond(x_(tf, [2], "bool"), lambda: 1, lambda: 2)


@program
def error_branch_dtypes(tf):
    tf.cond(x_(tf, [], "bool"), lambda: 1, lambda: 2.0)


@program
def error_branch_number(tf):
    tf.cond(x_(tf, [], "bool"), lambda: (1, 2), lambda: 2)


@program
def error_branch_types(tf):
    tf.cond(x_(tf, [], "bool"), lambda: (1, 2), lambda: [1, 2])


@program
def error_branch_none(tf):
    tf.cond(x_(tf, [], "bool"), lambda: None, lambda: 2)


@program
def error_branch_keys(tf):
    tf.cond(x_(tf, [], "bool"), lambda: {"a": 1}, lambda: {"b": 1})


@program
def error_branch_empty(tf):
    tf.cond(x_(tf, [], "bool"), lambda: (), lambda: ())


@program
def error_loop_shape(tf):
    tf.while_loop(lambda i: True, lambda i: tf.concat([i, i], 0), [tf.ones([2])])


@program
def error_loop_dtype(tf):
    tf.while_loop(lambda i: i < 3, lambda i: tf.to_float(i), [0])


@program
def error_loop_number(tf):
    tf.while_loop(lambda i, j: i < 3, lambda i, j: (i, j, i), (0, 0))


@program
def error_loop_structure(tf):
    tf.while_loop(lambda i, j: i < 3, lambda i, j: (i, (j,)), (0, [0]))


@program
def error_loop_invariant(tf):
    tf.while_loop(
        lambda i: True, lambda i: i, [tf.ones([2])], shape_invariants=[tf.TensorShape([3])]
    )


@program
def error_loop_no_variables(tf):
    tf.while_loop(lambda: True, lambda: (), [])


@program
def error_loop_pred_dtype(tf):
    tf.while_loop(lambda i: i, lambda i: i, [0])


@program
def error_loop_pred_rank(tf):
    tf.while_loop(lambda i: i < 2, lambda i: i, [tf.ones([2])])


@program
def error_loop_not_callable(tf):
    tf.while_loop(True, lambda i: i, [0])


@program
def error_out_of_loop(tf):
    seen = []

    def body(i):
        seen.append(i)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    tf.identity(seen[0])


@program
def error_other_loop(tf):
    seen = []

    def body(i):
        seen.append(i)
        return i + 1

    tf.while_loop(lambda i: i < 3, body, [0])
    tf.while_loop(lambda i: i < 3, lambda i: i + seen[0], [0])


@program
def error_case_pred(tf):
    tf.case([(x_(tf, [], "int32"), lambda: 1)], lambda: 2)


@program
def error_case_type(tf):
    tf.case(3)


@program
def error_maximum_iterations(tf):
    tf.while_loop(lambda i: i < 3, lambda i: i, [0], maximum_iterations=[1, 2])


@program
def branch_tensor_outside(tf):
    seen, p, x = [], x_(tf, [], "bool", "p"), x_(tf)

    def true():
        seen.append(x * 2.0)
        return seen[0]

    tf.cond(p, true, lambda: x)
    tf.identity(seen[0])
    tf.cond(p, lambda: seen[0] + 1.0, lambda: x)


# ---- dumping -------------------------------------------------------------------------------------


def plain(op):
    """A node as JSON: what two systems must agree on."""
    node = op.node_def
    attrs = {}
    for key in ("frame_name", "is_constant", "parallel_iterations", "_class", "T", "N", "dtype"):
        if key in node.attr:
            value = node.attr[key]
            kind = value.WhichOneof("value")
            raw = getattr(value, kind)
            if kind == "list":
                raw = [s.decode() for s in value.list.s]
            attrs[key] = raw.decode() if isinstance(raw, bytes) else raw
    shapes = []
    for tensor in op.outputs:
        shape = tensor.get_shape()
        shapes.append(None if shape.ndims is None else shape.as_list())
    inputs = [t.name for t in op.inputs]
    controls = sorted(c.name for c in op.control_inputs)
    return {
        "name": node.name,
        "op": node.op,
        "inputs": inputs,
        "controls": controls,
        "device": node.device,
        "attrs": attrs,
        "shapes": shapes,
    }


def contexts(graph):
    """The messages of a graph's contexts; maps in order of their keys."""
    found = []
    for key in ("cond_context", "while_context"):
        for context in graph.get_collection(key):
            found.append(context.to_proto().SerializeToString(deterministic=True).hex())
    return found


def dump(tf, function, message=False):
    """The nodes that a program makes, with the error that ends it, if any."""
    graph = tf.Graph()
    error = None
    with graph.as_default():
        try:
            function(tf)
        except (TypeError, ValueError) as raised:
            error = type(raised).__name__
            if message:
                print(function.__name__, raised)
    return {
        "nodes": [plain(op) for op in graph.get_operations()],
        "contexts": [] if error else contexts(graph),
        "error": error,
    }


if __name__ == "__main__":
    import json
    import sys

    import tensorflow

    with open(sys.argv[1], "w") as f:
        json.dump({k: dump(tensorflow, v) for k, v in PROGRAMS.items()}, f)

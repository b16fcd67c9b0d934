"""Programs with gradients through a conditional or a loop, for Penstock and for TensorFlow.

Each takes the module ``tf``, builds into the default graph and returns what is to be fetched (a
list; gradients among it may be None or IndexedSlices). ``FEEDS`` are the values of the placeholders
that ``given`` makes. No annotations are used that Python 3.7 does not know: TensorFlow 1.15 runs
this file.
"""

import numpy as np

X = np.array([0.5, -0.25, 0.75], np.float32)
W = np.array([0.8, 1.1, -0.6], np.float32)
MATRIX = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
FEEDS = {"x": X, "w": W, "s": np.float32(0.7), "m": MATRIX, "p": True, "q": False, "n": np.int32(3)}
_TYPES = {"p": "bool", "q": "bool", "n": "int32"}

PROGRAMS = {}
# TensorFlow 1.15 fails to build or run the gradients of these; what Penstock builds it runs.
BEYOND = set()
# Penstock's nodes of these differ from TensorFlow's: it keeps fewer values of a loop's rounds.
OTHER_NODES = set()


def program(build):
    PROGRAMS[build.__name__] = build
    return build


def beyond(build):
    BEYOND.add(build.__name__)
    return program(build)


def other_nodes(build):
    OTHER_NODES.add(build.__name__)
    return program(build)


def given(tf, *names, known=False):
    """Placeholders by name; a float's shape is known only if asked."""
    made = []
    for name in names:
        dtype = getattr(tf, _TYPES.get(name, "float32"))
        scalar = name in "pqn"
        shape = np.shape(FEEDS[name]) if known or scalar else None
        made.append(tf.placeholder(dtype, shape, name=name))
    return made if len(made) > 1 else made[0]


def loop(tf, cond, body, start, **more):
    """A loop whose float variables may change their shape."""
    invariants = []
    for value in start:
        value = tf.convert_to_tensor(value)
        invariants.append(tf.TensorShape(None if value.dtype.is_floating else []))
    return tf.while_loop(cond, body, start, shape_invariants=invariants, **more)


def dense(tf, fetches):
    """What a program returns, with tensors for IndexedSlices; None stays."""
    return [f if f is None else tf.convert_to_tensor(f) for f in fetches]


# ---- conditionals ------------------------------------------------------------------------------


@program
def cond_both_branches(tf):
    x, w, p = given(tf, "x", "w", "p")
    y = tf.cond(p, lambda: x * x * w, lambda: tf.sin(w) + x)
    return [y] + tf.gradients(y, [x, w])


@program
def cond_not_taken(tf):
    x, w, q = given(tf, "x", "w", "q", known=True)
    y = tf.cond(q, lambda: x * x, lambda: tf.exp(w))
    return [y] + tf.gradients(y, [x, w])


@program
def cond_of_cond(tf):
    x, p, q = given(tf, "x", "p", "q")
    y = tf.cond(p, lambda: tf.cond(q, lambda: tf.sin(x), lambda: x * x), lambda: x + 1.0)
    z = tf.cond(q, lambda: tf.cond(p, lambda: tf.sin(x), lambda: x * x), lambda: x + y)
    return [z] + tf.gradients(z, [x])


@program
def cond_many_outputs(tf):
    x, w, p = given(tf, "x", "w", "p")
    a, b = tf.cond(p, lambda: (x * w, w), lambda: (x, tf.cos(w)))
    return [a] + tf.gradients(a, [x, w]) + tf.gradients(a * b, [x, w])


@program
def cond_gradient_of_gradient(tf):
    x, p = given(tf, "x", "p")
    y = tf.cond(p, lambda: x * x * x, lambda: tf.sin(x))
    first = tf.gradients(y, x)
    return first + tf.gradients(first, x)


@program
def cond_sparse(tf):
    m, p = given(tf, "m", "p")
    y = tf.cond(p, lambda: tf.gather(m, [1, 3, 1]), lambda: tf.gather(m, [0, 2, 2]) * 2.0)
    return [y] + tf.gradients(y, [m])


@program
def cond_sparse_and_dense(tf):
    m, q = given(tf, "m", "q")
    y = tf.cond(q, lambda: tf.gather(m, [1, 3]), lambda: m * m)
    return [y] + tf.gradients(y, [m])


@other_nodes
def cond_gradient_in_a_branch(tf):
    x, p = given(tf, "x", "p", known=True)

    def true():
        return tf.gradients(tf.sin(x) * x, x)[0]

    y = tf.cond(p, true, lambda: x + 1.0)
    return [y]


@program
def cond_gradient_in_a_branch_of_what_is_outside(tf):
    x, w, p, q = given(tf, "x", "w", "p", "q", known=True)
    y = tf.tanh(x * w)
    return [
        tf.cond(p, lambda: tf.gradients(y, x)[0], lambda: x),
        tf.cond(q, lambda: tf.gradients(y, x)[0], lambda: x),
    ]


@program
def cond_variables(tf):
    x, p, q = given(tf, "x", "p", "q")
    out = []
    for kind in (True, False):
        v = tf.get_variable(f"v{kind}", initializer=W, use_resource=kind)
        y = tf.cond(p, lambda v=v: tf.sin(v) * x, lambda: x * 1.0)
        z = tf.cond(q, lambda v=v: tf.sin(v) * x, lambda v=v: x * v)
        out += [y] + tf.gradients(y + z, [v, x])
    return out


@other_nodes
def cond_variable_gathered(tf):
    p, q = given(tf, "p", "q")
    out = []
    for kind in (True, False):
        v = tf.get_variable(f"v{kind}", initializer=MATRIX, use_resource=kind)
        y = tf.cond(p, lambda v=v: tf.gather(v, [1, 1]), lambda: tf.zeros([2, 3]))
        z = tf.cond(q, lambda v=v: tf.gather(v, [1, 1]), lambda: tf.zeros([2, 3]))
        out += tf.gradients(y, [v]) + tf.gradients(z, [v])
    return out


@program
def case_gradients(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = tf.case(
        [(tf.equal(n, 1), lambda: x), (tf.equal(n, 3), lambda: x * w)], default=lambda: w * 2.0
    )
    return [y] + tf.gradients(y, [x, w])


# ---- loops -------------------------------------------------------------------------------------


@program
def while_power(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)
    y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * a * w), [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def while_power_of_unknown_shape(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * a * w), [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def while_no_rounds(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = loop(tf, lambda i, a: i > n, lambda i, a: (i + 1, a * a * w), [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def while_several_variables(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = loop(
        tf,
        lambda i, a, b, c: i < n,
        lambda i, a, b, c: (i + 1, a * b, b + tf.sin(c), c * w),
        [0, x, w, x],
    )
    some = tf.gradients(y[1], [x, w])
    y = list(y)
    return y[1:] + some + tf.gradients(y[1:], [x, w]) + tf.gradients(y[3], [x, w])


@program
def while_variable_that_only_passes(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)
    y = tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, a * b, b), [0, x, w])
    return tf.gradients(y[1], [x, w]) + tf.gradients(y[2], [x, w])


@other_nodes
def while_next_value_from_outside(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = loop(tf, lambda i, a, b: i < n, lambda i, a, b: (i + 1, a + b * x, x * w), [0, x, x])
    return [y[1]] + tf.gradients(y[1] + y[2], [x, w])


@program
def while_last_value_alone_counts(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)
    y = tf.while_loop(lambda i, a, b: i < n, lambda i, a, b: (i + 1, b, w * 2.0), [0, x, x])
    return tf.gradients(y[1], [x, w]) + tf.gradients(y[2], [x, w])


@program
def while_until_the_value_is_large(tf):
    s = given(tf, "s", known=True)
    y = tf.while_loop(lambda a: a < 10.0, lambda a: a * a + 1.0, [s])
    y = y[0] if isinstance(y, (list, tuple)) else y
    return [y] + tf.gradients(y, [s])


@other_nodes
def while_constants_and_ints(tf):
    x, n = given(tf, "x", "n")

    def body(i, a, k):
        return i + 1, a * tf.constant(2.0) + tf.cast(k, tf.float32), k + i

    y = loop(tf, lambda i, a, k: i < n, body, [0, x, 1])
    return [y[1]] + tf.gradients(y[1], [x])


@other_nodes
def while_matmul(tf):
    m, n = given(tf, "m", "n")
    square = tf.matmul(m, m, transpose_a=True)

    def body(i, a):
        return i + 1, tf.tanh(tf.matmul(a, square))

    y = loop(tf, lambda i, a: i < n, body, [0, m])
    return [y[1]] + tf.gradients(y[1], [m])


@program
def while_recurrent(tf):
    m, w, n = given(tf, "m", "w", "n", known=True)
    kernel = tf.get_variable("kernel", initializer=np.eye(3, dtype=np.float32) * 0.5)

    def body(i, h):
        return i + 1, tf.tanh(tf.matmul(h, kernel) + m[i] * w)

    y = tf.while_loop(lambda i, h: i < n, body, [0, m[:2]], swap_memory=True)
    return [y[1]] + tf.gradients(y[1], [m, w, kernel])


@other_nodes
def while_gather(tf):
    m, n = given(tf, "m", "n")
    y = tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, a + tf.reduce_sum(tf.gather(m, [i, 0]))), [0, 1.0]
    )
    return [y[1]] + tf.gradients(y[1], [m])


@program
def while_gather_of_known_shape(tf):
    m, n = given(tf, "m", "n", known=True)
    y = tf.while_loop(
        lambda i, a: i < n, lambda i, a: (i + 1, a * tf.reduce_sum(tf.gather(m, [i]))), [0, 1.0]
    )
    return [y[1]] + tf.gradients(y[1], [m])


@other_nodes
def while_split_with_an_unused_part(tf):
    m, n = given(tf, "m", "n")

    def body(i, a):
        first, _ = tf.split(a, 2)
        return i + 1, tf.concat([tf.sin(first), first], 0)

    y = loop(tf, lambda i, a: i < n, body, [0, m])
    return [y[1]] + tf.gradients(y[1], [m])


@other_nodes
def while_grows(tf):
    x, n = given(tf, "x", "n")
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, tf.concat([a, a * a], 0)), [0, x])
    return [y[1]] + tf.gradients(y[1], [x])


@program
def while_without_back_prop(tf):
    x, n = given(tf, "x", "n")
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * a), [0, x], back_prop=False)
    return [y[1]] + tf.gradients(y[1] + x, [x]) + tf.gradients(y[1], [x])


@other_nodes
def while_stop_gradients(tf):
    x, w, n = given(tf, "x", "w", "n")
    v = x * w
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * v), [0, x])
    return tf.gradients(y[1], [x, v], stop_gradients=[v]) + tf.gradients(y[1], [v, w])


@program
def while_twice_differentiated_anew(tf):
    x, n = given(tf, "x", "n")
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * tf.sin(a)), [0, x])
    return tf.gradients(y[1], x) + tf.gradients(y[1] * 2.0, x)


@other_nodes
def while_after_while(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * w), [0, x])[1]
    z = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * y), [0, tf.sin(y)])[1]
    return [z] + tf.gradients(z, [x, w])


@beyond
def while_table_is_a_variable(tf):
    m, n = given(tf, "m", "n", known=True)
    y = tf.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, tf.sin(t) * t), [0, m])
    z = tf.gather(y[1], [1, 1])
    return tf.gradients(z, [m]) + tf.gradients(z + tf.reduce_sum(y[1]), [m])


@other_nodes
def while_gathers_from_a_variable(tf):
    m, n = given(tf, "m", "n", known=True)

    def body(i, t, a):
        return i + 1, t * 0.5, a + tf.reduce_sum(tf.gather(t, [i, 1]))

    y = tf.while_loop(lambda i, t, a: i < n, body, [0, m, 1.0])
    return [y[2]] + tf.gradients(y[2], [m])


@other_nodes
def while_variables(tf):
    x, n = given(tf, "x", "n")
    out = []
    for kind in (True, False):
        v = tf.get_variable(f"v{kind}", initializer=W, use_resource=kind)
        y = loop(tf, lambda i, a: i < n, lambda i, a, v=v: (i + 1, a * v + v), [0, x])
        out += tf.gradients(y[1], [v, x])
    return out


@other_nodes
def while_variable_gathered(tf):
    n = given(tf, "n")
    out = []
    for kind in (True, False):
        v = tf.get_variable(f"v{kind}", initializer=MATRIX, use_resource=kind)

        def body(i, a, v=v):
            return i + 1, a + tf.reduce_sum(tf.gather(v, [i, 1]) * a)

        y = tf.while_loop(lambda i, a: i < n, body, [0, 1.0])
        out += tf.gradients(y[1], [v])
    return out


@other_nodes
def while_one_at_a_time_beside_ops(tf):
    x, w, n = given(tf, "x", "w", "n")
    with tf.device("/cpu:0"):
        y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * w), [0, x], parallel_iterations=1)
    return tf.gradients(y[1], [x, w], colocate_gradients_with_ops=True)


@other_nodes
def while_gated(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * w + a * a), [0, x])
    return tf.gradients(
        y[1], [x, w], gate_gradients=True,
        aggregation_method=tf.AggregationMethod.EXPERIMENTAL_TREE,
    )  # fmt: skip


@other_nodes
def while_given_gradients(tf):
    x, w, n = given(tf, "x", "w", "n")
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * w), [0, x])
    return tf.gradients(y[1], [x, w], grad_ys=[tf.cos(w)])


@program
def while_maximum_iterations(tf):
    x, w = given(tf, "x", "w", known=True)
    y = tf.while_loop(lambda a: tf.constant(True), lambda a: a * w, [x], maximum_iterations=2)
    y = y[0] if isinstance(y, (list, tuple)) else y
    return [y] + tf.gradients(y, [x, w])


@program
def while_gradient_in_the_body(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    def body(i, a):
        return i + 1, a - 0.1 * tf.gradients(tf.sin(a) * w, a)[0]

    return [tf.while_loop(lambda i, a: i < n, body, [0, x])[1]]


@other_nodes
def while_gradient_of_a_loop_in_the_body(tf):
    x, n = given(tf, "x", "n", known=True)

    def body(i, a):
        r = tf.while_loop(lambda j, c: j < 2, lambda j, c: (j + 1, tf.sin(c) * x), [0, a])[1]
        return i + 1, a - 0.1 * tf.gradients(r, a)[0]

    return [tf.while_loop(lambda i, a: i < n, body, [0, x])[1]]

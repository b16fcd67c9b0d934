"""Programs with conditionals in loops and loops in conditionals, and with TensorArrays."""

from tests.library.autodiff.control_flow_programs import (
    W,
    beyond,
    given,
    loop,
    other_nodes,
    program,
)

# ---- nested ------------------------------------------------------------------------------------


@other_nodes
def while_in_while(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    def body(i, a):
        b = tf.exp(a * 0.1)
        r = tf.while_loop(lambda j, c: j < i, lambda j, c: (j + 1, c * b * w), [0, a])
        return i + 1, r[1]

    y = tf.while_loop(lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def while_in_while_of_unknown_shape(tf):
    x, w, n = given(tf, "x", "w", "n")

    def body(i, a):
        b = tf.exp(a * 0.1)
        r = loop(tf, lambda j, c: j < i, lambda j, c: (j + 1, c * b * w), [0, a])
        return i + 1, r[1]

    y = loop(tf, lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def three_loops(tf):
    x, w, n = given(tf, "x", "w", "n")

    def inmost(k, d):
        return k + 1, d * w + tf.sin(d)

    def inner(j, c):
        return j + 1, loop(tf, lambda k, d: k < j, inmost, [0, c])[1] * x

    def outer(i, a):
        return i + 1, loop(tf, lambda j, c: j < i, inner, [0, a])[1] * 0.5

    y = loop(tf, lambda i, a: i < n, outer, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def cond_in_while(tf):
    x, w, n = given(tf, "x", "w", "n")

    def body(i, a):
        return i + 1, tf.cond(i < 1, lambda: a * a, lambda: x * tf.exp(a * 0.1) * w)

    y = loop(tf, lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def cond_in_while_of_known_shape(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: tf.sin(a), lambda: w * 1.0)

    y = tf.while_loop(lambda i, a: i < n + 1, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def cond_of_an_invariant_in_while(tf):
    x, w, n, p = given(tf, "x", "w", "n", "p")

    def body(i, a):
        b = tf.cond(p, lambda: tf.cond(i > 0, lambda: tf.sin(w), lambda: w), lambda: tf.exp(w))
        return i + 1, a * b

    y = loop(tf, lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def cond_in_cond_in_while(tf):
    x, w, n = given(tf, "x", "w", "n")

    def body(i, a):
        def true():
            return tf.cond(a[0] > 0.2, lambda: tf.tanh(a) * w, lambda: a * x)

        return i + 1, tf.cond(i < 2, true, lambda: tf.cond(i < 3, lambda: tf.exp(a), lambda: a))

    y = loop(tf, lambda i, a: i < n + 2, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def while_in_cond(tf):
    x, w, n, p, q = given(tf, "x", "w", "n", "p", "q")
    out = []
    for predicate in (p, q):

        def true():
            return loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * a * w), [0, x])[1]

        y = tf.cond(predicate, true, lambda: x * 3.0)
        out += [y] + tf.gradients(y, [x, w])
    return out


@other_nodes
def while_in_cond_in_while(tf):
    x, w, n = given(tf, "x", "w", "n")

    def body(i, a):
        def true():
            return loop(tf, lambda j, b: j < 2, lambda j, b: (j + 1, b * x * w), [0, a])[1]

        def false():
            return tf.cond(i < 2, lambda: tf.exp(a * 0.1), lambda: a)

        return i + 1, tf.cond(tf.equal(i % 2, 0), true, false)

    y = loop(tf, lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def cond_in_while_in_while(tf):
    x, w, n = given(tf, "x", "w", "n")

    def inner(j, b):
        return j + 1, tf.cond(j > 0, lambda: b * w, lambda: tf.sin(b) * x)

    def body(i, a):
        c = a * w
        return i + 1, loop(tf, lambda j, b: j < i, inner, [0, tf.tanh(c)])[1] + c

    y = loop(tf, lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def split_in_cond_in_while(tf):
    m, n = given(tf, "m", "n")

    def true(a):
        first, _ = tf.split(a, 2)
        return tf.concat([first * first, first], 0)

    def body(i, a):
        return i + 1, tf.cond(i < 1, lambda: true(a), lambda: tf.sin(a))

    y = loop(tf, lambda i, a: i < n, body, [0, m])
    return [y[1]] + tf.gradients(y[1], [m])


@beyond
def gather_in_cond_in_while(tf):
    m, n = given(tf, "m", "n")

    def body(i, a):
        b = tf.cond(
            tf.equal(i % 2, 0), lambda: tf.gather(m, [1, 2, 1]), lambda: tf.gather(m, [i, 0]) * 2.0
        )
        return i + 1, a + tf.reduce_sum(b * b)

    y = tf.while_loop(lambda i, a: i < n, body, [0, 1.0])
    return [y[1]] + tf.gradients(y[1], [m])


@other_nodes
def ref_variables_in_cond_in_while(tf):
    x, n = given(tf, "x", "n")
    v = tf.get_variable("v", initializer=W, use_resource=False)

    def body(i, a):
        return i + 1, tf.cond(i < 1, lambda: tf.sin(v) * a, lambda: a * a)

    y = loop(tf, lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [v, x])


@beyond
def resource_variables_in_cond_in_while(tf):
    x, n = given(tf, "x", "n")
    out = []
    for kind in (True, False):
        v = tf.get_variable(f"v{kind}", initializer=W, use_resource=kind)

        def body(i, a, v=v):
            return i + 1, tf.cond(i < 1, lambda: tf.sin(v) * a, lambda: a * a)

        y = loop(tf, lambda i, a: i < n, body, [0, x])
        out += [y[1]] + tf.gradients(y[1], [v, x])
    return out


@other_nodes
def gradient_in_a_branch_of_a_loop_outside(tf):
    x, w, n, p, q = given(tf, "x", "w", "n", "p", "q", known=True)
    y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * a * w), [0, x])[1]
    return [
        tf.cond(p, lambda: tf.gradients(y, w)[0], lambda: x),
        tf.cond(q, lambda: tf.gradients(y, w)[0], lambda: x),
    ]


@program
def gradient_function_with_control_flow_of_its_own(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    @tf.custom_gradient
    def square(a):
        def grad(dy):
            d = tf.cond(tf.reduce_sum(a) > 1.0, lambda: dy * a, lambda: dy * tf.sin(a) * 2.0)
            return tf.while_loop(lambda k, b: k < 2, lambda k, b: (k + 1, b * 0.5), [0, d])[1]

        return a * a, grad

    y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, square(a) * w + 0.3), [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@program
def optimizer_in_a_loop(tf):
    x, n = given(tf, "x", "n", known=True)
    v = tf.get_variable("v", initializer=W, use_resource=True)

    def body(i, a):
        loss = tf.reduce_sum(tf.square(v * x - 1.0))
        grad = tf.gradients(loss, [v])[0]
        return i + 1, a + grad

    return [tf.while_loop(lambda i, a: i < n, body, [0, x])[1]]


@other_nodes
def gradient_of_a_loop_in_a_branch(tf):
    x, w, n, p, q = given(tf, "x", "w", "n", "p", "q", known=True)

    def true():
        y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * tf.sin(a) * w), [0, x])[1]
        return tf.gradients(y, x)[0] + tf.gradients(y, w)[0]

    return [tf.cond(p, true, lambda: x), tf.cond(q, true, lambda: x)]


@program
def gradient_of_an_invariant_in_the_body(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    def body(i, a):
        r = tf.while_loop(lambda j, c: j < i, lambda j, c: (j + 1, tf.sin(c) * w), [0, a])[1]
        return i + 1, a - 0.1 * tf.gradients(tf.sin(a) * w + r, w)[0]

    return [tf.while_loop(lambda i, a: i < n, body, [0, x])[1]]


@other_nodes
def gradient_in_a_branch_of_a_body(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    def body(i, a):
        def true():
            return a - 0.1 * tf.gradients(tf.sin(a) * w, a)[0]

        return i + 1, tf.cond(i < 2, true, lambda: a * w)

    y = tf.while_loop(lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


# ---- TensorArrays ------------------------------------------------------------------------------


@program
def array_written_and_stacked(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    def body(i, a, array):
        return i + 1, a * w, array.write(i, tf.sin(a) * x)

    array = tf.TensorArray(tf.float32, n)
    y = tf.while_loop(lambda i, a, array: i < n, body, [0, x, array])
    made = y[2].stack()
    return [made] + tf.gradients(made, [x, w]) + tf.gradients(made * y[1], [x, w])


@other_nodes
def array_unstacked_and_read(tf):
    m, w, n = given(tf, "m", "w", "n")
    rows = tf.TensorArray(tf.float32, tf.shape(m)[0]).unstack(m)
    y = loop(tf, lambda i, a: i < n, lambda i, a: (i + 1, a * w + tf.sin(rows.read(i))), [0, w])
    return [y[1]] + tf.gradients(y[1], [m, w])


@program
def array_read_and_written(tf):
    m, w, n = given(tf, "m", "w", "n", known=True)
    rows = tf.TensorArray(tf.float32, 4).unstack(m)

    def body(i, a, array):
        a = tf.tanh(a * w + rows.read(i))
        return i + 1, a, array.write(i, a)

    y = tf.while_loop(lambda i, a, array: i < 4, body, [0, w, tf.TensorArray(tf.float32, 4)])
    made = y[2].stack()
    return [made] + tf.gradients(made * made, [m, w]) + tf.gradients(y[1], [m, w])


@other_nodes
def array_in_a_branch_of_a_loop(tf):
    m, w, n = given(tf, "m", "w", "n", known=True)
    rows = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(m)

    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * rows.read(i), lambda: tf.sin(a) * w)

    y = tf.while_loop(lambda i, a: i < 4, body, [0, w])
    return [y[1]] + tf.gradients(y[1], [m, w])


@other_nodes
def array_made_in_each_round(tf):
    x, w, n = given(tf, "x", "w", "n", known=True)

    def body(i, a):
        array = tf.TensorArray(tf.float32, 2)
        r = tf.while_loop(
            lambda j, b, array: j < 2, lambda j, b, array: (j + 1, b * w, array.write(j, b)),
            [0, a, array],
        )  # fmt: skip
        return i + 1, tf.reduce_sum(tf.sin(r[2].stack()), 0)

    y = tf.while_loop(lambda i, a: i < n, body, [0, x])
    return [y[1]] + tf.gradients(y[1], [x, w])


@other_nodes
def mapped(tf):
    m, w = given(tf, "m", "w")
    y = tf.map_fn(lambda row: tf.sin(row) * w, m)
    return [y] + tf.gradients(y, [m, w])


@other_nodes
def mapped_in_map(tf):
    m, w = given(tf, "m", "w")
    y = tf.map_fn(lambda row: tf.map_fn(lambda e: e * e * tf.reduce_sum(w), row), m)
    return [y] + tf.gradients(y, [m, w])


@program
def scanned(tf):
    m, w = given(tf, "m", "w", known=True)
    y = tf.scan(lambda a, row: tf.tanh(a * w + row), m, initializer=w)
    z = tf.scan(lambda a, row: a * row, m, reverse=True)
    return [y, z] + tf.gradients(y, [m, w]) + tf.gradients(z, [m])


@other_nodes
def folded(tf):
    m, w = given(tf, "m", "w", known=True)
    y = tf.foldl(lambda a, row: a * w + tf.sin(row), m)
    z = tf.foldr(lambda a, row: tf.cond(a[0] > 0.5, lambda: a * row, lambda: a + row), m, w)
    return [y, z] + tf.gradients(y, [m, w]) + tf.gradients(z, [m, w])

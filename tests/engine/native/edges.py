"""Steps whose values are at the edges of their types: what fused code may get wrong.

Each is a function that builds into the default graph and gives fetches, and what is fed, a step
each.  All is one stretch, or two.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import penstock as tf

Edge = tuple[Any, list[dict[Any, Any]]]
_INF, _NAN = np.inf, np.nan


def _floats(dtype: Any) -> Any:
    info = np.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -7.0, 1e-3, 89.0, -104.0, 1e4,
              float(info.max), float(info.min), float(info.tiny), float(info.tiny) / 8,
              _INF, -_INF, _NAN, 2147483648.0, -2147483649.0, 0.49999997, 8388609.0]  # fmt: skip
    return np.array(values, dtype)


def _unary(dtype: Any) -> Edge:
    x = tf.placeholder(dtype, [26], name="x")
    names = (
        "abs negative exp expm1 log log1p sqrt rsqrt square sin cos tan tanh sigmoid asinh atan"
        " sign floor ceil round rint reciprocal erf erfc lgamma digamma is_nan is_inf is_finite"
    )
    found = [getattr(tf, name, None) or getattr(tf.math, name) for name in names.split()]
    results = [each(x) for each in found]
    names = "relu relu6 elu selu softplus softsign log_softmax softmax"
    results += [getattr(tf.nn, name)(x) for name in names.split()]
    results += [tf.reciprocal(-x), tf.reciprocal(x * 0.0), tf.sqrt(tf.square(x)) - x]
    values = _floats(dtype.as_numpy_dtype)
    return results, [{x: values}, {x: values[::-1].copy()}, {x: np.zeros(26)}]


def unary_float32() -> Edge:
    return _unary(tf.float32)


def unary_float64() -> Edge:
    return _unary(tf.float64)


def _binary(dtype: Any) -> Edge:
    x = tf.placeholder(dtype, [26, 1], name="x")
    y = tf.placeholder(dtype, [26], name="y")
    results = [x + y, x - y, x * y, x / y, x // y, x % y, tf.pow(x, y), tf.atan2(x, y),
               tf.maximum(x, y), tf.minimum(x, y), tf.squared_difference(x, y), x < y, x <= y,
               tf.equal(x, y), tf.not_equal(x, y), tf.where(x + 0 * y > y, x + 0 * y, y + 0 * x),
               tf.truncatemod(x, y), tf.realdiv(x, y), tf.div_no_nan(x, y),
               tf.clip_by_value(x + y, -1.0, 1.0), tf.where((x < y) | (x > 2 * y), x * y, -y * x),
               tf.reciprocal(tf.maximum(x, y) * 0.0)]  # fmt: skip
    values = _floats(dtype.as_numpy_dtype)
    return results, [{x: values[:, None], y: values}]


def binary_float32() -> Edge:
    return _binary(tf.float32)


def binary_float64() -> Edge:
    return _binary(tf.float64)


def whole_numbers() -> Edge:
    """Of each width: what leaves the range comes in again at its other end, at each step."""
    results: list[Any] = []
    fed: dict[Any, Any] = {}
    for name in ("int8", "uint8", "int16", "int32", "int64"):
        dtype = tf.as_dtype(name)
        info = np.iinfo(dtype.as_numpy_dtype)
        x = tf.placeholder(dtype, [40], name=f"x_{name}")
        y = tf.placeholder(dtype, [40], name=f"y_{name}")
        rng = np.random.RandomState(3)
        for each in (x, y):
            fed[each] = rng.randint(info.min, info.max, 40, dtype=info.dtype)
            fed[each][:5] = info.min, info.max, info.min + 1, 0, 1
        total, product = x + y, x * y
        results += [total, product, x - y, tf.cast(total, tf.int64), tf.cast(product, tf.float32),
                    total > x, tf.where(total > y, product, total), tf.reduce_prod(x),
                    tf.cast(x - y, tf.float64) / 2.0, tf.reduce_sum(total), tf.reduce_max(product),
                    tf.cumsum(total), tf.argmax(product)]  # fmt: skip
        if name in ("int32", "int64"):
            results += [tf.abs(x), -x, tf.cast(-x, tf.int64), tf.sign(x), tf.abs(total) > y,
                        tf.maximum(product, y), tf.square(x)]  # fmt: skip
    return results, [fed]


def casts() -> Edge:
    """Floats to whole numbers and back, out of range, too, where processors differ."""
    x = tf.placeholder(tf.float32, [26], name="x")
    d = tf.placeholder(tf.float64, [26], name="d")
    n = tf.placeholder(tf.int64, [26], name="n")
    b = tf.placeholder(tf.bool, [26], name="b")
    results = []
    for dtype in (tf.int32, tf.int64, tf.uint8, tf.int8, tf.int16):
        results += [tf.cast(x, dtype), tf.cast(d * 0.5, dtype), tf.cast(n + 1, dtype),
                    tf.cast(b, dtype) + tf.cast(n, dtype),
                    tf.cast(tf.cast(x, dtype), tf.float32) * 2.0]  # fmt: skip
    results += [tf.cast(d, tf.float32), tf.cast(x, tf.float64), tf.cast(n, tf.float32),
                tf.cast(x, tf.bool), tf.cast(n, tf.bool), tf.cast(d * 2, tf.bool)]  # fmt: skip
    rng = np.random.RandomState(5)
    whole = rng.randint(-(2**62), 2**62, 26)
    whole[:4] = 2**63 - 1, -(2**63), 2**53 + 1, 2**24 + 1
    mild = rng.uniform(-100, 100, 26)
    wild = _floats(np.float64)
    fed = {n: whole, b: rng.rand(26) > 0.5}
    return results, [{x: mild, d: mild, **fed}, {x: wild.astype("f"), d: wild, **fed}]


def reductions() -> Edge:
    """Over all, over one dim, over none that is there; with what is not a number among them."""
    x = tf.placeholder(tf.float32, [4, 26], name="x")
    none = tf.placeholder(tf.float32, [0, 3], name="none")
    n = tf.placeholder(tf.int32, [4, 26], name="n")
    results = []
    for value in (x, n, none):
        for axis in (None, 0, 1):
            for reduce in (tf.reduce_sum, tf.reduce_max, tf.reduce_min, tf.reduce_prod):
                results.append(reduce(value, axis))
    for axis in (None, 0, 1):
        results += [tf.reduce_mean(x, axis), tf.reduce_logsumexp(x, axis)]
        results += [tf.reduce_any(x > 1.0, axis), tf.reduce_all(x > 1.0, axis)]
    results += [tf.argmax(x, 0), tf.argmax(x, 1), tf.argmin(x, 1), tf.argmax(n, 1)]
    results += [tf.cumsum(x, 1), tf.nn.softmax(x), tf.nn.log_softmax(x), tf.nn.l2_loss(x)]
    results += [tf.concat([none, none], 0), tf.matmul(none, none, transpose_a=True)]
    results += [tf.matmul(none, none, transpose_b=True), tf.nn.moments(x, [0])[1]]
    results += [tf.norm(x, axis=1)]
    values = np.tile(_floats(np.float32), (4, 1))
    values[1] = np.linspace(-2, 2, 26)
    values[2] = np.nan
    values[3, 3:9] = 5.0
    whole = np.arange(104, dtype=np.int32).reshape(4, 26) * 50_000_000
    empty = np.zeros((0, 3), "f")
    # Products that leave the range before they meet a zero depend on their order.
    finite = np.clip(np.nan_to_num(values), -2.0, 2.0)
    return results, [{x: values, n: whole, none: empty}, {x: finite, n: -whole, none: empty}]


def layouts() -> Edge:
    """What is fed lies in no usual order, repeats itself, or holds nothing."""
    x = tf.placeholder(tf.float32, [6, 4], name="x")
    y = tf.placeholder(tf.float32, [4, 6], name="y")
    v = tf.Variable(np.arange(24.0).reshape(6, 4).astype("f"), name="v")
    z = tf.transpose(tf.tanh(x * 2.0 + tf.transpose(y)))
    parts = tf.split(tf.exp(z * 0.1), 3, axis=1)
    joined = tf.concat([parts[2], parts[0] * 2.0, tf.reverse(parts[1], [0])], 1)
    results = [z, joined, tf.reshape(joined, [8, 3]), tf.matmul(x, y) + 1.0,
               tf.pad(joined, [[1, 0], [0, 2]]), tf.tile(x[1:3, ::2] * 3.0, [2, 2]),
               tf.stack(tf.unstack(x * y[0, 0]), 1), tf.gather(x, [5, 0, 0]) * 2.0, x[::-1, 1:],
               v.assign_add(tf.transpose(y) * 0.01), tf.one_hot([1, 7, -1], 4) + x[:3]]  # fmt: skip
    a = np.arange(24.0, dtype="f").reshape(6, 4) / 10
    feeds = [{x: a, y: a.T}, {x: np.asfortranarray(a), y: a.reshape(4, 6)},
             {x: np.broadcast_to(a[:1], (6, 4)), y: a.reshape(4, 6)[:, ::-1]},
             {x: np.repeat(a, 2, 0)[::2], y: np.full((4, 6), 0.5, "f")}]  # fmt: skip
    return results, feeds


def updates() -> Edge:
    """Variables of several types, written and read in turns, and one written by another's value."""
    x = tf.placeholder(tf.float32, [3], name="x")
    v = tf.Variable([1.0, 2.0, 3.0], name="v")
    w = tf.Variable(np.array([1.0, 2.0, 3.0]), name="w")
    n = tf.Variable([2**31 - 2, -(2**31), 7], dtype=tf.int32, name="n")
    b = tf.Variable([250, 1, 128], dtype=tf.uint8, name="b")
    first = tf.assign_add(v, x * 0.5)
    with tf.control_dependencies([first]):
        second = tf.assign(w, tf.cast(tf.square(v), tf.float64) - w)
    with tf.control_dependencies([second]):
        third = [tf.assign_add(n, tf.cast(x, tf.int32)), tf.assign_sub(b, [7, 2, 129])]
    with tf.control_dependencies(third):
        fourth = tf.assign(v, tf.cast(w, tf.float32) * 0.1 + tf.cast(n, tf.float32) * 1e-9)
    with tf.control_dependencies([fourth]):
        reads = [tf.identity(v) * 1.0, w * 1.0, n + 0, tf.cast(b, tf.int32) * 2]
    return reads, [{x: np.array(each, "f")} for each in ([1, 2, 3], [-4, 5, 0.25], [9, 0, -1])]


def indices() -> Edge:
    """Rows and elements picked; the second and third of what is fed are out of range."""
    at = tf.placeholder(tf.int32, [5], name="at")
    far = tf.placeholder(tf.int64, [2, 2], name="far")
    v = tf.Variable(np.arange(21.0).reshape(7, 3).astype("f"), name="v")
    rows = tf.gather(v, at) * 2.0
    more = tf.nn.embedding_lookup(v, far) + 1.0
    results = [rows, more, tf.reduce_sum(more, [0, 1]) - rows[0], tf.sqrt(tf.abs(rows))]
    good = {at: [6, 0, 3, 3, 1], far: [[0, 6], [2, 2]]}
    return results, [good, {**good, at: [6, 0, 7, 3, 1]}, {**good, far: [[0, -1], [2, 2]]}, good]


EDGES = {
    made.__name__: made
    for made in (
        unary_float32, unary_float64, binary_float32, binary_float64, whole_numbers, casts,
        reductions, layouts, updates, indices,
    )
}  # fmt: skip


def run(make: Any) -> list[Any]:
    """What each step gives, or the error; then the variables."""
    with tf.Graph().as_default():
        fetches, feeds = make()
        init = tf.global_variables_initializer()
        with tf.Session() as session:
            session.run(init)
            found: list[Any] = []
            for feed in feeds:
                try:
                    found.append(session.run(fetches, feed))
                except tf.errors.OpError as error:
                    found.append([type(error).__name__, error.message])
            return [*found, session.run(tf.global_variables())]

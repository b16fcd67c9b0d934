"""The ops that TF1 programs use most, each alone, at three sizes: Penstock, TensorFlow, PyTorch.

``KERNELS`` is in the order of use (``usage.tsv``: in how many repositories); what only makes
another view of its input (reshape, expand_dims, squeeze, shape, identity) is left out, for it has
no kernel. One row has the op as a TF1 program has it and as PyTorch's users have it.

That the work is done, and done in each step: inputs are variables (nothing is folded), each repeat
has variables of its own (no two are alike), and of every result one element is taken through a
flat copy, so that a transposed or cut view must become memory.  The sum of the elements is the
step's value, which must be the same everywhere.  Small sizes are repeated within a step, so that
what a step costs by itself counts less.

``ROWS`` are sparse updates of tables of growing size, whose time must follow the rows touched.

Python 3.7 and newer.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Dict, List, NamedTuple, Tuple

import numpy as np

from benchmarks import data
from benchmarks.program import Program

SIZES = ("small", "medium", "large")
REPEATS = (16, 4, 1)
_SIDES = (32, 512, 2048)
_IMAGES = ((4, 16, 8), (8, 32, 32), (16, 64, 64))  # batch, side, channels
_TABLES = ((1_000, 64), (50_000, 1024), (200_000, 16_384))  # rows, ids
_WIDTH = 64

Arrays = Tuple[np.ndarray, ...]


class Kernel(NamedTuple):
    """An op.

    Attributes:
        inputs: Makes its inputs, from a generator of numbers and a size (0, 1, 2).
        graph: The op in a TF1 program: takes the module and the inputs.
        torch: The same in PyTorch; integers are int64, images channels-last.
        random: Whether its results are drawn, so that they cannot be compared.
    """

    inputs: Callable[[np.random.RandomState, int], Arrays]
    graph: Callable[..., Any]
    torch: Callable[..., Any]
    random: bool = False


def _square(count: int = 1, low: float = 0.1, high: float = 1.1) -> Any:
    """Matrices of float32."""

    def make(rng: np.random.RandomState, size: int) -> Arrays:
        shape = (_SIDES[size], _SIDES[size])
        return tuple(rng.uniform(low, high, shape).astype("f4") for _ in range(count))

    return make


def _signed(rng: np.random.RandomState, size: int) -> Arrays:
    return _square(1, -2.0, 2.0)(rng, size)  # type: ignore[no-any-return]


def _products(rng: np.random.RandomState, size: int) -> Arrays:
    side = (64, 256, 1024)[size]
    return tuple(rng.uniform(-1, 1, (side, side)).astype("f4") for _ in range(2))


def _alike(rng: np.random.RandomState, size: int) -> Arrays:
    """Two matrices that are equal in half of their places."""
    side = _SIDES[size]
    a, b = (rng.randint(0, 2, (side, side)).astype("f4") for _ in range(2))
    return a, b


def _dims(rng: np.random.RandomState, size: int) -> Arrays:
    return (np.array([_SIDES[size]] * 2, "i4"),)


def _bias(rng: np.random.RandomState, size: int) -> Arrays:
    return (*_signed(rng, size), rng.uniform(-1, 1, _SIDES[size]).astype("f4"))


def _classes(rng: np.random.RandomState, size: int) -> Arrays:
    side = _SIDES[size]
    return (*_signed(rng, size), rng.randint(0, side, side).astype("i4"))


def _ids(rng: np.random.RandomState, size: int) -> Arrays:
    return (rng.randint(0, _SIDES[size], _SIDES[size]).astype("i4"),)


def _labels(rng: np.random.RandomState, size: int) -> Arrays:
    (weights,) = _square()(rng, size)
    return (*_signed(rng, size), weights / weights.sum(1, keepdims=True))


def _image(rng: np.random.RandomState, size: int) -> Arrays:
    batch, side, channels = _IMAGES[size]
    return (rng.uniform(-1, 1, (batch, side, side, channels)).astype("f4"),)


def _filtered(rng: np.random.RandomState, size: int) -> Arrays:
    channels = _IMAGES[size][2]
    return (*_image(rng, size), rng.uniform(-1, 1, (3, 3, channels, channels)).astype("f4"))


def _table(rng: np.random.RandomState, size: int) -> Arrays:
    rows, count = _TABLES[size]
    return rng.uniform(-1, 1, (rows, _WIDTH)).astype("f4"), rng.randint(0, rows, count).astype("i4")


def _torch_conv(t: Any, x: Any, w: Any) -> Any:
    return t.nn.functional.conv2d(x, w, padding=1).permute(0, 2, 3, 1)


def _torch_pool(t: Any, x: Any) -> Any:
    return t.nn.functional.max_pool2d(x, 2).permute(0, 2, 3, 1)


def _torch_one_hot(t: Any, ids: Any) -> Any:
    return t.zeros(len(ids), len(ids)).scatter_(1, ids[:, None], 1.0)


def _torch_truncated(t: Any, dims: Any) -> Any:
    return t.nn.init.trunc_normal_(t.empty(dims.tolist()), a=-2.0, b=2.0)


def _torch_cross_entropy(t: Any, x: Any, y: Any) -> Any:
    return t.nn.functional.cross_entropy(x, y, reduction="none")


def _middle(x: Any) -> Tuple[int, int]:
    side = int(x.shape[1])
    return side // 4, side // 2


def _slice(tf: Any, x: Any) -> Any:
    start, length = _middle(x)
    return tf.slice(x, [0, start], [-1, length])


KERNELS: Dict[str, Kernel] = {
    "matmul": Kernel(_products, lambda tf, a, b: tf.matmul(a, b), lambda t, a, b: a @ b),
    "reduce_mean": Kernel(_square(), lambda tf, x: tf.reduce_mean(x, 1), lambda t, x: x.mean(1)),
    "reduce_sum": Kernel(_square(), lambda tf, x: tf.reduce_sum(x, 1), lambda t, x: x.sum(1)),
    "cast": Kernel(
        _square(1, 0, 99), lambda tf, x: tf.cast(x, tf.int32), lambda t, x: x.to(t.int32)
    ),
    "relu": Kernel(_signed, lambda tf, x: tf.nn.relu(x), lambda t, x: t.relu(x)),
    "softmax": Kernel(_signed, lambda tf, x: tf.nn.softmax(x), lambda t, x: t.softmax(x, -1)),
    "concat": Kernel(
        _square(2), lambda tf, a, b: tf.concat([a, b], 1), lambda t, a, b: t.cat((a, b), 1)
    ),
    "argmax": Kernel(_square(), lambda tf, x: tf.argmax(x, 1), lambda t, x: x.argmax(1)),
    "zeros": Kernel(_dims, lambda tf, d: tf.zeros(d), lambda t, d: t.zeros(d.tolist())),
    "square": Kernel(_signed, lambda tf, x: tf.square(x), lambda t, x: x.square()),
    "log": Kernel(_square(), lambda tf, x: tf.log(x), lambda t, x: x.log()),
    "conv2d": Kernel(
        _filtered, lambda tf, x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), _torch_conv
    ),
    "transpose": Kernel(_square(), lambda tf, x: tf.transpose(x), lambda t, x: x.t()),
    "equal": Kernel(_alike, lambda tf, a, b: tf.equal(a, b), lambda t, a, b: a == b),
    "random_uniform": Kernel(
        _dims, lambda tf, d: tf.random_uniform(d), lambda t, d: t.rand(d.tolist()), True
    ),
    "add": Kernel(_square(2), lambda tf, a, b: tf.add(a, b), lambda t, a, b: a + b),
    "multiply": Kernel(_square(2), lambda tf, a, b: tf.multiply(a, b), lambda t, a, b: a * b),
    "random_normal": Kernel(
        _dims, lambda tf, d: tf.random_normal(d), lambda t, d: t.randn(d.tolist()), True
    ),
    "dropout": Kernel(
        _square(),
        lambda tf, x: tf.nn.dropout(x, rate=0.5),
        lambda t, x: t.nn.functional.dropout(x, 0.5),
        True,
    ),
    "softmax_cross_entropy": Kernel(
        _labels,
        lambda tf, x, y: tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x),
        _torch_cross_entropy,
    ),
    "max_pool": Kernel(
        _image, lambda tf, x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), _torch_pool
    ),
    "assign": Kernel(_square(2), lambda tf, v, x: tf.assign(v, x), lambda t, v, x: v.copy_(x)),
    "embedding_lookup": Kernel(
        _table,
        lambda tf, w, ids: tf.nn.embedding_lookup(w, ids),
        lambda t, w, ids: t.nn.functional.embedding(ids, w),
    ),
    "bias_add": Kernel(_bias, lambda tf, x, b: tf.nn.bias_add(x, b), lambda t, x, b: x + b),
    "sqrt": Kernel(_square(), lambda tf, x: tf.sqrt(x), lambda t, x: x.sqrt()),
    "stack": Kernel(
        _square(2), lambda tf, a, b: tf.stack([a, b], 1), lambda t, a, b: t.stack((a, b), 1)
    ),
    "one_hot": Kernel(_ids, lambda tf, ids: tf.one_hot(ids, int(ids.shape[0])), _torch_one_hot),
    "split": Kernel(
        _square(),
        lambda tf, x: tf.split(x, 4, axis=1),
        lambda t, x: x.split(x.shape[1] // 4, 1),
    ),
    "reduce_max": Kernel(_square(), lambda tf, x: tf.reduce_max(x, 1), lambda t, x: x.amax(1)),
    "truncated_normal": Kernel(_dims, lambda tf, d: tf.truncated_normal(d), _torch_truncated, True),
    "sigmoid": Kernel(_signed, lambda tf, x: tf.nn.sigmoid(x), lambda t, x: x.sigmoid()),
    "clip_by_value": Kernel(
        _square(), lambda tf, x: tf.clip_by_value(x, 0.3, 0.8), lambda t, x: x.clamp(0.3, 0.8)
    ),
    "pow": Kernel(_square(2), lambda tf, a, b: tf.pow(a, b), lambda t, a, b: a.pow(b)),
    "maximum": Kernel(
        _square(2), lambda tf, a, b: tf.maximum(a, b), lambda t, a, b: t.maximum(a, b)
    ),
    "sparse_cross_entropy": Kernel(
        _classes,
        lambda tf, x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x),
        _torch_cross_entropy,
    ),
    "slice": Kernel(_square(), _slice, lambda t, x: x.narrow(1, *_middle(x))),
    "exp": Kernel(_signed, lambda tf, x: tf.exp(x), lambda t, x: x.exp()),
    "gather": Kernel(
        _table, lambda tf, x, ids: tf.gather(x, ids), lambda t, x, ids: x.index_select(0, ids)
    ),
    "abs": Kernel(_signed, lambda tf, x: tf.abs(x), lambda t, x: x.abs()),
    "add_n": Kernel(
        _square(4), lambda tf, *xs: tf.add_n(list(xs)), lambda t, a, b, c, d: a + b + c + d
    ),
}


class Rows(NamedTuple):
    """A sparse update of a table.

    Attributes:
        rows: Of the table, each of ``ROW_WIDTH`` float32.
        touched: How many of them a step changes.
        update: ``scatter_update``; else the gradient of an ``embedding_lookup`` and SGD.
    """

    rows: int
    touched: int
    update: bool


ROW_WIDTH = 32
_SHAPES = ((50_000, 1024), (500_000, 1024), (5_000_000, 1024), (500_000, 256), (500_000, 4096))
ROWS: Dict[str, Rows] = {
    "%s_%dk_%d" % (name, rows // 1000, touched): Rows(rows, touched, update)
    for name, update in (("embedding_gradient", False), ("scatter_update", True))
    for rows, touched in _SHAPES
}


def inputs_of(name: str, size: int) -> List[Arrays]:
    """The inputs of each repeat of a kernel; the same numbers everywhere."""
    rng = np.random.RandomState(17)
    return [KERNELS[name].inputs(rng, size) for _ in range(REPEATS[size])]


def place_of(count: int) -> int:
    """Which element of a result of ``count`` elements is taken."""
    return count // 3


def row_batches(rows: Rows) -> List[Tuple[np.ndarray, np.ndarray]]:
    """Eight batches of ids and values; no id twice in one, for an order of writes is not fixed."""
    rng = np.random.RandomState(5)
    batches = []
    for _ in range(8):
        ids = rng.choice(rows.rows, rows.touched, replace=False).astype("i4")
        batches.append((ids, rng.uniform(-1, 1, (rows.touched, ROW_WIDTH)).astype("f4")))
    return batches


# ---- as TF1 programs -----------------------------------------------------------------------


def _taken(tf: Any, result: Any) -> Any:
    flat = tf.reshape(result, [-1])
    static = result.shape.as_list()
    known = bool(static) and None not in static
    # What has no static shape (zeros, random) is [side, side]: the first element will do.
    return tf.cast(flat[place_of(int(np.prod(static))) if known else 0], tf.float32)


def _kernel(name: str, size: int, tf: Any) -> Program:
    taken, feeds = [], {}
    with tf.Graph().as_default():
        for arrays in inputs_of(name, size):
            variables = []
            for array in arrays:
                initial = tf.placeholder(array.dtype, array.shape)
                variables.append(tf.Variable(initial))
                feeds[initial] = array
            results = KERNELS[name].graph(tf, *variables)
            for result in results if isinstance(results, (list, tuple)) else [results]:
                taken.append(_taken(tf, result))
        total = tf.add_n(taken)
        session = tf.Session()
        session.run(tf.global_variables_initializer(), feeds)

    def step() -> Any:
        return session.run(total)

    return Program(step, session.close)


def _row_update(name: str, tf: Any) -> Program:
    rows = ROWS[name]
    with tf.Graph().as_default():
        ids = tf.placeholder(tf.int32, [rows.touched])
        values = tf.placeholder(tf.float32, [rows.touched, ROW_WIDTH])
        table = tf.Variable(tf.fill([rows.rows, ROW_WIDTH], 0.5))
        if rows.update:
            updated = tf.scatter_update(table, ids, values)
            fetches = [tf.gather(updated, ids[3])[5]]
        else:
            found = tf.nn.embedding_lookup(table, ids)
            loss = tf.reduce_sum(tf.square(found - values))
            fetches = [loss, tf.train.GradientDescentOptimizer(0.01).minimize(loss)]
        session = tf.Session()
        session.run(tf.global_variables_initializer())
    cycle = data.Cycle(row_batches(rows))

    def step() -> Any:
        batch_ids, batch_values = cycle()
        return session.run(fetches, {ids: batch_ids, values: batch_values})[0]

    return Program(step, session.close)


def names() -> List[Tuple[str, int]]:
    """Every kernel at every size."""
    return [(name, size) for name in KERNELS for size in range(len(SIZES))]


def case_name(name: str, size: int) -> str:
    """The case of a kernel at a size."""
    return "%s_%s" % (name, SIZES[size])


def cases_of(kernel: Callable[..., Program], update: Callable[..., Program]) -> Dict[str, Any]:
    """The case functions, from those that make the program of a kernel and of a sparse update."""
    made: Dict[str, Any] = {
        case_name(name, size): functools.partial(kernel, name, size) for name, size in names()
    }
    made.update((name, functools.partial(update, name)) for name in ROWS)
    return made


CASES: Dict[str, Callable[[Any], Program]] = cases_of(_kernel, _row_update)

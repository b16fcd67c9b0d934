"""NCE and sampled softmax against their definitions and TensorFlow's numbers; embedding lookups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.library.nn import sampling
from penstock.ops.nn import embedding

Arrays = tuple[np.ndarray, ...]


def _data(num_true: int) -> Arrays:
    """Weights, biases, inputs, labels; candidates (one twice) and expected counts."""
    rng = np.random.default_rng(7)
    w = rng.normal(size=(12, 5)).astype(np.float32)
    b = rng.normal(size=12).astype(np.float32)
    x = rng.normal(size=(4, 5)).astype(np.float32)
    labels = rng.integers(0, 12, (4, num_true))
    sampled = np.array([3, 0, 7, 3, 1])
    true_count = rng.uniform(0.1, 1, (4, num_true)).astype(np.float32)
    sampled_count = rng.uniform(0.1, 1, 5).astype(np.float32)
    return w, b, x, labels, sampled, true_count, sampled_count


def _logits(data: Arrays, hits: bool) -> tuple[np.ndarray, np.ndarray]:
    w, b, x, labels, sampled, true_count, sampled_count = (
        a.astype(np.float64) if a.dtype.kind == "f" else a for a in data
    )
    true = np.einsum("nd,ntd->nt", x, w[labels]) + b[labels] - np.log(true_count)
    other = x @ w[sampled].T + b[sampled] - np.log(sampled_count)
    if hits:
        for row, classes in enumerate(labels):
            for c in classes:
                places = np.flatnonzero(sampled == c)
                other[row, places[-1:]] = -np.inf  # of a class drawn twice, the last
    wanted = np.zeros((4, labels.shape[1] + 5))
    wanted[:, : labels.shape[1]] = 1 / labels.shape[1]
    return np.concatenate([true, other], 1), wanted


def _nce(logits: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    positive = wanted * np.logaddexp(0, -logits, where=wanted > 0, out=np.zeros_like(logits))
    negative = (1 - wanted) * np.logaddexp(0, logits)
    return (positive + negative).sum(1)


def _softmax(logits: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    total = np.log(np.exp(logits).sum(1, keepdims=True))
    scores = np.where(wanted > 0, logits - total, 0)
    return -(wanted * scores).sum(1)


LOSSES = {
    "nce_loss": (sampling.nce_loss, _nce),
    "sampled_softmax_loss": (sampling.sampled_softmax_loss, _softmax),
}

# From TensorFlow 2.21 on `_data`: losses, and the sums of the gradients' absolute values with
# respect to weights, biases and inputs.
TENSORFLOW: dict[tuple[str, int, bool], tuple[list[float], list[float]]] = {
    ("nce_loss", 1, False): (
        [6.92200994, 9.39892101, 9.71468163, 6.89993858], [22.7220039, 12.6746082, 33.198452]),
    ("nce_loss", 1, True): (
        [6.92200994, 9.39892101, 9.71468163, 6.86884689], [22.7710114, 12.6439943, 33.3725815]),
    ("sampled_softmax_loss", 1, False): (
        [4.01137066, 1.93971252, 2.69700146, 4.8106122], [16.3171768, 5.97640324, 19.9660053]),
    ("sampled_softmax_loss", 1, True): (
        [4.01137066, 1.93971252, 2.69700146, 4.80847406], [16.3288689, 5.98061943, 19.9797859]),
    ("nce_loss", 3, False): (
        [8.1441803, 12.0811691, 13.8176928, 8.65311241], [25.513052, 16.3838577, 36.9167519]),
    ("nce_loss", 3, True): (
        [8.1441803, 10.248724, 11.087182, 6.92410326], [21.4898338, 13.7865267, 32.8720588]),
    ("sampled_softmax_loss", 3, False): (
        [3.1783433, 3.96262932, 3.36929989, 2.45421648], [11.0794287, 4.42080736, 11.0558767]),
    ("sampled_softmax_loss", 3, True): (
        [3.1783433, 3.85305548, 3.16702461, 2.3129985], [11.9967175, 4.76014280, 12.3512354]),
}  # fmt: skip


@pytest.mark.parametrize(("name", "num_true", "hits"), TENSORFLOW)
def test_losses_and_gradients(name: str, num_true: int, hits: bool) -> None:
    data = _data(num_true)
    loss, definition = LOSSES[name]
    with tf.Graph().as_default():
        w, b, x, labels, *values = (tf.constant(a) for a in data)
        losses = loss(w, b, labels, x, 5, 12, num_true, values, hits)
        gradients = [tf.convert_to_tensor(g) for g in tf.gradients(losses, [w, b, x])]
        with tf.Session() as session:
            found, slopes = session.run([losses, gradients])
    np.testing.assert_allclose(found, definition(*_logits(data, hits)), rtol=1e-5)
    golden, sums = TENSORFLOW[name, num_true, hits]
    np.testing.assert_allclose(found, golden, rtol=1e-5)
    np.testing.assert_allclose([np.abs(g).sum() for g in slopes], sums, rtol=1e-5)


@pytest.mark.parametrize("strategy", ["mod", "div"])
@pytest.mark.parametrize("name", LOSSES)
def test_partitioned_weights(name: str, strategy: str) -> None:
    data = _data(3)
    loss, definition = LOSSES[name]
    w = data[0]
    parts = [w[i::5] for i in range(5)] if strategy == "mod" else np.array_split(w, 5)
    # The biases are one part, so the strategy concerns the weights alone.
    with tf.Graph().as_default():
        b, x, labels, *values = (tf.constant(a) for a in data[1:])
        losses = loss(
            [tf.constant(p) for p in parts], b, labels, x, 5, 12, 3, values, False, strategy
        )
        with tf.Session() as session:
            found = session.run(losses)
    np.testing.assert_allclose(found, definition(*_logits(data, False)), rtol=1e-5)


def test_all_classes_sampled_give_the_full_softmax() -> None:
    """With every class as a candidate once and no correction, sampled is full softmax."""
    w, b, x, labels, *_ = _data(1)
    everything = np.arange(12)
    with tf.Graph().as_default():
        values = (everything, np.ones((4, 1), np.float32), np.ones(12, np.float32))
        losses = sampling.sampled_softmax_loss(
            w, b, labels, x, 12, 12, sampled_values=[tf.constant(v) for v in values]
        )
        with tf.Session() as session:
            found = session.run(losses)
    logits = x @ w.T + b
    expected = np.log(np.exp(logits).sum(1)) - logits[np.arange(4), labels[:, 0]]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_default_candidates_are_seeded() -> None:
    w, b, x, labels, *_ = _data(1)

    def run(seed: int | None) -> list[float]:
        with tf.Graph().as_default():
            loss = sampling.sampled_softmax_loss(w, b, labels, x, 3, 12, seed=seed)
            with tf.Session() as session:
                return session.run(loss).tolist()

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_nce_learns() -> None:
    """Gradient descent on the NCE loss brings each input close to its own class."""
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        w = tf.Variable(tf.zeros([20, 8]))
        b = tf.Variable(tf.zeros([20]))
        x = tf.constant(np.random.default_rng(0).normal(size=(20, 8)).astype(np.float32))
        labels = np.arange(20)[:, None]
        loss = tf.reduce_mean(sampling.nce_loss(w, b, labels, x, 5, 20))
        slopes = tf.gradients(loss, [w, b])
        step = [
            tf.scatter_sub(v, g.indices, 0.5 * g.values)
            for v, g in zip((w, b), slopes, strict=True)
        ]
        best = tf.argmax(tf.matmul(x, w, transpose_b=True) + b, 1)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(300):
                session.run(step)
            assert (session.run(best) == np.arange(20)).mean() > 0.8


# ---- embedding lookups ------------------------------------------------------------------------


def _lookup(params: Any, ids: Any, **more: Any) -> np.ndarray:
    with tf.Graph().as_default():
        made = [tf.constant(p) for p in params] if isinstance(params, list) else tf.constant(params)
        fed = tf.placeholder(tf.int64)
        with tf.Session() as session:
            static = session.run(embedding.embedding_lookup(made, ids, **more))
            found = session.run(embedding.embedding_lookup(made, fed, **more), {fed: ids})
            np.testing.assert_array_equal(found, static)
            return found


@pytest.mark.parametrize("ids", [[3, 0, 3], [[1, 9], [10, 4]], 7, np.zeros([0], np.int64)])
def test_lookup_over_parts(ids: Any) -> None:
    table = np.arange(33, dtype=np.float32).reshape(11, 3)
    ids = np.array(ids)
    np.testing.assert_array_equal(_lookup(table, ids), table[ids])
    modulo = [table[i::4] for i in range(4)]
    np.testing.assert_array_equal(_lookup(modulo, ids, partition_strategy="mod"), table[ids])
    runs = np.array_split(table, 4)
    assert [len(r) for r in runs] == [3, 3, 3, 2]
    np.testing.assert_array_equal(_lookup(runs, ids, partition_strategy="div"), table[ids])


def test_lookup_with_max_norm() -> None:
    table = np.array([[3.0, 4.0], [0.3, 0.4], [0.0, 0.0]], np.float32)
    expected = np.array([[[0.6, 0.8], [0.3, 0.4], [0.0, 0.0]]], np.float32)
    for params in (table, [table[::2], table[1::2]]):
        np.testing.assert_allclose(_lookup(params, [[0, 1, 2]], max_norm=1.0), expected, rtol=1e-6)


def test_lookup_gradients_reach_only_the_named_rows() -> None:
    table = np.ones((4, 2), np.float32)
    with tf.Graph().as_default():
        whole, even, odd = tf.constant(table), tf.constant(table[::2]), tf.constant(table[1::2])
        rows = embedding.embedding_lookup(whole, [1, 3, 1])
        spread = embedding.embedding_lookup([even, odd], [1, 3, 1])
        scale = np.array([[1, 2], [3, 4], [5, 6]], np.float32)
        one = tf.gradients(rows * scale, whole)[0]
        parts = tf.gradients(spread * scale, [even, odd])
        assert isinstance(one, tf.IndexedSlices)
        with tf.Session() as session:
            dense = session.run(tf.convert_to_tensor(one))
            of_parts = session.run([tf.convert_to_tensor(p) for p in parts])
    np.testing.assert_array_equal(dense, [[0, 0], [6, 8], [0, 0], [3, 4]])
    np.testing.assert_array_equal(of_parts[0], np.zeros((2, 2)))
    np.testing.assert_array_equal(of_parts[1], [[6, 8], [3, 4]])


def test_lookup_of_variables() -> None:
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    for resource in (False, True):
        with tf.Graph().as_default():
            whole = tf.Variable(table, use_resource=resource)
            parts = [tf.Variable(table[i::2], use_resource=resource) for i in range(2)]
            fetches = [embedding.embedding_lookup(p, [5, 2]) for p in (whole, parts)]
            kinds = {op.type for op in tf.get_default_graph().get_operations()}
            assert ("ResourceGather" in kinds) == resource
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for found in session.run(fetches):
                    np.testing.assert_array_equal(found, table[[5, 2]])


def test_lookup_errors() -> None:
    with pytest.raises(ValueError, match="params must be"):
        embedding.embedding_lookup(None, [1])
    with pytest.raises(ValueError, match="params must be"):
        embedding.embedding_lookup([], [1])
    with pytest.raises(ValueError, match="'mod' or 'div'; found 'round'"):
        embedding.embedding_lookup(
            [tf.constant([[1.0]]), tf.constant([[2.0]])], [1], partition_strategy="round"
        )
    with pytest.raises(tf.errors.InvalidArgumentError):
        _lookup(np.ones((3, 2), np.float32), [3])


@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("weighted", [False, True])
def test_lookup_sparse(combiner: str, weighted: bool) -> None:
    table = np.arange(20, dtype=np.float32).reshape(10, 2)
    rows = [[1, 3, 1], [0], [9, 8]]
    weights = [[1.0, 2.0, 0.5], [3.0], [-1.0, 4.0]] if weighted else [[1.0] * len(r) for r in rows]
    expected = []
    for ids, ws in zip(rows, weights, strict=True):
        factors = np.array(ws, np.float32)
        by = {"sum": 1.0, "mean": factors.sum(), "sqrtn": np.sqrt((factors**2).sum())}[combiner]
        expected.append((table[ids] * factors[:, None]).sum(0) / by)
    indices = [[r, c] for r, ids in enumerate(rows) for c in range(len(ids))]
    with tf.Graph().as_default():
        ids = tf.SparseTensor(indices, np.concatenate(rows), [3, 3])
        given = tf.SparseTensor(indices, np.concatenate(weights).astype(np.float32), [3, 3])
        found = embedding.embedding_lookup_sparse(
            tf.constant(table), ids, given if weighted else None, combiner=combiner
        )
        with tf.Session() as session:
            np.testing.assert_allclose(session.run(found), expected, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("combiner", ["sum", "mean", "sqrtn"])
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16])
def test_sparse_lookups_of_half_precision_are_float32(
    dtype: tf.DType, combiner: str, weighted: bool
) -> None:
    rows = np.arange(12.0).reshape(4, 3)
    with tf.Graph().as_default(), tf.Session() as session:
        ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 2, 3], tf.int64), [2, 2])
        weights = tf.SparseTensor(ids.indices, [1.0, 2.0, 3.0], [2, 2]) if weighted else None
        half, single = (
            tf.nn.embedding_lookup_sparse(tf.constant(rows, kind), ids, weights, combiner=combiner)
            for kind in (dtype, tf.float32)
        )
        assert half.dtype is tf.float32
        found, wanted = session.run([half, single])
    np.testing.assert_allclose(found, wanted, rtol=1e-6)

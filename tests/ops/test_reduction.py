"""Public functions of reductions: arguments, former names, names of nodes, and edge cases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.ops.math import (
    argmax,
    cumulative,
    histogram,
    reduction,
    reductions,
    segment,
    statistics,
    unsorted_segment,
)
from penstock.ops.sparse import sparse_segment


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(fetch: Any, feeds: Any = None) -> Any:
    with tf.Session() as session:
        return session.run(fetch, feeds)


_X = np.array([[1.0, -2.0, 3.0], [4.0, 0.5, -6.0]], np.float32)


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (reduction.reduce_sum, np.sum),
        (reduction.reduce_mean, np.mean),
        (reductions.reduce_max, np.max),
        (reductions.reduce_min, np.min),
        (reductions.reduce_prod, np.prod),
        (statistics.reduce_variance, np.var),
        (statistics.reduce_std, np.std),
        (reductions.reduce_euclidean_norm, lambda x, axis, keepdims: np.sqrt(
            np.sum(x * x, axis=axis, keepdims=keepdims))),
        (statistics.reduce_logsumexp, lambda x, axis, keepdims: np.log(
            np.sum(np.exp(x), axis=axis, keepdims=keepdims))),
        (statistics.count_nonzero, lambda x, axis, keepdims: np.sum(
            x != 0, axis=axis, keepdims=keepdims)),
    ],
)  # fmt: skip
@pytest.mark.parametrize("axis", [None, 0, -1, [0, 1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_against_numpy(function: Any, reference: Any, axis: Any, keepdims: bool) -> None:
    where = tuple(axis) if isinstance(axis, list) else axis
    expected = reference(_X, axis=where, keepdims=keepdims)
    x = tf.placeholder(tf.float32)
    for given in (tf.constant(_X), x):
        found = _run(function(given, axis, keepdims), {x: _X})
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert np.shape(found) == np.shape(expected)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "logsumexp"])
def test_former_argument_names(name: str) -> None:
    function = getattr(tf, f"reduce_{name}")
    new = function(tf.constant(_X), axis=1, keepdims=True)
    old = function(tf.constant(_X), reduction_indices=1, keep_dims=True)
    assert new.shape.as_list() == old.shape.as_list() == [2, 1]
    np.testing.assert_array_equal(*_run([new, old]))
    with pytest.raises(ValueError, match="former name"):
        function(tf.constant(_X), axis=1, reduction_indices=1)
    with pytest.raises(ValueError, match="former name"):
        function(tf.constant(_X), keepdims=True, keep_dims=True)


def test_former_names_of_argmax() -> None:
    x = tf.constant(_X)
    assert _run(argmax.argmax(x, dimension=1)).tolist() == [2, 0]
    assert _run(argmax.arg_max(x, 1, tf.int32)).dtype == np.int32
    assert _run(argmax.arg_min(x, 0)).tolist() == [0, 0, 1]
    assert argmax.argmax(x).shape.as_list() == [3]
    with pytest.raises(ValueError, match="dimension"):
        argmax.argmax(x, axis=1, dimension=1)


def test_no_axes_reduce_nothing() -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    axes = tf.placeholder(tf.int32, [None])
    for function in (reduction.reduce_sum, reduction.reduce_mean, reductions.reduce_max,
                     reductions.reduce_min, reductions.reduce_prod):  # fmt: skip
        for made in (function(x, []), function(x, axes)):
            found = _run(made, {x: _X, axes: np.zeros(0, np.int32)})
            np.testing.assert_array_equal(found, _X)


def test_fetched_sum_over_no_axes_does_not_share_the_feed() -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    value = _X.copy()
    found = _run(reduction.reduce_sum(x, []), {x: value})
    value[:] = 7
    np.testing.assert_array_equal(found, _X)


def test_node_names_are_those_of_tf() -> None:
    graph = tf.get_default_graph()
    reduction.reduce_sum(tf.placeholder(tf.float32, [2, 3], name="x"))
    reduction.reduce_sum(tf.placeholder(tf.float32, name="y"), name="total")
    reduction.reduce_mean(tf.placeholder(tf.float32, name="z"), 0)
    names = [op.name for op in graph.get_operations()]
    assert names == [
        "x", "Const", "Sum",
        "y", "Rank", "range/start", "range/delta", "range", "total",
        "z", "Mean/reduction_indices", "Mean",
    ]  # fmt: skip


def test_integer_sums_keep_their_dtype() -> None:
    for dtype in (np.int8, np.int32, np.uint8, np.uint16):
        found = _run(reduction.reduce_sum(tf.constant(np.array([100, 100], dtype))))
        assert found.dtype == dtype
        assert found == np.array([100, 100], dtype).sum(dtype=dtype)


def test_axis_out_of_range_names_the_rank() -> None:
    with pytest.raises(ValueError, match="with 2 dimensions"):
        reduction.reduce_sum(tf.constant(_X), 2)
    axis, x = tf.placeholder(tf.int32, []), tf.constant(_X)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension"):
        _run(reduction.reduce_sum(x, axis), {axis: 5})


def test_logsumexp_of_extremes() -> None:
    values = np.array([[1e4, 1e4], [-np.inf, -np.inf], [np.inf, 0]], np.float32)
    found = _run(statistics.reduce_logsumexp(tf.constant(values), 1))
    np.testing.assert_allclose(found, [1e4 + np.log(2), -np.inf, np.inf], rtol=1e-6)


def test_count_nonzero_of_strings() -> None:
    assert _run(statistics.count_nonzero(tf.constant(["", "a", " "]))) == 2
    assert _run(statistics.count_nonzero(input=tf.constant([0, 2]))) == 1


def test_bincount() -> None:
    values = tf.constant([1, 1, 4])
    assert _run(histogram.bincount(values)).tolist() == [0, 2, 0, 0, 1]
    assert _run(histogram.bincount(values, minlength=7)).tolist() == [0, 2, 0, 0, 1, 0, 0]
    assert _run(histogram.bincount(values, maxlength=3)).tolist() == [0, 2, 0]
    weighted = histogram.bincount(values, weights=tf.constant([0.5, 1.0, 2.0]))
    assert _run(weighted).tolist() == [0, 1.5, 0, 0, 2]


def test_histogram() -> None:
    made = histogram.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5)
    assert _run(made).tolist() == [2, 1, 1, 0, 2]
    bad = histogram.histogram_fixed_width([0.0], tf.constant([1.0, 1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="increasing"):
        _run(bad)


def test_cumulative_functions() -> None:
    assert _run(cumulative.cumsum([1, 2, 3], reverse=True)).tolist() == [6, 5, 3]
    assert _run(cumulative.cumprod([2, 3, 4], exclusive=True)).tolist() == [1, 2, 6]
    found = _run(cumulative.cumulative_logsumexp(tf.constant([0.0, 0.0, 1e4])))
    np.testing.assert_allclose(found, [0, np.log(2), 1e4], rtol=1e-6)


def test_segment_functions() -> None:
    data, ids = tf.constant([1.0, 2.0, 4.0, 8.0]), tf.constant([2, 0, 2, -1])
    assert _run(unsorted_segment.unsorted_segment_mean(data, ids, 3)).tolist() == [2, 0, 2.5]
    found = _run(unsorted_segment.unsorted_segment_sqrt_n(data, ids, 3))
    np.testing.assert_allclose(found, [2, 0, 5 / np.sqrt(2)], rtol=1e-6)
    picked = sparse_segment.sparse_segment_mean(data, [0, 2, 3], [0, 0, 2], num_segments=4)
    assert _run(picked).tolist() == [2.5, 0, 8, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not increasing"):
        _run(segment.segment_sum(data, tf.constant([0, 2, 1, 1])))


@pytest.mark.parametrize("known", [True, False])
def test_second_order_of_sum_of_squares(known: bool) -> None:
    x = tf.placeholder(tf.float32, [2, 3] if known else None)
    loss = reduction.reduce_sum(reduction.reduce_mean(x * x, 1) * x[0, 0])
    (first,) = tf.gradients(loss, [x])
    (second,) = tf.gradients(first, [x])
    value = np.ones((2, 3), np.float32)
    # d/dx of x00 * sum(x^2) / 3: 2 x x00 / 3, plus sum(x^2) / 3 at [0, 0].
    expected = np.full((2, 3), 2 / 3, np.float32)
    expected[0, 0] += 2
    found = _run([first, second], {x: value})
    np.testing.assert_allclose(found[0], expected, rtol=1e-6)
    # Sum over rows of the Hessian: 2 x00 / 3 + 2 x / 3 ones; at [0, 0] the sums of both.
    total = np.full((2, 3), 4 / 3, np.float32)
    total[0, 0] = 2 / 3 * (1 + 6 + 1)
    np.testing.assert_allclose(found[1], total, rtol=1e-6)


@pytest.mark.parametrize("how", ["constant", "fed", "plain"])
@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (tf.reduce_sum, np.sum),
        (tf.reduce_mean, np.mean),
        (tf.reduce_max, np.max),
        (tf.reduce_min, np.min),
        (tf.reduce_prod, np.prod),
        (tf.reduce_any, np.any),
        (tf.reduce_all, np.all),
        (tf.math.reduce_euclidean_norm, np.linalg.norm),
        (tf.reduce_logsumexp, lambda x, axis, keepdims: np.log(
            np.sum(np.exp(x), axis=axis, keepdims=keepdims))),
    ],
)  # fmt: skip
def test_an_axis_may_be_named_twice(function: Any, reference: Any, how: str) -> None:
    x = _X > 0 if function in (tf.reduce_any, tf.reduce_all) else _X
    config = tf.ConfigProto()
    if how == "plain":
        config.graph_options.optimizer_options.opt_level = -1
    for axes, once, keep in (([0, -2], 0, False), ([1, 1], 1, True), ([-1, 1, -1], 1, False)):
        fed = tf.placeholder(tf.int32)
        axis, feeds = (fed, {fed: axes}) if how == "fed" else (axes, None)
        with tf.Session(config=config) as session:
            found = session.run(function(tf.constant(x), axis=axis, keepdims=keep), feeds)
        wanted = reference(x, axis=once, keepdims=keep)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32, np.int32, np.complex64])
def test_an_axis_may_be_named_twice_for_every_kind_of_number(dtype: Any) -> None:
    x = np.arange(1, 7).reshape(2, 3).astype(dtype)
    axis = tf.placeholder(tf.int32)
    for function, reference in ((tf.reduce_sum, np.sum), (tf.reduce_prod, np.prod)):
        found = _run(function(tf.constant(x), axis=axis), {axis: [0, -2]})
        np.testing.assert_array_equal(found, reference(x, 0).astype(dtype))


@pytest.mark.parametrize("function", [tf.reduce_sum, tf.reduce_mean, tf.reduce_max])
def test_gradients_where_an_axis_is_named_twice(function: Any) -> None:
    x, axis = tf.constant(_X), tf.placeholder(tf.int32)
    twice, once = (tf.gradients(function(x, axis=a) ** 2, x)[0] for a in (axis, 0))
    found, wanted = _run([twice, once], {axis: [0, -2]})
    np.testing.assert_allclose(found, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float16])
def test_a_norm_of_many_numbers_is_as_exact_as_float32(dtype: Any) -> None:
    x = np.random.default_rng(0).standard_normal([2, 5_000_003], dtype=np.float32).astype(dtype)
    wide = x.astype(np.complex128 if dtype is np.complex64 else np.float64)
    given = tf.placeholder(dtype, [2, None])
    found = _run(reductions.reduce_euclidean_norm(given, 1), {given: x})
    tolerance = 1e-3 if dtype is np.float16 else 1e-6
    np.testing.assert_allclose(found, np.sqrt((np.abs(wide) ** 2).sum(1)), rtol=tolerance)

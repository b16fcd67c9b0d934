"""Sums of products over a loop's rounds: gathered, and the same as one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.foundation.graph.operation import blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.ops.linalg import product_sum
from tests.compiler.passes.rewriting import PLAIN, rewritten


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as one:
        yield one


def _loop(rows: int, rounds: int, size: int = 128) -> Any:
    x = tf.placeholder(tf.float32, [rows, size])
    w = tf.placeholder(tf.float32, [size, size])
    _, y = tf.while_loop(
        lambda i, _: i < rounds, lambda i, y: (i + 1, tf.tanh(tf.matmul(y, w))), [0, x]
    )
    return x, w, tf.gradients(tf.reduce_sum(y), w)


def _types(step: StepGraph) -> set[str]:
    inner = [op for r in step.operations for block in blocks_of(r) for op in block.operations]
    return {op.type for op in (*step.operations, *inner)}


def test_a_weights_gradient_is_gathered() -> None:
    x, w, grads = _loop(4, 3)
    found = _types(rewritten(grads, [x, w]))
    assert {"_ProductSum", "_AddToProductSum", "_ProductTotal"} <= found
    assert "_AddProduct" not in found


@pytest.mark.parametrize(("rows", "size"), [(512, 128), (4, 16)])
def test_products_of_many_rows_and_small_ones_are_added_up_as_they_come(
    rows: int, size: int
) -> None:
    x, w, grads = _loop(rows, 3, size)
    found = _types(rewritten(grads, [x, w]))
    assert "_AddProduct" in found
    assert "_ProductSum" not in found


def test_a_sum_that_is_read_in_the_rounds_stays_in_the_loop() -> None:
    x, w = tf.placeholder(tf.float32, [4, 128]), tf.placeholder(tf.float32, [128, 128])

    def body(i: Any, y: Any, total: Any) -> Any:
        total = total + tf.matmul(y, y, transpose_a=True)
        return i + 1, tf.tanh(tf.matmul(y, w)) + tf.reduce_mean(total), total

    *_, total = tf.while_loop(lambda i, *_: i < 3, body, [0, x, tf.zeros([128, 128])])
    assert "_ProductSum" not in _types(rewritten([total], [x, w]))


# 40 rounds of 20 rows are more than what is gathered before the first product.
@pytest.mark.parametrize("rounds", [0, 1, 3, 40])
def test_it_is_the_same_sum(rounds: int) -> None:
    x, w = tf.placeholder(tf.float32, [20, 128]), tf.placeholder(tf.float32, [128, 128])
    start = tf.placeholder(tf.float32, [128, 128])

    def body(i: Any, y: Any, total: Any) -> Any:
        return i + 1, tf.sin(y + 1.0), total + tf.matmul(y, tf.cos(y), transpose_a=True)

    loop = [0, tf.matmul(x, w), start]
    _, y, total = tf.while_loop(lambda i, *_: i < rounds, body, loop)
    rng = np.random.default_rng(0)
    feed = {
        x: rng.normal(size=(20, 128)),
        w: rng.normal(size=(128, 128)) / 10,
        start: rng.normal(size=(128, 128)),
    }
    with tf.Session() as session, tf.Session(config=PLAIN) as plain:
        assert ".total()" in session.explain(total, feed)
        found, expected = session.run([y, total], feed), plain.run([y, total], feed)
        again = session.run(total, feed)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-4, atol=1e-3)
    np.testing.assert_array_equal(again, found[1])


def test_products_are_added_in_place() -> None:
    start = torch.ones(8, 6)
    summed = product_sum.ProductSum(start)
    a, b = torch.full((300, 8), 2.0), torch.full((300, 6), 0.5)
    seen = set()
    for _ in range(5):
        summed.add(a, b)
        summed.add(a, b)  # multiplied here
        seen.add(summed._total.data_ptr())
    found = summed.total()
    assert seen == {found.data_ptr()} != {start.data_ptr()}
    assert (found == 3001.0).all() and (start == 1.0).all()

"""Rows added to a variable: each where it belongs, one after another, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf

KINDS = ("float64", "float32", "float16", "int32", "int8", "uint8")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("index", [tf.int32, tf.int64])
@pytest.mark.parametrize("width", [(), (100,), (3, 40)])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("resource", [False, True])
def test_repeated_rows_add_up_in_their_order(
    kind: str, index: Any, width: tuple[int, ...], sign: int, resource: bool
) -> None:
    dice = np.random.default_rng(3)
    table, rows = dice.normal(0, 9, (11, *width)), dice.normal(0, 9, (400, *width))
    table, rows = table.astype("int64").astype(kind), rows.astype("int64").astype(kind)
    if table.dtype.kind == "f":
        table, rows = table / table.dtype.type(7), rows / rows.dtype.type(7)
    places = dice.integers(0, 11, 400)
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(table, use_resource=resource)
        add = (variable.scatter_sub if sign < 0 else variable.scatter_add) if resource else None
        slices = tf.IndexedSlices(tf.constant(rows), tf.constant(places, index))
        scatter = tf.scatter_sub if sign < 0 else tf.scatter_add
        done = add(slices) if add else scatter(variable, slices.indices, slices.values)
        session.run(variable.initializer)
        session.run(done)
        found = session.run(variable)
    wanted = table.copy()
    with np.errstate(over="ignore"):
        for place, row in zip(places, rows):
            wanted[place] = wanted[place] + row if sign > 0 else wanted[place] - row
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("bad", [-1, 11])
@pytest.mark.parametrize("scatter", [tf.scatter_add, tf.scatter_sub])
def test_a_row_that_is_not_there_is_named(scatter: Any, bad: int) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        variable = tf.Variable(np.zeros((11, 100), np.float32))
        done = scatter(variable, [3] * 399 + [bad], np.ones((400, 100), np.float32))
        session.run(variable.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\[399\] = {bad} "):
            session.run(done)

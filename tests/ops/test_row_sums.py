"""Rows are added with the same bits by either kernel, and wrong indices and shapes are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.ops.array import row_sums

KINDS = ("float64", "float32", "float16", "int32", "int8", "uint8")


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("rows", [1, 63, 64, 511, 512, 3000])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (15,), (16,), (33,), (2, 9)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_kernels_give_the_same_bits(
    threads: int, rows: int, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    torch.manual_seed(rows)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for count in (1, 5, 4000):
            index = torch.randint(0, count, (rows,), dtype=torch.int32)
            start = torch.randn(count, *shape, dtype=dtype)
            given = torch.randn(rows, *shape, dtype=dtype)
            for kernel, alpha in ((row_sums.add_rows, 1), (row_sums.subtract_rows, -1)):
                wanted = start.clone().index_add_(0, index, given, alpha=alpha)
                assert torch.equal(kernel(start.clone(), index, given), wanted)
            added = row_sums.by_scattering(start.clone(), index, given)
            assert torch.equal(added, start.clone().index_add_(0, index, given))
    finally:
        torch.set_num_threads(before)


def test_not_numbers_and_infinities_stay() -> None:
    index = torch.zeros(600, dtype=torch.int64)
    given = torch.full((600, 20), torch.inf)
    made = row_sums.subtract_rows(torch.zeros(2, 20), index, given)
    assert bool((made[0] == -torch.inf).all()) and bool((made[1] == 0).all())
    given[0] = torch.nan
    assert bool(row_sums.add_rows(torch.zeros(2, 20), index, given)[0].isnan().all())


@pytest.mark.parametrize("wrong", [-1, 10, 2**40])
@pytest.mark.parametrize("width", [1, 20])
@pytest.mark.parametrize("rows", [1, 600])
def test_indices_out_of_range_are_refused(wrong: int, width: int, rows: int) -> None:
    index = torch.zeros(rows, dtype=torch.int64)
    index[-1] = wrong
    for kernel in (row_sums.add_rows, row_sums.subtract_rows, row_sums.by_scattering):
        with pytest.raises((IndexError, RuntimeError)):
            kernel(torch.zeros(10, width), index, torch.ones(rows, width))


@pytest.mark.parametrize("rows", [2, 600])
@pytest.mark.parametrize("width", [3, 30])
def test_rows_of_another_width_or_type_are_refused(rows: int, width: int) -> None:
    index = torch.zeros(rows, dtype=torch.int64)
    for given in (
        torch.ones(rows, width + 1), torch.ones(rows + 1, width),
        torch.ones(rows, width, dtype=torch.float64),
    ):  # fmt: skip
        with pytest.raises((IndexError, RuntimeError)):
            row_sums.add_rows(torch.zeros(10, width), index, given)


@pytest.mark.parametrize("sign", [1, -1])
def test_many_rows_of_a_variable(sign: int) -> None:
    index = np.arange(700) % 9
    rows = np.random.RandomState(0).randn(700, 20).astype("f")
    variable = tf.Variable(np.zeros((9, 20), "f"))
    fed = tf.placeholder(tf.int32, [None])
    scatter = tf.scatter_add if sign > 0 else tf.scatter_sub
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        moved = scatter(variable, fed, rows)
        wanted = np.zeros((9, 20), "f")
        np.add.at(wanted, index, sign * rows)
        np.testing.assert_array_equal(session.run(moved, {fed: index}), wanted)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[699\] = 9 is not in"):
            session.run(moved, {fed: [*index[:-1], 9]})


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

"""Batches of several lists: their static shapes, which are TensorFlow's."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf

Shape = list[int | None] | None


def _lists(*shapes: Shape) -> list[list[tf.Tensor]]:
    return [[tf.placeholder(tf.float32, shape)] for shape in shapes]


@pytest.mark.parametrize(
    ("shapes", "batch"),
    [
        (([None], [4]), [5, None]),
        (([4], [None]), [5, 4]),
        (([4, None], [4, 3]), [5, 4, None]),
        (([4, 3], [None, None]), [5, 4, 3]),
        (([], []), [5]),
    ],
)
def test_padded_batches_are_as_open_as_the_first_list(shapes: Any, batch: Shape) -> None:
    assert tf.train.batch_join(_lists(*shapes), 5, dynamic_pad=True).shape.as_list() == batch


@pytest.mark.parametrize("shapes", [([4], [5]), ([4, 2], [4, 3]), ([4], [4, 3])])
def test_lists_must_fit_each_other(shapes: Any) -> None:
    with pytest.raises(ValueError, match="are not compatible"):
        tf.train.batch_join(_lists(*shapes), 5, dynamic_pad=True)


def test_elements_of_all_lists_fit_in_a_padded_batch() -> None:
    lists = [[tf.fill([tf.constant(n)], float(n))] for n in (1, 3)]
    lists[0] = [tf.placeholder_with_default([1.0], [None])]
    batch = tf.train.batch_join(lists, 8, dynamic_pad=True)
    assert batch.shape.as_list() == [8, None]
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(50):
            rows = {tuple(row) for row in session.run(batch)}
            if any(len(row) == 3 for row in rows):
                break
        coordinator.request_stop()
        coordinator.join(threads)
    assert rows <= {(1.0,), (1.0, 0.0, 0.0), (3.0, 3.0, 3.0)} and (3.0, 3.0, 3.0) in rows

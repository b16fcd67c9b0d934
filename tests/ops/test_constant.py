"""Constants."""

from __future__ import annotations

import penstock as tf


def test_constants_without_elements_take_any_value() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        made = [tf.zeros([0]), tf.ones([2, 0]), tf.constant(1.0, shape=[0, 3])]
        assert [t.shape.as_list() for t in made] == [[0], [2, 0], [0, 3]]
        assert [v.shape for v in sess.run(made)] == [(0,), (2, 0), (0, 3)]

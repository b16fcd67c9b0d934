"""CTC decoders at their limits: frames that are impossible."""

from __future__ import annotations

import numpy as np
import pytest

import penstock as tf


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_impossible_frames_behind_the_end_do_not_count(dtype: type) -> None:
    frames = [[1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]
    with np.errstate(divide="ignore"):
        inputs = np.log(np.array(frames, dtype))[:, None]
    with tf.Graph().as_default(), tf.Session() as session:
        (path,), score = tf.nn.ctc_greedy_decoder(inputs, [2])
        labels, found = session.run([path.values, score])
        assert labels.tolist() == [0, 2]
        assert found.tolist() == [[0.0]]
        _, all_frames = tf.nn.ctc_greedy_decoder(inputs, [3])
        assert session.run(all_frames).tolist() == [[np.inf]]

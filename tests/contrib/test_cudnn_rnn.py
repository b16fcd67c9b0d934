"""Layers of ``tf.contrib.cudnn_rnn`` compute what stacks of their cells do.

1.15 has no kernels of them for a CPU; its cells are compared in ``programs_cudnn_rnn``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

cudnn_rnn = tf.contrib.cudnn_rnn
INPUTS = np.random.RandomState(3).uniform(-1, 1, [5, 2, 4]).astype("float32")
LAYERS = {
    cudnn_rnn.CudnnLSTM: cudnn_rnn.CudnnCompatibleLSTMCell,
    cudnn_rnn.CudnnGRU: cudnn_rnn.CudnnCompatibleGRUCell,
    cudnn_rnn.CudnnRNNTanh: tf.nn.rnn_cell.BasicRNNCell,
    cudnn_rnn.CudnnRNNRelu: lambda units: tf.nn.rnn_cell.BasicRNNCell(units, tf.nn.relu),
}


def _network(layer: Any, x: Any, both: bool, **how: Any) -> Any:
    made = layer(
        2, 3, direction="bidirectional" if both else "unidirectional", name="net",
        bias_initializer=tf.random_uniform_initializer(-0.5, 0.5),
    )  # fmt: skip
    return made(x, **how)[0]


def _stack(layer: Any, x: Any, both: bool, lengths: Any = None) -> Any:
    cell = LAYERS[layer]
    with tf.variable_scope("net"):
        if both:
            return tf.contrib.rnn.stack_bidirectional_dynamic_rnn(
                [cell(3), cell(3)], [cell(3), cell(3)], x, dtype=tf.float32, time_major=True,
                sequence_length=lengths,
            )[0]  # fmt: skip
        stack = tf.nn.rnn_cell.MultiRNNCell([cell(3), cell(3)])
        return tf.nn.dynamic_rnn(stack, x, lengths, dtype=tf.float32, time_major=True)[0]


def _weighted(outputs: Any) -> Any:
    return tf.reduce_sum(outputs * tf.cos(tf.cumsum(tf.ones_like(outputs), 0)))


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
@pytest.mark.parametrize("both", [False, True])
def test_a_checkpoint_goes_to_cells_and_back(layer: Any, both: bool, tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        x = tf.constant(INPUTS)
        y = _network(layer, x, both)
        flat = tf.trainable_variables()[0]
        sess.run(tf.global_variables_initializer())
        wanted = sess.run([y, *tf.gradients(_weighted(y), x)])
        tf.train.Saver().save(sess, path)
        moved = sess.run(flat)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(INPUTS)
        y = _stack(layer, x, both)
        tf.train.Saver().restore(sess, path)
        found = sess.run([y, *tf.gradients(_weighted(y), x)])
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)
        tf.train.Saver().save(sess, path)
    with tf.Graph().as_default(), tf.Session() as sess:
        y = _network(layer, tf.constant(INPUTS), both)
        # The file of the cells has no flat parameters.
        saver = tf.train.Saver(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS))
        saver.restore(sess, path)
        np.testing.assert_allclose(sess.run(y), wanted[0], rtol=1e-4, atol=1e-6)
        assert sess.run(tf.trainable_variables()[0]).shape == moved.shape


def test_lengths_and_a_fused_cell(tmp_path: Path) -> None:
    path, lengths = str(tmp_path / "model"), [5, 3]
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(INPUTS)
        y = _network(cudnn_rnn.CudnnLSTM, x, True, sequence_lengths=lengths, training=False)
        one = cudnn_rnn.CudnnLSTM(1, 3, name="one")
        z, (h, c) = one(x, sequence_lengths=lengths)
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, path)
        wanted = sess.run([y, z, h[0], c[0]])
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.constant(INPUTS)
        y = _stack(cudnn_rnn.CudnnLSTM, x, True, lengths)
        fused = tf.contrib.rnn.LSTMBlockFusedCell(3, forget_bias=0)
        z, (c, h) = fused(x, dtype=tf.float32, sequence_length=tf.constant(lengths))
        cell = "one/rnn/multi_rnn_cell/cell_0/cudnn_compatible_lstm_cell/"
        mine = {cell + v.op.name.split("/")[-1]: v for v in fused.trainable_variables}
        others = [v for v in tf.global_variables() if v not in set(mine.values())]
        tf.train.Saver({**mine, **{v.op.name: v for v in others}}).restore(sess, path)
        for found, other in zip(sess.run([y, z, h, c]), wanted, strict=True):
            np.testing.assert_allclose(found, other, rtol=1e-4, atol=1e-6)


def test_a_network_learns(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        x = tf.constant(INPUTS)
        layer = cudnn_rnn.CudnnGRU(2, 8, dropout=0.1, seed=1, direction="bidirectional")
        y, _ = layer(x)
        loss = tf.reduce_mean(tf.square(y[:, :, 0] - tf.cumsum(x[:, :, 0])))
        step = tf.train.AdamOptimizer(0.03).minimize(loss)
        sess.run(tf.global_variables_initializer())
        losses = [sess.run([loss, step])[0] for _ in range(60)]
        assert losses[-1] < 0.5 * losses[0]


def test_halves_and_doubles() -> None:
    for dtype in (tf.float16, tf.float64):
        with tf.Graph().as_default(), tf.Session() as sess:
            layer = cudnn_rnn.CudnnLSTM(1, 3, dtype=dtype)
            y, _ = layer(tf.ones([2, 2, 4], dtype))
            (gradient,) = tf.gradients(y, layer.kernel)
            sess.run(tf.global_variables_initializer())
            value = sess.run(gradient)
            assert value.dtype == dtype.as_numpy_dtype and value.shape == (108,)
            assert np.abs(value).sum() > 0

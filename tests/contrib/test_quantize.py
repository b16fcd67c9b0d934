"""A graph for evaluation takes what training has learned, and freezes."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import penstock as tf
from tests.contrib.programs_quantize import mobile


def test_evaluation_takes_the_checkpoint_of_training_and_freezes(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    batches = np.random.RandomState(1).uniform(-1, 1, [8, 2, 8, 8, 3])
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
        loss = tf.reduce_mean(tf.square(mobile(tf, x, True) - 0.3))
        tf.contrib.quantize.create_training_graph()
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        sess.run(tf.global_variables_initializer())
        for batch in batches:
            sess.run(step, {x: batch})
        tf.train.Saver().save(sess, path)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 8, 8, 3], name="x")
        y = mobile(tf, x, False)
        tf.contrib.quantize.create_eval_graph()
        tf.train.Saver().restore(sess, path)
        wanted = sess.run(y, {x: batches[0]})
        # The activations take at most as many values as 8 bits say.
        fake = sess.run("c1/act_quant/FakeQuantWithMinMaxVars:0", {x: batches[0]})
        assert 9 < len(np.unique(fake)) <= 256 < fake.size
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), [y.op.name]
        )
    with tf.Graph().as_default(), tf.Session() as sess:
        (found,) = tf.import_graph_def(frozen, return_elements=[y.name])
        np.testing.assert_allclose(sess.run(found, {"import/x:0": batches[0]}), wanted, rtol=1e-6)

"""Estimators and ops of ``tf.contrib.learn`` from before TensorFlow 1.0."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf

learn = tf.contrib.learn
ops = learn.ops
X = np.random.RandomState(1).randn(64, 2).astype(np.float32)
# No line parts them: a network is needed.
CROSSED = (X[:, 0] * X[:, 1] > 0).astype(np.int64)
SIDES = (X[:, 0] > X[:, 1]).astype(np.int64)
SUMS = X @ np.array([[1.0, 2.0], [3.0, -1.0]], np.float32)


def test_a_network_learns_is_saved_and_restored(tmp_path: Path) -> None:
    model = tf.contrib.skflow.TensorFlowDNNClassifier([16, 16], 2, steps=300, learning_rate=0.2)
    assert model.fit(X, CROSSED) is model
    found = model.predict(X)
    assert (found == CROSSED).mean() > 0.9
    assert [w.shape for w in model.weights_] == [(2, 16), (16, 16), (16, 2)]
    assert [b.shape for b in model.bias_] == [(16,), (16,), (2,)]
    model.save(tmp_path / "kept")
    again = learn.TensorFlowEstimator.restore(tmp_path / "kept")
    assert isinstance(again, learn.TensorFlowDNNClassifier) and again.hidden_units == [16, 16]
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_second_fit_begins_anew_unless_it_is_told_to_go_on() -> None:
    steps = []
    for goes_on in (False, True):
        model = learn.TensorFlowLinearClassifier(2, steps=3, continue_training=goes_on)
        model.fit(X, SIDES).fit(X, SIDES)
        steps.append(int(model.get_variable_value("global_step")))
    assert steps == [3, 6]


@pytest.mark.long
def test_linear_models_learn_classes_and_numbers() -> None:
    classes = learn.TensorFlowLinearClassifier(2, steps=100).fit(X, SIDES)
    assert (classes.predict(X) == SIDES).mean() > 0.9
    numbers = learn.TensorFlowLinearRegressor(steps=400, learning_rate=0.5, batch_size=64)
    numbers.fit(X, SUMS)
    assert np.square(numbers.predict(X) - SUMS).mean() < 1e-2
    np.testing.assert_allclose(numbers.weights_, [[1, 2], [3, -1]], atol=0.1)
    network = learn.TensorFlowDNNRegressor([8], steps=300, dropout=0.0).fit(X, SUMS[:, 0])
    assert np.square(network.predict(X) - SUMS[:, 0]).mean() < np.square(SUMS[:, 0]).mean() / 4


def test_a_model_function_of_images_is_trained_and_not_restored(tmp_path: Path) -> None:
    def model_fn(x: Any, y: Any) -> Any:
        net = ops.conv2d(tf.reshape(x, [-1, 3, 3, 1]), 2, [2, 2], activation=tf.nn.relu)
        net = ops.dnn(tf.reshape(net, [-1, 18]), [8], dropout=0.5)
        return learn.models.logistic_regression(net, y)

    images = np.random.RandomState(2).rand(32, 3, 3)
    bright = (images.mean((1, 2)) > 0.5).astype(int)
    model = learn.TensorFlowEstimator(model_fn, 2, steps=200).fit(images, bright)
    # Nothing is dropped in predictions: they are the same again.
    np.testing.assert_array_equal(model.predict_proba(images), model.predict_proba(images))
    assert (model.predict(images) == bright).mean() > 0.8
    model.save(tmp_path / "kept")
    with pytest.raises(ValueError, match="has a model function of its own"):
        learn.TensorFlowEstimator.restore(tmp_path / "kept")


def test_what_was_not_trained_is_refused(tmp_path: Path) -> None:
    with pytest.raises(learn.NotFittedError, match="is not fitted yet"):
        learn.TensorFlowLinearClassifier(2).predict(X)
    with pytest.raises(ValueError, match="doesn't contain model definition"):
        learn.TensorFlowEstimator.restore(tmp_path)


def test_ops() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        hot = ops.one_hot_matrix(tf.constant([[1], [0]]), 2, 5.0, -1.0)
        cut = ops.split_squeeze(1, 3, np.arange(6.0).reshape(2, 3))
        found = session.run([hot, cut])
    np.testing.assert_array_equal(found[0], [[[-1, 5]], [[5, -1]]])
    np.testing.assert_array_equal(found[1], [[0, 3], [1, 4], [2, 5]])


def test_channels_of_a_convolution_are_normalized() -> None:
    images = np.random.RandomState(3).rand(8, 4, 4, 2).astype(np.float32)
    made = ops.conv2d(images, 3, [2, 2], [1, 2, 2, 1], "VALID", batch_norm=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = session.run(made)
    assert found.shape == (8, 2, 2, 3)
    np.testing.assert_allclose(found.mean((0, 1, 2)), 0, atol=1e-5)


def test_a_sequence_is_decoded_by_the_nodes_of_tensorflow_1_15() -> None:
    """The names are what TensorFlow 1.15 makes."""
    inputs = [tf.placeholder(tf.float32, [2, 4]) for _ in range(2)]
    said = [tf.placeholder(tf.float32, [2, 4]) for _ in range(3)]
    cell = tf.nn.rnn_cell.BasicRNNCell
    found = ops.rnn_seq2seq(inputs, said, cell(4))
    prefix = "rnn_seq2seq/rnn/basic_rnn_cell/Tanh_"
    numbers = [[int(t.op.name.removeprefix(prefix)) for t in part] for part in found]
    assert numbers == [[2, 3, 4], [1, 2, 3, 4], [2, 5, 6], [1, 1, 5, 6]]
    two = ops.rnn_seq2seq(inputs, said, cell(4), cell(4), scope="t")
    assert [t.op.name.removeprefix("t/dnn_decoder/training/basic_rnn_cell/") for t in two[2]] == [
        "Tanh", "Tanh_3", "Tanh_4",
    ]  # fmt: skip
    assert [v.op.name for v in tf.global_variables()[2:]] == [
        "t/rnn/basic_rnn_cell/kernel", "t/rnn/basic_rnn_cell/bias",
        "t/dnn_decoder/basic_rnn_cell/kernel", "t/dnn_decoder/basic_rnn_cell/bias",
    ]  # fmt: skip


def test_hooks_stay_and_monitors_become_hooks() -> None:
    monitors = tf.contrib.learn.monitors
    hook, monitor = tf.train.SessionRunHook(), monitors.EveryN(every_n_steps=2)
    estimator = object()
    found = monitors.replace_monitors_with_hooks([hook, monitor], estimator)
    assert found[0] is hook and isinstance(found[1], tf.train.SessionRunHook)
    assert monitors.replace_monitors_with_hooks(None, estimator) == []

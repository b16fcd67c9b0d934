"""Losses, metrics and the confusion matrix: values by hand; nodes and values of TensorFlow 1.15."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.nn import weighing
from tests.peers import TF115, needs


def _values(*made: Any) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        return [session.run(one) for one in made]


def test_reductions_by_hand() -> None:
    losses, weights = [1.0, 2.0, 6.0], [1.0, 3.0, 0.0]
    how = tf.losses.Reduction
    wanted = {
        how.NONE: [1, 6, 0], how.SUM: 7, how.SUM_OVER_BATCH_SIZE: 7 / 3, how.MEAN: 7 / 4,
        how.SUM_BY_NONZERO_WEIGHTS: 7 / 2,
    }  # fmt: skip
    for kind, value in wanted.items():
        with tf.Graph().as_default():
            made = tf.losses.compute_weighted_loss(losses, weights, reduction=kind)
            np.testing.assert_allclose(_values(made)[0], value, rtol=1e-6)


def test_no_weight_at_all_gives_zero() -> None:
    with tf.Graph().as_default():
        loss = tf.losses.mean_squared_error([1.0, 2.0], [3.0, 5.0], weights=0.0)
        assert _values(loss) == [0.0]


def test_weights_that_do_not_fit() -> None:
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="dim 0 does not fit"):
            tf.losses.mean_squared_error(np.ones((4, 2)), np.ones((4, 2)), np.ones((3, 1)))
        with pytest.raises(ValueError, match="ranks differ"):
            tf.losses.mean_squared_error(np.ones((4, 2)), np.ones((4, 2)), np.ones(4))
        with pytest.raises(ValueError, match="Invalid Reduction Key mean"):
            tf.losses.mean_squared_error([1.0], [1.0], reduction="mean")
        weights = tf.placeholder(tf.float32)
        loss = tf.losses.mean_squared_error(np.ones((4, 2)), np.ones((4, 2)), weights)
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
            session.run(loss, {weights: np.ones((3, 1))})


def test_collected_losses() -> None:
    with tf.Graph().as_default():
        first = tf.losses.mean_squared_error([1.0], [3.0])
        second = tf.losses.absolute_difference([1.0], [3.0])
        tf.losses.absolute_difference([1.0], [3.0], loss_collection=None)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(10.0))
        assert tf.losses.get_losses() == [first, second]
        assert tf.losses.get_losses("mean") == [first]
        total = tf.losses.get_total_loss(), tf.losses.get_total_loss(False)
        assert _values(*total) == [16.0, 6.0]
        assert _values(tf.losses.get_regularization_loss()) == [10.0]


def test_metrics_gather_over_steps() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        labels, guesses = (tf.placeholder(tf.int64, [None]) for _ in range(2))
        value, update = tf.metrics.accuracy(labels, guesses)
        share, share_update = tf.metrics.recall(labels, guesses)
        session.run(tf.local_variables_initializer())
        updates = [update, share_update]
        session.run(updates, {labels: [1, 0, 1, 1], guesses: [1, 0, 0, 0]})
        session.run(updates, {labels: [1, 1], guesses: [1, 1]})
        np.testing.assert_allclose(session.run([value, share]), [4 / 6, 3 / 5], rtol=1e-6)
        assert len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)) == 4
        session.run(tf.local_variables_initializer())
        assert session.run(value) == 0


def _classes(rows: Any) -> Any:
    return np.array(rows, np.int64)


def test_metrics_of_rankings_by_hand() -> None:
    scores, half = [[0.1, 0.6, 0.3], [0.8, 0.05, 0.15]], [1.0, 0.0]
    m = tf.metrics
    for build, wanted in [
        (lambda: m.precision_at_k(_classes([[2], [0]]), scores, 2), 2 / 4),
        (lambda: m.recall_at_k(_classes([[2, 0], [0, 1]]), scores, 2), 2 / 4),
        (lambda: m.recall_at_k(_classes([[2, 0], [0, 1]]), scores, 1, class_id=0), 1 / 2),
        (lambda: m.precision_at_top_k(_classes([[2], [0]]), [[1, 2], [0, 2]], weights=half), 1 / 2),
        (lambda: m.average_precision_at_k(_classes([[2], [0]]), scores, 2), (1 / 2 + 1) / 2),
    ]:
        with tf.Graph().as_default(), tf.Session() as session:
            value, update = build()
            session.run(tf.local_variables_initializer())
            np.testing.assert_allclose([session.run(update), session.run(value)], [wanted] * 2)
    with tf.Graph().as_default():
        with pytest.raises(ValueError, match="Invalid k=0"):
            m.average_precision_at_k(_classes([[2]]), scores[:1], 0)
        with pytest.raises(ValueError, match="last dimension of predictions_idx must be set"):
            m.average_precision_at_k(_classes([[2]]), tf.placeholder(tf.float32), 1)
        with pytest.raises(ValueError, match="Unexpected labels shape"):
            m.recall_at_top_k(tf.zeros([1, 2, 3], tf.int64), [[1]])


def test_mean_of_classes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = tf.metrics.mean_per_class_accuracy([0, 0, 1, 1], [0, 1, 1, 1], 3)
        session.run(tf.local_variables_initializer())
        np.testing.assert_allclose(session.run(update), [0.5, 1, 0])
        np.testing.assert_allclose(session.run(value), 0.5)


@pytest.mark.parametrize(
    ("labels", "given", "words"),
    [([0, -1], {}, "negative"), ([0, 3], {"num_classes": 3}, "out of bound")],
)
def test_classes_out_of_range(labels: list[int], given: dict[str, int], words: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.int64, [2])
        matrix = tf.confusion_matrix(fed, [0, 1], **given)
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            session.run(matrix, {fed: labels})


@pytest.mark.timeout(400)  # TensorFlow runs every program, too
@pytest.mark.long
@pytest.mark.parametrize(("part", "count"), [("weighing", 200), ("rankings", 70)])
def test_tensorflow_makes_the_same(part: str, count: int, tmp_path: Path) -> None:
    needs(TF115)
    file = tmp_path / "found.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore"}
    subprocess.run(
        [str(TF115), weighing.__file__, str(file), part],
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    theirs = json.loads(file.read_text())
    ours = json.loads(json.dumps(weighing.results(tf, part)))
    assert set(ours) == set(theirs) and len(ours) > count
    differing = []
    for name, found in ours.items():
        wanted = theirs[name]
        for one, other in zip(found["values"], wanted["values"], strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6, err_msg=name)
        if any(found[part] != wanted[part] for part in ("nodes", "collections")):
            differing.append(name)
    assert not differing

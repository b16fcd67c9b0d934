"""CTC of dense labels by all alignments; values of TensorFlow 1.15; losses over replicas."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.nn import ctc_programs
from tests.peers import TF115, needs


def _collapsed(path: tuple[int, ...], blank: int) -> list[int]:
    return [label for label, _ in itertools.groupby(path) if label != blank]


@pytest.mark.parametrize("blank", [0, 1, 2])
@pytest.mark.parametrize("labels", [[], [5], [5, 5], [5, 7], [5, 7, 5]])
def test_the_loss_sums_over_all_alignments(labels: list[int], blank: int) -> None:
    """``5`` and ``7`` stand for the two classes that are not the blank."""
    others = [c for c in range(3) if c != blank]
    wanted = [others[0] if label == 5 else others[1] for label in labels]
    logits = np.random.RandomState(len(labels)).randn(4, 1, 3).astype(np.float32)
    probabilities = np.exp(logits[:, 0]) / np.exp(logits[:, 0]).sum(1, keepdims=True)
    total = sum(
        np.prod([probabilities[t, c] for t, c in enumerate(path)])
        for path in itertools.product(range(3), repeat=4)
        if _collapsed(path, blank) == wanted
    )
    padded = np.array([(wanted + [others[0]] * 4)[:4]], np.int32)
    with tf.Graph().as_default(), tf.Session() as session:
        loss = tf.nn.ctc_loss_v2(padded, logits, [len(wanted)], [4], blank_index=blank)
        np.testing.assert_allclose(session.run(loss), [-np.log(total)], rtol=1e-5)


def test_the_gradient_is_the_slope() -> None:
    logits = ctc_programs.LOGITS.astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, logits.shape)
        given = ctc_programs.TARGETS, x, ctc_programs.TARGET_LENGTHS, ctc_programs.FRAMES
        loss = tf.reduce_sum(tf.nn.ctc_loss_v2(*given))
        gradient = session.run(tf.gradients(loss, x)[0], {x: logits})
        for place in [(0, 0, 1), (3, 1, 4), (5, 1, 0), (6, 1, 0), (8, 2, 5)]:
            step = np.zeros_like(logits)
            step[place] = 0.02
            ends = [session.run(loss, {x: logits + s}) for s in (step, -step)]
            slope = (ends[0] - ends[1]) / 0.04
            np.testing.assert_allclose(gradient[place], slope, atol=2e-3)
    assert not gradient[6:, 1].any()  # frames after the last one


def test_shapes_that_are_fed() -> None:
    """TensorFlow 1.15 wants to know them here."""
    given = ctc_programs.TARGETS, ctc_programs.LOGITS
    lengths = ctc_programs.TARGET_LENGTHS, ctc_programs.FRAMES
    with tf.Graph().as_default(), tf.Session() as session:
        labels, logits = tf.placeholder(tf.int32, [None, None]), tf.placeholder(tf.float32)
        logits.set_shape([None, None, None])
        losses = [tf.nn.ctc_loss_v2(*pair, *lengths) for pair in (given, (labels, logits))]
        found = session.run(losses, dict(zip((labels, logits), given, strict=True)))
        np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


def test_sparse_labels_need_the_blank() -> None:
    with tf.Graph().as_default():
        labels = tf.SparseTensor([[0, 0]], [1], [1, 1])
        with pytest.raises(ValueError, match="blank_index must be given"):
            tf.nn.ctc_loss_v2(labels, np.zeros([2, 1, 3], np.float32), None, [2])


def test_losses_over_replicas() -> None:
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
        with strategy.scope():

            def replica() -> Any:
                return tf.nn.compute_average_loss([2.0, 4.0]), tf.nn.scale_regularization_loss(8.0)

            both = strategy.experimental_run_v2(replica)
            found = [strategy.reduce(tf.distribute.ReduceOp.SUM, each, None) for each in both]
            for refused in (tf.nn.compute_average_loss, tf.nn.scale_regularization_loss):
                with pytest.raises(RuntimeError, match="in cross replica context"):
                    refused([1.0])
        assert session.run(found) == [3.0, 8.0]
        with pytest.raises(ValueError, match="at least rank 1"):
            tf.nn.compute_average_loss(1.0)
        x = tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="at least rank 1"):
            session.run(tf.nn.compute_average_loss(x), {x: 1.0})


@pytest.mark.long
def test_values_are_tensorflows(tmp_path: Path) -> None:
    needs(TF115)
    file = tmp_path / "found.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONWARNINGS": "ignore"}
    subprocess.run(
        [str(TF115), ctc_programs.__file__, str(file)],
        env=environment, check=True, capture_output=True,
    )  # fmt: skip
    theirs = json.loads(file.read_text())
    ours = json.loads(json.dumps(ctc_programs.results(tf)))
    assert set(ours) == set(theirs)
    for name, found in ours.items():
        wanted = theirs[name]
        if name.startswith(("average", "regularization")):
            assert found.pop() == wanted.pop(), name  # nodes
        for one, other in zip(found, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5, err_msg=name)


def test_labels_and_logits_are_of_one_batch() -> None:
    labels, lengths = [[1, 2], [2, 1]], [2, 1]
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(ValueError, match="must be equal, but are 4 and 2"):
            logits = np.zeros([4, 2, 3], np.float32)
            tf.nn.ctc_loss_v2(labels, logits, lengths, [2, 2], logits_time_major=False)
        fed = tf.placeholder(tf.float32)
        loss = tf.nn.ctc_loss_v2(labels, fed, lengths, [2, 2])
        assert loss.shape.as_list() == [2]
        assert session.run(loss, {fed: np.zeros([2, 2, 3])}).shape == (2,)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(loss, {fed: np.zeros([2, 4, 3])})

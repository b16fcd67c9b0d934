"""Skipgram's pairs are of windows of the text, and NegTrain draws by frequency and learns."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.engine.resources.stream import Stream
from penstock.foundation.graph.build import make
from penstock.ops.nn import skipgram
from penstock.ops.nn.skipgram import Noise, Text

_WORDS = [b"a", b"b", b"a", b"c", b"a", b"b", b"d"] * 50


def _steps(path: Path, steps: int, **attrs: Any) -> list[list[Any]]:
    with tf.Graph().as_default(), tf.Session() as session:
        outputs = make("Skipgram", filename=str(path), batch_size=40, **attrs)
        return [session.run(list(outputs)) for _ in range(steps)]


def test_vocabulary_and_progress(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b" ".join(_WORDS) + b"\n")
    runs = _steps(path, 120, window_size=2, min_count=60, subsample=0.0)
    words, counts, per_epoch, epoch, processed, examples, labels = runs[0]
    assert words.tolist() == [b"UNK", b"a", b"b"]
    assert counts.tolist() == [100, 150, 100]
    assert (per_epoch, epoch) == (350, 2)  # a sentence of 1000 words is two epochs and a part
    assert examples.shape == labels.shape == (40,)
    assert runs[-1][3] > epoch and runs[-1][4] > processed


def test_pairs_are_of_the_window() -> None:
    text = Text([b"%d" % i for i in range(2000)], 3, 1, 0.0, Stream(1, 2))
    pairs = text.batch(3000)[0].astype(int)
    # All words are different: their numbers are their places plus 1.
    distances = pairs[1] - pairs[0]
    assert set(np.abs(distances).tolist()) == {1, 2, 3}
    # A window reaches 1, 2 or 3 words with equal chance.
    share = Counter(np.abs(distances).tolist())
    assert share[1] / share[3] == pytest.approx(3, rel=0.15)
    assert share[2] / share[3] == pytest.approx(2, rel=0.15)


def test_frequent_words_are_thinned_out() -> None:
    words = [b"often"] * 9000 + [b"seldom"] * 1000
    text = Text([words[i] for i in np.random.default_rng(0).permutation(10000)], 1, 1, 0.1,
                Stream(3, 4))  # fmt: skip
    keep = [(np.sqrt(f / 0.1) + 1) * 0.1 / f for f in (0.9, 0.1)]
    sentences = np.concatenate([text._sentence() for _ in range(40)])
    wanted = 0.9 * keep[0] / (0.9 * keep[0] + 0.1 * min(keep[1], 1))
    assert (sentences == 1).mean() == pytest.approx(wanted, abs=0.01)


def test_short_texts_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"too short")
    with pytest.raises(tf.errors.InvalidArgumentError, match="too little data: 2 words"):
        _steps(path, 1)
    with pytest.raises(tf.errors.NotFoundError):
        _steps(tmp_path / "none", 1)


def test_noise_is_by_frequency() -> None:
    drawn = Noise([16, 0, 81], Stream(5, 6)).draw(40, 1000)
    weights = np.array([16, 0, 81]) ** 0.75
    found = np.bincount(drawn.ravel(), minlength=3) / drawn.size
    np.testing.assert_allclose(found, weights / weights.sum(), atol=0.01)


def test_training_brings_pairs_together() -> None:
    rng = np.random.default_rng(7)
    start = [rng.uniform(-0.5, 0.5, (6, 4)).astype(np.float32) for _ in range(2)]
    with tf.Graph().as_default(), tf.Session() as session:
        w_in, w_out = (tf.Variable(value) for value in start)
        examples, labels = np.arange(6), (np.arange(6) + 1) % 6
        train = make("NegTrain", w_in, w_out, examples.astype(np.int32), labels.astype(np.int32),
                     0.1, vocab_count=[3] * 6, num_negative_samples=4)  # fmt: skip
        session.run(tf.global_variables_initializer())
        for _ in range(300):
            session.run(train)
        found, others = session.run([w_in, w_out])
    assert ((found @ others.T).argmax(1) == labels).all()


def _one_after_another(
    rows: np.ndarray, others: np.ndarray, examples: Any, labels: Any, drawn: np.ndarray, lr: float
) -> None:
    """NegTrain as the paper's program does it: word by word."""
    for word, label, negatives in zip(examples, labels, drawn, strict=True):
        change = np.zeros_like(rows[word])
        for number, other in enumerate([label, *negatives]):
            if number and other == label:
                continue
            score = 1 / (1 + np.exp(-np.dot(rows[word], others[other])))
            step = lr * (float(number == 0) - score)
            change += step * others[other]
            others[other] += step * rows[word]
        rows[word] += change


@pytest.mark.parametrize("words", [2, 5, 400])
@pytest.mark.parametrize("negatives", [0, 1, 6, 30])
def test_updates_are_those_of_one_word_after_another(
    words: int, negatives: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(words + negatives)
    start = [rng.uniform(-1, 1, (words, 7)).astype(np.float32) for _ in range(2)]
    examples, labels = rng.integers(0, words, (2, 40)).astype(np.int32)
    drawn = rng.integers(0, words, (40, negatives))
    monkeypatch.setattr(skipgram.Noise, "draw", lambda noise, *dims: drawn.reshape(dims))
    with tf.Graph().as_default(), tf.Session() as session:
        w_in, w_out = (tf.Variable(value) for value in start)
        train = make("NegTrain", w_in, w_out, examples, labels, 0.3,
                     vocab_count=[1] * words, num_negative_samples=negatives)  # fmt: skip
        session.run(tf.global_variables_initializer())
        session.run(train)
        found = session.run([w_in, w_out])
    wanted = [each.astype(np.float64) for each in start]
    _one_after_another(*wanted, examples, labels, drawn, 0.3)
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)

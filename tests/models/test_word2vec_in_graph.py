"""word2vec whose text is in the graph: finite without thinning, each word handed out once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.models.word2vec_in_graph import Network
from penstock.models.word2vec_reading import Reading
from penstock.models.word2vec_settings import Settings, fitted
from penstock.models.word2vec_text import (
    Passage,
    Text,
    encode,
    python_passages,
    split_words,
    vocabulary,
)
from penstock.models.word2vec_windows import Blocks, Windows
from tests.models.texts import made_up


def _losses(settings: Settings, passages: list[Passage], readings: int) -> list[float]:
    """The mean loss of each reading; the settings are fitted to the text first."""
    numbers = vocabulary(passages, 5)
    text = encode(passages, numbers)
    counts = np.bincount(text.words)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        network = Network(fitted(settings, counts), text, counts, tf.constant(0.0))
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        found = []
        for _ in range(readings):
            steps, _ = session.run([network.reading.steps, network.reading.begin])
            losses = [session.run([network.loss, network.train_op])[0] for _ in range(steps)]
            found.append(float(np.mean(losses)))
    return found


@pytest.mark.parametrize("cbow", [False, True])
def test_without_thinning_pythons_manual_is_learned(cbow: bool) -> None:
    """Unbounded, the sums of "the", some 40 a step, made a loss of 5e9 in the first reading.

    At a rate that does not fall, skip-gram's loss goes down in the first reading, and up and down
    by a fiftieth from then on.
    """
    settings = Settings(cbow=cbow, threshold=0, learning_rate=0.05 if cbow else 0.025)
    losses = _losses(settings, python_passages(), 3)
    assert max(losses[1:]) < 0.97 * losses[0] and losses[0] < 6 * np.log(2)


@pytest.mark.long
@pytest.mark.parametrize("cbow", [False, True])
def test_without_thinning_a_small_vocabulary_is_learned(cbow: bool) -> None:
    """Of eleven words each stands in a step of 512 some fifty times."""
    passages = [split_words(line) for line in made_up(5000, seed=1).splitlines()]
    settings = Settings(cbow=cbow, threshold=0, learning_rate=0.05 if cbow else 0.025)
    losses = _losses(settings, passages, 2)
    assert losses[1] < losses[0] < 6 * np.log(2)


@pytest.mark.parametrize("cbow", [False, True])
@pytest.mark.parametrize("words", [0, 6])
def test_a_text_that_is_thinned_out_to_nothing_moves_nothing(cbow: bool, words: int) -> None:
    """Six words were thinned out, and there was no step to take: Slice failed."""
    text = Text(np.arange(words, dtype=np.int32) % 3, np.zeros(words, np.int32))
    settings = Settings(cbow=cbow, threshold=1e-12, blocks=1, groups=1)
    with tf.Graph().as_default(), tf.Session() as session:
        network = Network(settings, text, np.array([2, 2, 2]), tf.constant(0.0))
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        before = session.run(network.embeddings)
        assert session.run([network.reading.steps, network.reading.begin])[0] == 1
        loss, _ = session.run([network.loss, network.train_op])
        assert loss == 0 and (session.run(network.embeddings) == before).all()


def test_windows_reach_as_far_as_passages_and_end_with_them() -> None:
    """Twelve words in passages of five, one and six; a window is of one to three words a side."""
    passages = [list("abcde"), ["f"], list("ghijkl")]
    numbers = {word: place for place, word in enumerate("abcdefghijkl")}
    settings = Settings(window=3, threshold=0, blocks=1, groups=1)
    with tf.Graph().as_default(), tf.Session() as session:
        text = encode(passages, numbers)
        reading = Reading(settings, text, np.ones(12, np.int64))
        blocks, windows = Blocks(settings, reading), Windows(settings, reading)
        asked = [blocks.words, blocks.mask, reading.pairs, windows.words, windows.parts]
        session.run(tf.local_variables_initializer())
        counts = np.zeros((12, 12))
        for _ in range(60):
            session.run(reading.begin)
            words, mask, pairs, near, parts = session.run(asked)
            assert (mask[0].sum(1, keepdims=True) == pairs).all()
            for middle, row in enumerate(mask[0, :12]):
                np.add.at(counts[middle], words[0, row > 0], 1)
                assert (near[middle, parts[middle] > 0] == words[0, row > 0]).all()
            inside = pairs[:, 0] > 0
            np.testing.assert_allclose(parts.sum(1), inside, rtol=1e-6)
            assert (np.unique(parts[inside] * pairs[inside]).round(5) == [0, 1]).all()
            assert not mask[0, 12:].any()
    for one, other in np.ndindex(12, 12):
        together = text.passages[one] == text.passages[other]
        apart = abs(one - other)
        assert (counts[one, other] > 0) == (together and 0 < apart <= 3)
        if together and apart == 1:
            assert counts[one, other] == 60


def test_what_windows_ask_goes_back_to_their_words() -> None:
    """`back` is the transpose of the matrix of which `sums` is the product."""
    rng = np.random.RandomState(1)
    passages = [[f"w{number}" for number in range(64)]]
    text = encode(passages, vocabulary(passages, 1))
    settings = Settings(cbow=True, window=4, threshold=0, blocks=2, groups=1)
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        reading = Reading(settings, text, np.ones(64, np.int64))
        windows = Windows(settings, reading)
        table, rows = rng.rand(64, 7).astype("f"), rng.rand(64, 7).astype("f")
        shares = rng.rand(72).astype("f")
        session.run(tf.local_variables_initializer())
        session.run(reading.begin)
        words, parts, sums, back = session.run(
            [reading.words, windows.parts, windows.sums(table), windows.back(rows, shares)]
        )
    matrix = np.zeros((64, 72))
    off = [-4, -3, -2, -1, 1, 2, 3, 4]
    for one, row in enumerate(parts):
        for far, part in zip(off, row, strict=True):
            matrix[one, one + 4 + far] = part
    np.testing.assert_allclose(sums, matrix @ table[words], rtol=1e-5)
    np.testing.assert_allclose(back, (matrix.T @ rows) * shares[:, None], rtol=1e-5, atol=1e-7)


def test_steps_are_fitted_to_the_text() -> None:
    many = np.full(10_000, 100)
    assert fitted(Settings(), many) == Settings()
    assert fitted(Settings(cbow=True), many).blocks == 4 * Settings.blocks
    assert fitted(Settings(cbow=True), np.full(10_000, 11)).blocks == 2 * Settings.blocks
    few = fitted(Settings(threshold=0), np.full(11, 10_000))
    assert (few.blocks, few.groups) == (2, 2)
    assert fitted(Settings(threshold=0), np.array([1000])).blocks == 1


def test_each_word_is_taken_once_by_threads_that_step_at_once() -> None:
    passages = [[f"w{number}" for number in range(3200)]]
    numbers = vocabulary(passages, 1)
    text = encode(passages, numbers)
    counts = np.bincount(text.words)
    with tf.Graph().as_default(), tf.Session() as session:
        network = Network(Settings(threshold=0, blocks=1, groups=1), text, counts, tf.constant(0.0))
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        moved: list[Any] = []
        for _ in range(5):
            steps, _ = session.run([network.reading.steps, network.reading.begin])
            step = session.make_callable([network.reading.taken, network.train_op])

            def run(steps: int = steps // 4, step: Any = step) -> None:
                moved.extend(int(step()[0]) for _ in range(steps))

            threads = [threading.Thread(target=run) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(moved) == list(range(steps))
            moved.clear()

"""word2vec whose text is in the graph: finite without thinning, each word handed out once."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.models.word2vec_in_graph import Network
from penstock.models.word2vec_settings import Settings, fitted
from penstock.models.word2vec_text import Passage, encode, python_passages, split_words, vocabulary
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


@pytest.mark.parametrize("cbow", [False, True])
def test_without_thinning_a_small_vocabulary_is_learned(cbow: bool) -> None:
    """Of eleven words each stands in a step of 512 some fifty times."""
    passages = [split_words(line) for line in made_up(5000, seed=1).splitlines()]
    settings = Settings(cbow=cbow, threshold=0, learning_rate=0.05 if cbow else 0.025)
    losses = _losses(settings, passages, 2)
    assert losses[1] < losses[0] < 6 * np.log(2)


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

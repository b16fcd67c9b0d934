"""Candidate samplers: distributions, expected counts, uniqueness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy

import penstock as tf
from penstock.engine.resources import sampler
from penstock.engine.resources.stream import Stream
from penstock.ops.nn import candidates

RARE = 1e-3
LOG_UNIFORM = np.log((np.arange(10) + 2) / (np.arange(10) + 1)) / np.log(11)


def _steps(build: Any, steps: int) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    with tf.Graph().as_default():
        fetches = build()
        with tf.Session() as session:
            return [session.run(fetches) for _ in range(steps)]


def _true(*rows: Any) -> np.ndarray:
    return np.array(rows, np.int64)


@pytest.mark.parametrize(
    ("draw", "probability"),
    [
        (candidates.uniform_candidate_sampler, np.full(10, 0.1)),
        (candidates.log_uniform_candidate_sampler, LOG_UNIFORM),
    ],
)
def test_with_replacement(draw: Any, probability: np.ndarray) -> None:
    true = _true([1, 9], [0, 5])
    steps = _steps(lambda: draw(true, 2, 50, False, 10, seed=3), 400)
    counts = np.bincount(np.concatenate([s[0] for s in steps]), minlength=10)
    assert scipy.stats.chisquare(counts, probability * 50 * 400).pvalue > RARE
    for drawn, true_count, sampled_count in steps[:5]:
        assert (drawn.dtype, true_count.dtype, sampled_count.dtype) == ("i8", "f4", "f4")
        np.testing.assert_allclose(true_count, 50 * probability[true], rtol=1e-6)
        np.testing.assert_allclose(sampled_count, 50 * probability[drawn], rtol=1e-6)


@pytest.mark.parametrize(
    ("draw", "probability"),
    [
        (candidates.uniform_candidate_sampler, np.full(10, 0.1)),
        (candidates.log_uniform_candidate_sampler, LOG_UNIFORM),
        (
            lambda *a, **k: candidates.fixed_unigram_candidate_sampler(
                *a, unigrams=LOG_UNIFORM.tolist(), **k
            ),
            LOG_UNIFORM,
        ),
    ],
)
def test_without_replacement(draw: Any, probability: np.ndarray) -> None:
    """Order and choice follow drawing one after another, each renormalized without the former."""
    steps = _steps(lambda: draw(_true([0]), 1, 2, True, 10, seed=5), 6000)
    pairs = np.array([s[0] for s in steps])
    assert (pairs[:, 0] != pairs[:, 1]).all()
    first = np.bincount(pairs[:, 0], minlength=10)
    assert scipy.stats.chisquare(first, probability * len(steps)).pvalue > RARE
    joint = np.outer(probability, probability) / (1 - probability)[:, None]
    np.fill_diagonal(joint, 0)
    second = np.bincount(pairs[:, 1], minlength=10)
    assert scipy.stats.chisquare(second, joint.sum(0) * len(steps)).pvalue > RARE


def test_expected_counts_follow_the_number_of_tries() -> None:
    true = _true([0, 7])
    for drawn, true_count, sampled_count in _steps(
        lambda: candidates.log_uniform_candidate_sampler(true, 2, 6, True, 10, seed=1), 50
    ):
        assert len(set(drawn.tolist())) == 6
        if true_count[0, 0] == np.float32(6 * LOG_UNIFORM[0]):
            expected = 6 * LOG_UNIFORM  # no try was in vain: TensorFlow then counts plainly
        else:
            # The number of tries is not fetched: recover it from class 7, then all must agree.
            tries = np.log1p(-np.float64(true_count[0, 1])) / np.log1p(-LOG_UNIFORM[7])
            whole = round(float(tries))
            assert whole > 6 and tries == pytest.approx(whole, rel=1e-3)
            expected = -np.expm1(whole * np.log1p(-LOG_UNIFORM))
        np.testing.assert_allclose(true_count[0], expected[true[0]], rtol=1e-5)
        np.testing.assert_allclose(sampled_count, expected[drawn], rtol=1e-5)


def test_tries_are_counted_to_the_last_candidate() -> None:
    class Scripted(sampler.UniformSampler):
        def draw(self, count: int) -> np.ndarray:
            return np.resize([4, 4, 2, 4, 7, 2, 1], count)

    kind = Scripted(Stream(1, 1), 10, 3, True)
    for _ in range(3):
        drawn, true_count, _ = kind.batch(_true([5]))
        assert drawn.tolist() == [4, 2, 7]
        assert true_count[0, 0] == pytest.approx(1 - 0.9**5, rel=1e-6)


def test_unique_over_nearly_all_classes() -> None:
    ((drawn, _, counts),) = _steps(
        lambda: candidates.log_uniform_candidate_sampler(_true([0]), 1, 300, True, 300), 1
    )
    assert sorted(drawn.tolist()) == list(range(300))
    assert (counts > 0.5).all() and (counts <= 1).all()


def test_large_range_needs_no_table() -> None:
    size = 1 << 40
    ((drawn, true_count, _),) = _steps(
        lambda: candidates.uniform_candidate_sampler(_true([3]), 1, 100, True, size), 1
    )
    assert drawn.max() > 1 << 32
    assert true_count[0, 0] == pytest.approx(100 / size)


def test_learned_unigram_follows_the_true_classes() -> None:
    true = _true([1, 2], [2, 5])
    steps = _steps(lambda: candidates.learned_unigram_candidate_sampler(true, 2, 2, False, 10), 3)
    np.testing.assert_allclose(steps[0][1], [[0.2, 0.2], [0.2, 0.2]])
    np.testing.assert_allclose(steps[1][1], np.array([[2, 3], [3, 2]]) / 14 * 2, rtol=1e-6)
    np.testing.assert_allclose(steps[2][1], np.array([[3, 5], [5, 3]]) / 18 * 2, rtol=1e-6)


def test_fixed_unigram_from_file_with_reserved_ids_and_shards(tmp_path: Path) -> None:
    path = tmp_path / "vocabulary.csv"
    path.write_text("the,4\nof,1\nand,9\n")
    true = _true([0, 1], [2, 3])

    def build(**more: Any) -> Any:
        return lambda: candidates.fixed_unigram_candidate_sampler(
            true, 2, 1000, False, vocab_file=str(path), distortion=0.5, num_reserved_ids=1,
            seed=1, **more,
        )  # fmt: skip

    ((drawn, true_count, _),) = _steps(build(range_max=4), 1)
    np.testing.assert_allclose(true_count.ravel(), 1000 * np.array([0, 2, 1, 3]) / 6, rtol=1e-6)
    counts = np.bincount(drawn, minlength=4)
    assert counts[0] == 0
    assert scipy.stats.chisquare(counts[1:], 1000 * np.array([2, 1, 3]) / 6).pvalue > RARE
    true = _true([0, 1])
    ((drawn, true_count, _),) = _steps(build(range_max=2, num_shards=2, shard=1), 1)
    np.testing.assert_allclose(true_count.ravel(), 1000 * np.array([2, 3]) / 5, rtol=1e-6)


def test_all_candidates() -> None:
    ((drawn, true_count, counts),) = _steps(
        lambda: candidates.all_candidate_sampler(_true([3]), 1, 5, True), 1
    )
    assert drawn.tolist() == [0, 1, 2, 3, 4]
    assert true_count.tolist() == [[1.0]] and counts.tolist() == [1.0] * 5


def test_seeds() -> None:
    def build(seed: int | None) -> Any:
        return lambda: candidates.log_uniform_candidate_sampler(
            _true([0]), 1, 20, True, 1000, seed=seed
        )

    one, again, other = (_steps(build(s), 2) for s in (1, 1, 2))
    assert [s[0].tolist() for s in one] == [s[0].tolist() for s in again]
    assert one[0][0].tolist() != one[1][0].tolist()
    assert one[0][0].tolist() != other[0][0].tolist()
    a, b = (_steps(build(None), 1) for _ in range(2))
    assert a[0][0].tolist() != b[0][0].tolist()


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda t: candidates.uniform_candidate_sampler(t, 1, 11, True, 10), "num_sampled <= "),
        (lambda t: candidates.uniform_candidate_sampler(t, 2, 3, True, 10), "num_true"),
        (
            lambda t: candidates.fixed_unigram_candidate_sampler(
                t, 1, 2, True, 3, unigrams=[0.0, 1.0, 0.0]
            ),
            "weight above 0",
        ),
        (
            lambda t: candidates.fixed_unigram_candidate_sampler(t, 1, 2, True, 3),
            "exactly one of vocab_file and unigrams",
        ),
        (
            lambda t: candidates.fixed_unigram_candidate_sampler(
                t, 1, 2, True, 3, unigrams=[1.0, 1.0]
            ),
            "range_max is 3",
        ),
    ],
)
def test_errors(build: Any, message: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _steps(lambda: build(_true([0])), 1)

"""The language model cuts texts as it says, learns, and comes back from a checkpoint."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from penstock.models import language_model as lm
from tests.models.texts import made_up, penn_treebank

SMALL = lm.Settings(
    units=24, steps=8, batch=4, keep=0.9, learning_rate=0.02, full_epochs=5, epochs=5
)


def _text(path: Path, sentences: int, seed: int) -> Path:
    path.write_text(made_up(sentences, seed))
    return path


def test_vocabulary_and_unknown_words(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("b a b\nb c\n")
    words = lm.read_words(tmp_path / "text")
    assert words == ["b", "a", "b", "<eos>", "b", "c", "<eos>"]
    numbers = lm.vocabulary(words)
    assert numbers == {"b": 0, "<eos>": 1, "a": 2, "c": 3, "<unk>": 4}
    assert lm.numbered(["c", "what"], numbers).tolist() == [3, 4]


def test_unigram_perplexity_counts_one_more() -> None:
    train, test = np.array([0, 0, 1, 3]), np.array([0, 2])
    expected = math.exp(-(math.log(3 / 8) + math.log(1 / 8)) / 2)
    assert lm.unigram_perplexity(train, test, size=4) == pytest.approx(expected)


@pytest.mark.parametrize("count", [24, 23, 17])
def test_each_word_is_a_target_once(count: int) -> None:
    text = np.arange(1, count + 1, dtype=np.int32)
    seen = []
    for inputs, targets, weights in lm.batches(text, 0, batch=3, steps=3):
        assert inputs.shape == targets.shape == weights.shape
        real = weights == 1
        assert (inputs[real] == targets[real] - 1).all()
        seen.extend(targets[real].tolist())
    assert sorted(seen) == text.tolist()


@pytest.mark.long
@pytest.mark.parametrize("unrolled", [False, True])
def test_it_learns_a_made_up_language(tmp_path: Path, unrolled: bool) -> None:
    words = lm.read_words(_text(tmp_path / "train", 150, seed=1))
    numbers = lm.vocabulary(words)
    text = lm.numbered(words, numbers)
    unseen = lm.numbered(lm.read_words(_text(tmp_path / "test", 30, seed=2)), numbers)
    model = lm.LanguageModel(replace(SMALL, unrolled=unrolled), len(numbers), numbers[lm.END])
    met = [model.train_epoch(text, model.rate(epoch)) for epoch in range(SMALL.epochs)]
    assert met == sorted(met, reverse=True)
    unigram = lm.unigram_perplexity(text, unseen, len(numbers))
    assert model.perplexity(unseen) < 0.4 * unigram


def test_the_state_is_carried_from_batch_to_batch() -> None:
    """Pieces of one and of many words give the same: what was read before is not forgotten."""
    text = np.random.RandomState(0).randint(0, 9, 40).astype(np.int32)
    model = lm.LanguageModel(replace(SMALL, steps=40), size=9, first=0)
    model.train_epoch(text, 0.1)
    found = []
    for model.EVALUATION_STEPS in (1, 50):  # type: ignore[misc]
        found.append(model.perplexity(text))
    assert found[0] == pytest.approx(found[1], rel=1e-5)


@pytest.mark.long
def test_a_text_is_read_with_averages_of_the_weights() -> None:
    text = np.random.RandomState(0).randint(0, 9, 200).astype(np.int32)
    last, average = (
        lm.LanguageModel(replace(SMALL, average=share), size=9, first=0) for share in (0.0, 0.9)
    )
    for model in (last, average):
        before = model.perplexity(text)
        model.train_epoch(text, 0.0)
        assert model.perplexity(text) == before
    name = "model/bias"
    for model in (last, average):
        model.train_epoch(text, 0.05)
        weights, read = (
            model.session.run(model.graph.get_tensor_by_name(of))
            for of in (f"{name}:0", f"{name}/ExponentialMovingAverage:0")
        )
        assert np.array_equal(weights, read) == (model is last)


@pytest.mark.long
def test_a_checkpoint_brings_the_model_back(tmp_path: Path) -> None:
    text = np.random.RandomState(0).randint(0, 9, 200).astype(np.int32)
    model = lm.LanguageModel(SMALL, size=9, first=0)
    model.train_epoch(text, 0.01)
    path = model.save(str(tmp_path / "model"))
    before = model.perplexity(text)
    model.train_epoch(text, 0.01)
    assert model.perplexity(text) != before
    other = lm.LanguageModel(SMALL, size=9, first=0)
    other.restore(path)
    assert other.perplexity(text) == before


def test_the_command_reports_each_epoch(tmp_path: Path) -> None:
    train, test = _text(tmp_path / "train", 40, seed=1), _text(tmp_path / "test", 10, seed=2)
    words = [str(train), str(test), "--units", "8", "--epochs", "2", "--steps", "5", "--batch", "4"]
    result = CliRunner().invoke(lm.app, [*words, "--save", str(tmp_path / "model")])
    assert result.exit_code == 0, result.output
    assert "a unigram model's perplexity" in result.output
    assert [line[:8] for line in result.output.splitlines()[1:3]] == ["epoch  1", "epoch  2"]
    assert (tmp_path / "model.index").is_file()


@pytest.mark.long
@pytest.mark.timeout(1500)
def test_penn_treebank_in_less_than_45_hundredths_of_a_unigram_models_perplexity() -> None:
    words = lm.read_words(penn_treebank("ptb.valid.txt"))
    numbers = lm.vocabulary(words)
    text = lm.numbered(words, numbers)
    unseen = lm.numbered(lm.read_words(penn_treebank("ptb.test.txt")), numbers)
    settings = lm.Settings()
    model = lm.LanguageModel(settings, len(numbers), numbers[lm.END])
    for epoch in range(settings.epochs):
        model.train_epoch(text, model.rate(epoch))
    assert model.perplexity(unseen) < 0.45 * lm.unigram_perplexity(text, unseen, len(numbers))

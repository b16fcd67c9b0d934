"""The sentence network cuts reviews as it says, is Kim's network, learns, and comes back."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from penstock.models import sentence_cnn as cnn
from penstock.models.sentence_cnn_text import (
    PADDING,
    UNKNOWN,
    Numbers,
    Sentence,
    batches,
    encode,
    make_batch,
    read_reviews,
    split_fold,
    split_tokens,
    vocabulary,
)
from penstock.models.word2vec_embeddings import Embeddings

SMALL = cnn.Settings(width=12, filters=6, lengths=(2, 3), batch=16, epochs=4, rarest=1)


def movie_reviews() -> Path:
    """Pang and Lee's reviews, from `PENSTOCK_REVIEWS` or beside this checkout; else skips."""
    given = os.environ.get("PENSTOCK_REVIEWS")
    folders = [Path(given)] if given else [
        folder / "shared" / "data" / "movie_reviews" for folder in Path(__file__).resolve().parents
    ]  # fmt: skip
    for folder in folders:
        if (folder / "rt-polarity.pos").is_file():
            return folder
    pytest.skip("no shared/data/movie_reviews above this checkout (or in $PENSTOCK_REVIEWS)")


def _made_up(count: int, seed: int) -> list[Sentence]:
    """Sentences whose class is the order of two words that stand side by side in both classes."""
    random = np.random.RandomState(seed)
    others = ["the", "film", "is", "so", "long", "and", "old"]
    found = []
    for _ in range(count):
        label = int(random.randint(2))
        filling = [others[index] for index in random.randint(0, len(others), random.randint(2, 9))]
        place = random.randint(len(filling) + 1)
        pair = ["not", "bad"] if label else ["bad", "not"]
        found.append(Sentence((*filling[:place], *pair, *filling[place:]), label))
    return found


def _write(folder: Path, sentences: list[Sentence]) -> None:
    for label, name in enumerate(("neg", "pos")):
        lines = [" ".join(each.tokens) for each in sentences if each.label == label]
        (folder / f"rt-polarity.{name}").write_text("\n".join(lines) + "\n")


def _learn(model: cnn.SentenceModel, words: list[Numbers], labels: Numbers) -> list[float]:
    epochs = range(model.settings.epochs)
    return [model.train_epoch(words, labels, model.rate(epoch)) for epoch in epochs]


def test_short_forms_and_marks_are_tokens() -> None:
    assert split_tokens("Can't WON'T didn't") == ["ca", "n't", "wo", "n't", "did", "n't"]
    assert split_tokens('she\'ll (maybe) say "3-d"...') == [
        "she", "'ll", "(", "maybe", ")", "say", "3", "d",
    ]  # fmt: skip


def test_reviews_are_read_once_each_with_their_class(tmp_path: Path) -> None:
    (tmp_path / "rt-polarity.neg").write_text("dull .\ndull\n \n")
    (tmp_path / "rt-polarity.pos").write_text("bright !\n")
    assert read_reviews(tmp_path) == [Sentence(("dull",), 0), Sentence(("bright", "!"), 1)]


def test_the_tenths_cover_all_sentences_and_none_is_learned_and_tested_on() -> None:
    sentences = [Sentence((f"w{number}",), number % 2) for number in range(103)]
    tenths = []
    for fold in range(10):
        learned, held = split_fold(sentences, fold)
        assert not set(learned) & set(held)
        assert len(learned) + len(held) == 103
        tenths += held
    assert sorted(tenths, key=lambda each: int(each.tokens[0][1:])) == sentences
    with pytest.raises(ValueError, match="fold 10 is not one of the tenths 0 to 9"):
        split_fold(sentences, 10)


def test_rare_words_and_words_never_seen_are_unknown() -> None:
    numbers = vocabulary([Sentence(("a", "b", "a"), 0), Sentence(("b", "c"), 1)], rarest=2)
    assert numbers == {"a": UNKNOWN + 1, "b": UNKNOWN + 2}
    words, labels = encode([Sentence(("c", "b", "d"), 1)], numbers)
    assert words[0].tolist() == [UNKNOWN, numbers["b"], UNKNOWN]
    assert labels.tolist() == [1]


def test_a_batch_is_filled_up_on_both_sides() -> None:
    words = [np.array([5, 6], np.int32), np.array([7, 8, 9], np.int32)]
    batch = make_batch(words, np.array([0, 1], np.int32), margin=1, multiple=4)
    assert batch.words.tolist() == [[0, 5, 6, 0, 0, 0], [0, 7, 8, 9, 0, 0]]


def test_batches_hold_every_sentence_once_with_its_label() -> None:
    random = np.random.RandomState(0)
    words = [np.full(random.randint(1, 40), number + 2, np.int32) for number in range(101)]
    labels = np.arange(101, dtype=np.int32)
    for given in (None, np.random.RandomState(1)):
        seen = []
        for batch in batches(words, labels, 10, 2, given):
            assert (batch.words.max(1) == batch.labels + 2).all()
            lengths = (batch.words != PADDING).sum(1)
            assert lengths.tolist() == [len(words[label]) for label in batch.labels]
            seen += batch.labels.tolist()
        assert sorted(seen) == list(range(101))


def test_the_network_is_the_papers() -> None:
    """Its probabilities are those of the formulas in NumPy, and more padding changes nothing."""
    settings = replace(SMALL, lengths=(2, 3))
    model = cnn.SentenceModel(settings, {word: number for number, word in enumerate("abcde", 2)})
    names = {v.op.name: model.session.run(v) for v in model.graph.get_collection("variables")}
    words = np.array([0, 0, 3, 4, 1, 5, 0, 0], np.int32)
    vectors = names["embedding"][words] * (words != PADDING)[:, None]
    features = []
    for length in settings.lengths:
        kernel, biases = names[f"filters_{length}/kernel"], names[f"filters_{length}/biases"]
        values = [
            np.maximum((vectors[start : start + length, :, None] * kernel).sum((0, 1)) + biases, 0)
            for start in range(len(words) - length + 1)
        ]
        features.append(np.max(values, axis=0))
    logits = np.concatenate(features) @ names["softmax/weights"] + names["softmax/biases"]
    expected = np.exp(logits) / np.exp(logits).sum()
    for padding in (0, 5):
        feeds = {model.network.words: np.pad(words, (0, padding))[None]}
        found = model.session.run(model.network.probabilities, feeds)
        np.testing.assert_allclose(found[0], expected, rtol=1e-5)


def test_each_class_has_weights_of_at_most_the_norm() -> None:
    sentences = _made_up(64, seed=1)
    numbers = vocabulary(sentences, 1)
    model = cnn.SentenceModel(replace(SMALL, norm=0.3), numbers)
    before = model.session.run(model.network.weights)
    assert (np.linalg.norm(before, axis=0) > 0.3).all()
    model.train_epoch(*encode(sentences, numbers), rate=1.0)
    after = model.session.run(model.network.weights)
    # A step may make them shorter still, but not by much.
    assert (np.linalg.norm(after, axis=0) < 0.3 * (1 + 1e-6)).all()
    assert (np.linalg.norm(after, axis=0) > 0.28).all()


def test_it_learns_the_order_of_words_and_a_checkpoint_brings_it_back(tmp_path: Path) -> None:
    """Each word is as frequent in one class as in the other: only their order tells."""
    sentences = _made_up(400, seed=1)
    numbers = vocabulary(sentences, 1)
    words, labels = encode(sentences, numbers)
    unseen, answers = encode(_made_up(200, seed=2), numbers)
    model = cnn.SentenceModel(SMALL, numbers)
    assert 0.3 < model.accuracy(unseen, answers) < 0.7
    losses = _learn(model, words, labels)
    assert losses[0] == pytest.approx(np.log(2), rel=0.2)
    assert losses[-1] < 0.7 * losses[0]
    assert model.accuracy(unseen, answers) > 0.95
    assert model.classify("the film is not bad!")["pos"] > 0.5

    path = model.save(str(tmp_path / "model"))
    other = cnn.SentenceModel(replace(SMALL, seed=5), numbers)
    other.restore(path)
    text = "so bad not long"
    assert other.classify(text) == model.classify(text)


@pytest.mark.parametrize("channels", [each for each in cnn.Channels if each != "rand"])
def test_vectors_of_word2vec_are_kept_or_learned_further(channels: cnn.Channels) -> None:
    sentences = _made_up(64, seed=1)
    numbers = vocabulary(sentences, 1)
    random = np.random.RandomState(0)
    given = Embeddings(["bad", "elsewhere"], random.normal(size=(2, SMALL.width)))
    model = cnn.SentenceModel(replace(SMALL, channels=channels), numbers, given)
    model.train_epoch(*encode(sentences, numbers), rate=1.0)
    tables = {
        v.op.name: model.session.run(v)[numbers["bad"]]
        for v in model.graph.get_collection("variables") if v.op.name in ("static", "embedding")
    }  # fmt: skip
    assert len(tables) == (2 if channels is cnn.Channels.MULTICHANNEL else 1)
    for name, vector in tables.items():
        assert (vector == given.vectors[0]).all() == (name == "static")


def test_vectors_must_fit_the_channels() -> None:
    given = Embeddings(["bad"], np.ones((1, SMALL.width + 1), np.float32))
    static = replace(SMALL, channels=cnn.Channels.STATIC)
    with pytest.raises(ValueError, match="'static' need vectors to begin with"):
        cnn.SentenceModel(static, {})
    with pytest.raises(ValueError, match="'rand' need no vectors"):
        cnn.SentenceModel(SMALL, {}, given)
    with pytest.raises(ValueError, match="vectors of width 13 are given; the network's are 12"):
        cnn.SentenceModel(static, {}, given)


@pytest.mark.long
def test_the_command_reports_each_epoch(tmp_path: Path) -> None:
    _write(tmp_path, _made_up(120, seed=1))
    vectors = tmp_path / "vectors"
    Embeddings(["bad", "not"], np.eye(2, 4, dtype=np.float32)).write(vectors)
    words = [str(tmp_path), "--epochs", "2", "--filters", "3", "--save", str(tmp_path / "model")]
    for more in (["--width", "8"], ["--channels", "static", "--vectors", str(vectors)]):
        result = CliRunner().invoke(cnn.app, [*words, *more])
        assert result.exit_code == 0, result.output
        assert [line[:8] for line in result.output.splitlines()[1:3]] == ["epoch  1", "epoch  2"]
    assert (tmp_path / "model.index").is_file()
    refused = CliRunner().invoke(cnn.app, [*words, "--channels", "static"])
    assert refused.exit_code == 2 and "need vectors" in refused.output


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [2])
def test_more_than_seventy_two_of_a_hundred_unseen_reviews_are_right(seed: int) -> None:
    learned, held = split_fold(read_reviews(movie_reviews()), fold=0)
    settings = cnn.Settings(seed=seed)
    numbers = vocabulary(learned, settings.rarest)
    model = cnn.SentenceModel(settings, numbers)
    _learn(model, *encode(learned, numbers))
    assert model.accuracy(*encode(held, numbers)) > 0.72

"""word2vec lays windows out right, learns with either loss in either direction, and answers."""

from __future__ import annotations

import math
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from penstock.models import word2vec as w2v
from penstock.models.word2vec_embeddings import Embeddings, UnknownWordError
from penstock.models.word2vec_text import (
    NOTHING,
    Examples,
    Sampling,
    Text,
    batches,
    encode,
    examples,
    hold_out,
    python_passages,
    read_passages,
    read_questions,
    thin_out,
    unigram_cross_entropy,
    vocabulary,
    windows,
)
from tests.models.related_words import related_before_random
from tests.suite.daily import long_but

ROWS, COLUMNS = ("red", "blue", "green", "grey"), ("cat", "dog", "owl")
_LEARNED = [(flavor, loss) for flavor in w2v.Flavor for loss in w2v.Loss]
BOTH_FLAVORS_AND_LOSSES = pytest.mark.parametrize(("flavor", "loss"), _LEARNED)


def _text(words: list[int], passages: list[int]) -> Text:
    return Text(np.array(words, np.int32), np.array(passages, np.int32))


def _made_up(sentences: int) -> list[list[str]]:
    """A word of a row and a column stands between a sign of its row and one of its column."""
    random = np.random.RandomState(0)
    found = []
    for row, column, one, two in random.randint(0, (4, 3, 2, 2), (sentences, 4)):
        left, right = ROWS[row] + "left" + "ab"[one], COLUMNS[column] + "right" + "ab"[two]
        found.append([left, ROWS[row] + COLUMNS[column], right])
    return found


def _made_up_analogies() -> list[tuple[str, ...]]:
    return [
        (a + c, a + d, b + c, b + d)
        for a, b in permutations(ROWS, 2)
        for c, d in permutations(COLUMNS, 2)
    ]


def _settings(flavor: w2v.Flavor, loss: w2v.Loss) -> w2v.Settings:
    return w2v.Settings(
        flavor=flavor, loss=loss, width=16, window=1, noise=8, batch=64, epochs=4,
        learning_rate=0.5, threshold=0.0,
    )  # fmt: skip


def test_python_carries_english() -> None:
    passages = python_passages()
    assert sum(map(len, passages)) > 30_000
    assert len({tuple(passage) for passage in passages}) == len(passages)


def test_a_file_is_cut_at_lines_and_after_a_thousand_words(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("One, two.\n\n" + "w " * 1001)
    assert list(map(len, read_passages(tmp_path / "text"))) == [2, 1000, 1]


def test_held_out_passages_are_not_learned() -> None:
    passages = [[f"w{number}"] for number in range(50)]
    learned, held = hold_out(passages, seed=3)
    assert len(held) == 5
    assert sorted(learned + held) == sorted(passages)


def test_rare_words_drop_out_and_neighbours_close_up() -> None:
    passages = [["a", "rare", "b"], ["rarer"], ["b", "a", "b"]]
    numbers = vocabulary(passages, rarest=2)
    assert numbers == {"b": 0, "a": 1}
    text = encode(passages, numbers)
    assert text.words.tolist() == [1, 0, 0, 1, 0]
    assert text.passages.tolist() == [0, 0, 2, 2, 2]


@pytest.mark.parametrize("seed", range(5))
def test_windows_hold_the_words_around_within_the_passage(seed: int) -> None:
    random = np.random.RandomState(seed)
    count = random.randint(1, 30)
    words, radius = random.randint(0, 9, count), random.randint(1, 5, count).astype(np.int32)
    passages = np.sort(random.randint(0, 4, count))
    found = windows(_text(words.tolist(), passages.tolist()), radius, most := 4)
    assert found.shape == (count, 2 * most)
    offsets = [*range(-most, 0), *range(1, most + 1)]
    for place in range(count):
        wanted = [
            words[place + offset]
            if abs(offset) <= radius[place] and 0 <= place + offset < count
            and passages[place + offset] == passages[place] else NOTHING
            for offset in offsets
        ]  # fmt: skip
        assert found[place].tolist() == wanted


def test_the_talks_example_of_pairs_and_windows() -> None:
    """The quick brown fox, with one word on either side."""
    text = _text([0, 1, 2, 3], [0, 0, 0, 0])
    random = np.random.RandomState(0)
    pairs = examples(text, Sampling(window=1), random)
    found = list(zip(pairs.inputs.tolist(), pairs.labels[:, 0].tolist()))
    assert found == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 3), (3, 2)]
    middle = examples(text, Sampling(cbow=True, window=1), random)
    assert middle.inputs.tolist() == [[-1, 1], [0, 2], [1, 3], [2, -1]]
    assert middle.labels.tolist() == [[0], [1], [2], [3]]


@pytest.mark.parametrize("cbow", [False, True])
def test_batches_are_full_and_hold_every_example(
    cbow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the text is laid out in several blocks, but for windows that span two."""
    text = _text(list(range(103)), [0] * 103)
    sampling = Sampling(cbow=cbow, window=1, threshold=0)

    def drawn() -> list[Examples]:
        shares = np.full(103, 1 / 103)
        return list(batches(text, sampling, shares, 16, np.random.RandomState(1)))

    one_block = drawn()
    assert all(len(batch) == 16 for batch in one_block[:-1])
    labels = sorted(np.concatenate([batch.labels[:, 0] for batch in one_block]).tolist())
    assert labels == (list(range(103)) if cbow else sorted([*range(103), *range(1, 102)]))
    monkeypatch.setattr("penstock.models.word2vec_text._BLOCK", 50)
    several = drawn()
    assert all(len(batch) == 16 for batch in several[:-1])
    lost = 0 if cbow else 2 * (math.ceil(103 / 50) - 1)
    assert sum(map(len, several)) == len(labels) - lost


def test_frequent_words_are_thinned_out_by_the_formula() -> None:
    words = [0] * 40_000 + [1] * 100
    text = _text(words, [0] * len(words))
    shares = np.bincount(words) / len(words)
    kept = thin_out(text, shares, 0.01, np.random.RandomState(0))
    expected = math.sqrt(0.01 / shares[0]) + 0.01 / shares[0]
    # Five standard deviations of a binomial of 40,000.
    assert np.mean(kept.words == 0) * len(kept) / 40_000 == pytest.approx(expected, abs=0.008)
    assert (kept.words == 1).sum() == 100
    assert thin_out(text, shares, 0.0, np.random.RandomState(0)) is text


def test_unigram_cross_entropy_counts_one_more() -> None:
    learned, unseen = np.array([[0], [0], [1], [3]]), np.array([[0], [2]])
    expected = -(math.log(3 / 8) + math.log(1 / 8)) / 2
    assert unigram_cross_entropy(learned, unseen, size=4) == pytest.approx(expected)


def test_questions_of_known_words_by_heading(tmp_path: Path) -> None:
    path = tmp_path / "questions"
    path.write_text(": opposites\nUp down left right\nup down hot cold\n: more\na b c d\n")
    numbers = {word: number for number, word in enumerate(["down", "left", "right", "up"])}
    found = read_questions(path, numbers)
    assert [(heading, known.tolist(), count) for heading, (known, count) in found.items()] == [
        ("opposites", [[3, 0, 1, 2]], 2), ("more", [], 1),
    ]  # fmt: skip


def test_embeddings_answer_and_come_back_from_their_file(tmp_path: Path) -> None:
    vectors = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1], [0.9, 0, 0.1]], np.float32)
    made = Embeddings(["cat", "kitten", "dog", "puppy", "cats"], vectors)
    made.write(tmp_path / "vectors")
    for found in (made, Embeddings.read(tmp_path / "vectors")):
        np.testing.assert_array_equal(found.vectors, vectors)
        (near,) = found.nearby(["cat"], count=3)
        assert [word for word, _ in near] == ["cat", "cats", "kitten"]
        for word, cosine in near:
            assert cosine == pytest.approx(found.cosine("cat", word), abs=1e-6)
        assert found.analogy("cat", "kitten", "dog") == "puppy"
    with pytest.raises(UnknownWordError, match="no vector for 'owl': .* the 5 words learned"):
        made.nearby(["owl"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat 1 2\n", ":1: expected the number of vectors and their width"),
        ("1 3\ncat 1 2\n", ":2: expected 1 lines of a word and 3 values, found one of 2"),
        ("1 1\ncat 1\ndog 1\n", ":3: expected 1 lines"),
        ("2 1\ncat 1\n", ": expected 2 vectors, found 1"),
    ],
)
def test_a_file_of_vectors_that_is_none_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "vectors").write_text(text)
    with pytest.raises(ValueError, match=message):
        Embeddings.read(tmp_path / "vectors")


@pytest.mark.parametrize(("flavor", "loss"), long_but(_LEARNED[:1], _LEARNED))
def test_it_learns_a_made_up_language_and_its_analogies(flavor: w2v.Flavor, loss: w2v.Loss) -> None:
    settings = _settings(flavor, loss)
    model = w2v.Word2Vec(settings, *hold_out(_made_up(3000), seed=0))
    untrained = model.cross_entropy()
    assert untrained == pytest.approx(model.uniform, rel=0.02)
    sampled = [model.train_epoch() for _ in range(settings.epochs)]
    assert sampled == sorted(sampled, reverse=True)
    assert model.cross_entropy() < 0.8 * min(model.unigram, untrained)
    numbers = model.numbers
    questions = np.array([[numbers[word] for word in row] for row in _made_up_analogies()])
    answers = model.trained().answers(questions[:, :3])
    # By chance one in 23: the vocabulary without the three words of the question.
    assert (answers == questions[:, 3]).mean() > 0.9


def test_a_checkpoint_brings_the_model_back(tmp_path: Path) -> None:
    settings = _settings(w2v.Flavor.SKIP_GRAM, w2v.Loss.NCE)
    learned, held = hold_out(_made_up(300), seed=0)
    model = w2v.Word2Vec(settings, learned, held)
    model.train_epoch()
    path, before = model.save(str(tmp_path / "model")), model.cross_entropy()
    model.train_epoch()
    assert model.cross_entropy() != before
    other = w2v.Word2Vec(settings, learned, held)
    other.restore(path)
    assert other.cross_entropy() == before


def test_the_commands_learn_write_and_answer(tmp_path: Path) -> None:
    text, vectors, logs = tmp_path / "text", tmp_path / "vectors", tmp_path / "logs"
    text.write_text("\n".join(" ".join(sentence) for sentence in _made_up(600)))
    (tmp_path / "questions").write_text(": made up\nredcat reddog bluecat bluedog\na b c d\n")

    def run(*words: object) -> str:
        result = CliRunner().invoke(w2v.app, list(map(str, words)))
        assert result.exit_code == 0, result.output
        return result.output

    train = ["--text", text, "--epochs", 2, "--width", 8, "--noise", 8, "--threshold", 0]
    lines = run("train", *train, "--vectors", vectors, "--logdir", logs).splitlines()
    assert [line[:8] for line in lines[1:3]] == ["epoch  1", "epoch  2"]
    assert list(logs.glob("events.out.*")) and (logs / "projector_config.pbtxt").is_file()
    assert len((logs / "words.tsv").read_text().splitlines()) == 26
    assert run("nearby", vectors, "redcat", "--count", 3).count(",") == 2
    assert run("analogy", vectors, "redcat", "reddog", "bluecat").strip()
    assert "of     1  (2 in the file)" in run("questions", vectors, tmp_path / "questions")
    refused = CliRunner().invoke(w2v.app, ["nearby", str(vectors), "unheard"])
    assert refused.exit_code == 2 and "unheard" in refused.output


@pytest.mark.long
@pytest.mark.timeout(900)
@BOTH_FLAVORS_AND_LOSSES
def test_pythons_reference_is_learned(flavor: w2v.Flavor, loss: w2v.Loss) -> None:
    settings = w2v.Settings(flavor=flavor, loss=loss)
    model = w2v.Word2Vec(settings, *hold_out(python_passages(), seed=1))
    untrained, before = model.cross_entropy(), related_before_random(model.trained())
    # Over some 1600 comparisons that share 40 words; chance would be 0.5 +- 0.05.
    assert 0.3 < before < 0.7
    for _ in range(settings.epochs):
        model.train_epoch()
    found = model.cross_entropy()
    # Two tenths of a nat: a perplexity a fifth lower than by the words' frequency alone.
    assert found < min(model.unigram, model.uniform, untrained) - 0.2
    assert related_before_random(model.trained()) > 0.8

"""Every program of the workshop trains a little, goes on, leaves files, and refuses nonsense."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.models import language_model
from penstock.models.digits_data import batches
from penstock.models.workshop import mnist
from penstock.models.workshop.catalogue import PROGRAMS
from tests.models.texts import made_up
from tests.models.workshop.commands import result, train, trained

SENTENCES = ("a good film", "what a good and long film", "a bad film", "so bad and long a film")


def _text(folder: Path, sentences: int = 150) -> Path:
    path = folder / "text.txt"
    path.write_text(made_up(sentences, seed=1))
    return path


def _reviews(folder: Path) -> Path:
    """Sentences for and against; their number makes each one another."""
    for name, word in (("neg", "bad"), ("pos", "good")):
        lines = [f"film number {number} is a {word} one" for number in range(60)]
        (folder / f"rt-polarity.{name}").write_text("\n".join(lines))
    return folder


def _steps(folder: Path) -> int:
    """The step of the folder's last checkpoint."""
    return int(tf.train.load_variable(str(folder), "global_step"))


def _tags(folder: Path) -> set[str]:
    """The names of all values in the folder's event files."""
    return {
        value.tag
        for path in folder.glob("events.out.*")
        for event in tf.train.summary_iterator(str(path))
        for value in event.summary.value
    }


def test_the_list_names_every_program_and_its_help_teaches() -> None:
    listed = trained()
    assert trained("--help") == listed
    for program in PROGRAMS:
        assert f"  {program.name} " in listed
        told = trained(program.name, "--help")
        assert "The graph:" in told and "Examples:" in told
        assert f"penstock train {program.name}" in told
        assert ("--workers" in told) == program.distributed


def test_a_program_that_is_not_there_is_an_error_of_the_line() -> None:
    done = train("mnits")
    assert done.exit_code == 2 and "No such command 'mnits'" in done.output


@pytest.mark.long
def test_ridge_comes_to_the_closed_form_and_goes_on(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["ridge", "--examples", 50, "--features", 3, "--logdir", run]
    trained(*words, "--steps", 5)
    assert _steps(run) == 5 and result(run)["difference"] > 1e-2
    assert "goes on after step 5 of 300" in trained(*words, "--steps", 300)
    assert _steps(run) == 300 and result(run)["difference"] < 1e-4
    assert {"loss", "values/weights"} <= _tags(run)
    assert (run / "weights.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.long
def test_another_setting_in_the_same_folder_is_refused_and_fresh_keeps_the_old(
    tmp_path: Path,
) -> None:
    words = ["ridge", "--examples", 20, "--steps", 3, "--logdir", tmp_path / "run"]
    trained(*words)
    done = train(*words, "--penalty", 3)
    assert done.exit_code == 2 and "has penalty 0.1: give the same, or --fresh" in done.output
    trained(*words, "--penalty", 3, "--fresh")
    assert len(list(tmp_path.glob("run-*"))) == 1


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").touch()
    done = train("xor", "--logdir", tmp_path)
    assert done.exit_code == 2 and "holds other things than a run" in done.output
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.long
def test_xor_is_learned_and_watched(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = trained("xor", "--logdir", run, "--steps", 300)
    assert "right: 4 of 4" in said
    assert {"loss", "values/hidden/weights", "values/out/outputs"} <= _tags(run)


@pytest.mark.long
@pytest.mark.parametrize("network", ["softmax", "cnn"])
def test_mnist_learns_scikit_learns_digits(tmp_path: Path, network: str) -> None:
    pytest.importorskip("sklearn")
    run = tmp_path / "run"
    words = ["mnist", "--network", network, "--logdir", run, "--learning-rate", 0.01]
    trained(*words, "--epochs", 1)
    assert _steps(run) == 1437 // 64
    said = trained(*words, "--epochs", 4)
    assert f"goes on after step {1437 // 64} of {4 * (1437 // 64)}" in said
    assert result(run)["accuracy"] > 0.7  # by chance a tenth
    assert {"loss", "accuracy", "digits/image/0"} <= _tags(run)


def test_mnist_says_what_is_wrong_with_its_arguments(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    for words, message in (
        (["--data", tmp_path], "no such file"),
        (["--network", "layers"], "'layers' is for images of 28 by 28 pixels"),
        (["--batch", 5000], "5000 is more than the 1437 images"),
        (["--network", "rnn"], "--network"),
        (["--workers", 2], "--ps 0 --workers 2: a cluster has one of each or more"),
    ):
        done = train("mnist", *words, "--logdir", tmp_path / "run")
        assert done.exit_code == 2 and message in done.output, done.output


@pytest.mark.long
@pytest.mark.parametrize("more", [[], ["--flavor", "cbow"], ["--loss", "nce"]])
def test_word2vec_learns_and_leaves_vectors_a_projector_and_pictures(
    tmp_path: Path, more: list[str]
) -> None:
    (tmp_path / "questions.txt").write_text(": things\nthe dog a cat\nx y z a\n")
    run = tmp_path / "run"
    words = ["word2vec", "--text", _text(tmp_path), "--width", 8, "--logdir", run, *more,
             "--nearby", "dog", "--nearby", "unicorn", "--threshold", 0,
             "--analogies", tmp_path / "questions.txt"]  # fmt: skip
    said = trained(*words, "--epochs", 2)
    assert "dog: " in said and "unicorn: not among the 11 words learned" in said
    assert "of     1  (2 in the file)" in said
    assert (run / "vectors.txt").read_text().split()[:2] == ["11", "8"]
    assert "words.tsv" in (run / "projector_config.pbtxt").read_text()
    assert (run / "tsne.png").is_file()
    assert "goes on after" in trained(*words, "--epochs", 3)


@pytest.mark.long
def test_word2vec_steps_by_threads_and_one_repeats_itself(tmp_path: Path) -> None:
    words = ["word2vec", "--text", _text(tmp_path, 600), "--width", 8, "--epochs", 3, "--seed", 5]

    def vectors(name: str, *more: object) -> str:
        said = trained(*words, *more, "--logdir", tmp_path / name)
        assert "words/s" in said
        return (tmp_path / name / "vectors.txt").read_text()

    assert vectors("one", "--threads", 1) == vectors("again", "--threads", 1)
    assert "nan" not in vectors("three", "--threads", 3)
    assert _steps(tmp_path / "one") == _steps(tmp_path / "three") > 3
    assert {"loss", "learning_rate"} <= _tags(tmp_path / "three")
    for more in (["--threads", 2, "--loss", "nce"], ["--threads", 0], ["--seed", -5],
                 ["--seed", 2**32]):  # fmt: skip
        done = train(*words, *more, "--logdir", tmp_path / "refused")
        assert done.exit_code == 2 and str(more[0]) in done.output, done.output


@pytest.mark.long
def test_word2vec_at_a_rate_of_0_learns_nothing(tmp_path: Path) -> None:
    """It was taken for none given, and learned at the default one."""
    words = ["word2vec", "--text", _text(tmp_path), "--learning-rate", 0, "--threads", 1]
    for epochs in (1, 2):
        trained(*words, "--epochs", epochs, "--logdir", tmp_path / str(epochs))
    one, two = ((tmp_path / epochs / "vectors.txt").read_text() for epochs in "12")
    assert one == two


def test_word2vec_takes_a_text_that_is_thinned_out_to_nothing(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("aa bb cc\n" * 6)
    words = ["word2vec", "--text", tmp_path / "text", "--threshold", 1e-9, "--epochs", 2]
    assert "cc: " in trained(*words, "--logdir", tmp_path / "run")


def test_a_run_that_diverges_says_what_to_change(tmp_path: Path) -> None:
    words = ["word2vec", "--text", _text(tmp_path), "--learning-rate", 1e30, "--threads", 1]
    done = train(*words, "--logdir", tmp_path / "run")
    assert done.exit_code == 1 and "smaller --learning-rate" in done.output, done.output


@pytest.mark.long
def test_word2vec_reads_folders_and_says_what_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    _text(tmp_path / "texts")
    words = ["word2vec", "--epochs", 1, "--logdir", tmp_path / "run"]
    assert "a vocabulary of 11" in trained(*words, "--text", tmp_path / "texts")
    for text, message in (("nowhere.txt", "No such file"), (".", "no text in UTF-8")):
        (tmp_path / "image.png").write_bytes(b"\x89PNG\xff\xfe")
        done = train(*words, "--fresh", "--text", tmp_path / text)
        assert done.exit_code and message in done.output, done.output
    done = train(*words, "--fresh", "--text", _text(tmp_path, 1), "--rarest", 50)
    assert done.exit_code == 2 and "give more text" in done.output


@pytest.mark.long
def test_the_language_model_learns_and_writes(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["language-model", "--text", _text(tmp_path, 300), "--units", 16, "--batch", 4,
             "--steps", 8, "--learning-rate", 0.02, "--logdir", run,
             "--words", 6, "--begin", "the dog"]  # fmt: skip
    trained(*words, "--epochs", 1)
    said = trained(*words, "--epochs", 8)
    assert "goes on after epoch 1 of 8" in said and "\nthe dog " in said
    assert result(run)["ratio"] < 0.8
    assert {"loss", "perplexity"} <= _tags(run)


@pytest.mark.long
def test_sentences_are_told_apart_and_vectors_are_asked_for(tmp_path: Path) -> None:
    run, reviews = tmp_path / "run", _reviews(tmp_path)
    words = ["sentences", "--data", reviews, "--filters", 4, "--logdir", run]
    said = trained(*words, "--epochs", 6, "--folds", 2, "--ask", "a bad film")
    assert result(run)["accuracy"] > 0.9 and "mean of 2 folds" in said
    assert "'a bad film': neg" in said
    done = train(*words, "--channels", "static")
    assert done.exit_code == 2 and "'static' takes --vectors" in done.output


@pytest.mark.long
def test_sentences_take_the_vectors_of_word2vec(tmp_path: Path) -> None:
    reviews = tmp_path / "reviews"
    reviews.mkdir()
    _reviews(reviews)
    vectors = tmp_path / "vectors"
    trained("word2vec", "--text", reviews, "--width", 8, "--epochs", 1, "--logdir", vectors)
    run = tmp_path / "run"
    trained("sentences", "--data", reviews, "--channels", "multichannel", "--filters", 4,
            "--vectors", vectors / "vectors.txt", "--epochs", 8, "--logdir", run)  # fmt: skip
    assert result(run)["accuracy"] > 0.9


@pytest.mark.long
def test_translate_learns_goes_on_and_runs_on_two_devices(tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = ["translate", "--units", 16, "--batch", 16, "--longest", 5, "--logdir", run,
             "--devices", "/cpu:0,/cpu:1"]  # fmt: skip
    trained(*words, "--steps", 3)
    assert "goes on after step 3 of 12" in trained(*words, "--steps", 12)
    assert 0 < result(run)["greedy"] <= 1 and _steps(run) == 12
    assert 'device: "/device:CPU:1"' in (run / "graph.pbtxt").read_text()
    for wrong, message in (
        (["--units", 5], "5 is odd"), (["--devices", "/cpu:0"], "two devices are wanted"),
    ):  # fmt: skip
        done = train("translate", *wrong, "--logdir", tmp_path / "other")
        assert done.exit_code == 2 and message in done.output


@pytest.mark.long
@pytest.mark.parametrize("method", ["policy-gradient", "dqn"])
def test_the_pole_is_balanced_longer(tmp_path: Path, method: str) -> None:
    pytest.importorskip("gymnasium")
    run = tmp_path / "run"
    words = ["cartpole", "--method", method, "--logdir", run]
    steps = 15 if method == "policy-gradient" else 200
    trained(*words, "--steps", 2)
    assert f"goes on after step 2 of {steps}" in trained(*words, "--steps", steps)
    assert {"loss", "episode_length"} <= _tags(run)
    if method == "policy-gradient":
        assert result(run)["mean"] > 60  # by chance it falls after some twenty steps


@pytest.mark.long
def test_image_networks_are_timed(tmp_path: Path) -> None:
    run = tmp_path / "run"
    said = trained("image-nets", "--net", "alexnet", "--batch", 1, "--steps", 1, "--logdir", run)
    times = result(run)["nets"]["alexnet"]
    assert 0 < times["forward_ms"] < times["training_ms"]
    assert np.isclose(times["parameters"], 50.3, atol=0.1) and "alexnet" in said
    assert (run / "times.png").is_file()


@pytest.mark.long
def test_ctrl_c_saves_what_was_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sklearn")
    run = tmp_path / "run"
    words = ["mnist", "--epochs", 1, "--logdir", run]

    def some(*args: Any) -> Iterator[Any]:
        yield from itertools.islice(batches(*args), 5)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(mnist, "batches", some)
        done = train(*words)
    assert done.exit_code == 130
    assert f"stopped after 5 steps; the same command goes on from {run}" in done.output
    assert _steps(run) == 5 and not (run / "result.json").exists()
    assert "goes on after step 5 of 22" in trained(*words)


@pytest.mark.long
def test_ctrl_c_keeps_whole_epochs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    words = ["language-model", "--text", _text(tmp_path), "--units", 8, "--batch", 4,
             "--epochs", 3, "--logdir", run]  # fmt: skip
    learned = language_model.LanguageModel.train_epoch
    calls = itertools.count()

    def once(*args: Any) -> float:
        if next(calls):
            raise KeyboardInterrupt
        return learned(*args)

    with monkeypatch.context() as patch:
        patch.setattr(language_model.LanguageModel, "train_epoch", once)
        done = train(*words)
    assert done.exit_code == 130 and "stopped after 1 epochs" in done.output
    assert "goes on after epoch 1 of 3" in trained(*words)


def test_a_loss_that_is_no_number_ends_the_run(tmp_path: Path) -> None:
    done = train("ridge", "--learning-rate", 1e9, "--logdir", tmp_path / "run")
    assert done.exit_code == 1 and done.output.splitlines()[-1].startswith("penstock: the loss bec")
    assert "give a smaller --learning-rate" in done.output


def test_without_matplotlib_a_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    said = trained("ridge", "--steps", 2, "--logdir", tmp_path / "run")
    assert "no picture weights.png: it takes matplotlib" in said
    assert not list((tmp_path / "run").glob("*.png")) and result(tmp_path / "run")


def test_without_gymnasium_cartpole_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = train("cartpole", "--logdir", tmp_path / "run")
    assert done.exit_code == 2 and "pip install 'penstock[workshop]'" in done.output


def test_word2vec_reads_a_url(tmp_path: Path) -> None:
    place = f"memory://{tmp_path.name}/text.txt"
    with tf.gfile.GFile(place, "w") as file:
        file.write(made_up(150, seed=1))
    said = trained("word2vec", "--text", place, "--epochs", 1, "--logdir", tmp_path / "run")
    assert f"of {place}, a vocabulary of 11" in said

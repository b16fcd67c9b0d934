"""The demo: a short run learns, leaves its outputs, and refuses bad input with a reason."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import digits
import numpy as np
import pytest
import torch
from typer.testing import CliRunner, Result

import penstock as tf
from penstock.models import digits_data
from penstock.models.idx import IdxError
from tests.suite.clock import wait_until


def demo(*args: object) -> Result:
    """Runs the demo's command line in this process."""
    return CliRunner().invoke(digits.app, [str(a) for a in args])


def said(result: Result) -> str:
    """What it said, without the frame around an error and the line breaks that this brings."""
    return " ".join(result.output.replace("│", " ").split())


def write_mnist(folder: Path, part: str, count: int, label: int | None = None) -> None:
    """Writes `count` 8x8 images that say their label in their brightest row."""
    labels = np.arange(count, dtype=np.uint8) % 8 if label is None else np.full(count, label, "u1")
    images = np.zeros([count, 8, 8], np.uint8)
    images[np.arange(count), labels % 8] = 255
    header = struct.pack(">4B3I", 0, 0, 8, 3, count, 8, 8)
    (folder / f"{part}-images-idx3-ubyte").write_bytes(header + images.tobytes())
    header = struct.pack(">4BI", 0, 0, 8, 1, count)
    (folder / f"{part}-labels-idx1-ubyte").write_bytes(header + labels.tobytes())


def test_a_short_run_learns_and_leaves_its_outputs(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    result = demo("--steps", 100, "--out", folder)
    assert result.exit_code == 0, result.output
    metrics = json.loads((folder / "metrics.json").read_text())
    assert (metrics["steps"], metrics["resumed_from"]) == (100, 0)
    assert (metrics["train_images"], metrics["test_images"]) == (1437, 360)
    assert metrics["test_accuracy"] >= 0.85
    assert metrics["steps_per_second"] > 0
    assert f"test accuracy {metrics['test_accuracy']:.2%}" in result.output
    program = (folder / "program.py.txt").read_text()
    assert "def " in program
    assert "conv1/" in program  # the lines name the nodes that they run
    curves, checkpoint = result.output.splitlines()[-2:]
    assert curves.endswith(f"tensorboard --logdir {folder}")
    assert checkpoint.endswith(f"penstock inspect {folder}/model.ckpt-100")
    assert {"events", "hidden", "labels", "digits", "projector_config"} <= {
        path.name.split(".")[0] for path in (folder / "test").iterdir()
    }


@pytest.fixture
def one_thread() -> Iterator[None]:
    """A team of threads may be chosen in one run and not in the other; last bits differ then."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.long
def test_a_resumed_run_ends_as_one_that_was_not_interrupted(
    tmp_path: Path, one_thread: None
) -> None:
    """The weights, Adam's slots and the losses: the same numbers, not about the same."""
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder, steps in [(whole, 60), (parts, 25), (parts, 60)]:
        result = demo("--steps", steps, "--out", folder)
        assert result.exit_code == 0, result.output
    assert f"resuming {parts} after step 25" in result.output
    ends = [json.loads((folder / "metrics.json").read_text()) for folder in (whole, parts)]
    assert [end["resumed_from"] for end in ends] == [0, 25]
    assert ends[0]["final_loss"] == ends[1]["final_loss"]
    assert ends[0]["test_loss"] == ends[1]["test_loss"]
    readers = [tf.train.load_checkpoint(str(folder)) for folder in (whole, parts)]
    names = sorted(readers[0].get_variable_to_shape_map())
    assert "hidden/kernel/Adam" in names and "global_step" in names
    for name in names:
        values = [reader.get_tensor(name) for reader in readers]
        np.testing.assert_array_equal(*values, err_msg=name)


def test_a_finished_run_says_so(tmp_path: Path) -> None:
    demo("--steps", 10, "--out", tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    result = demo("--steps", 10, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "is finished: 10 steps" in result.output
    assert "--steps 20" in result.output and "--fresh" in result.output
    assert "tensorboard --logdir" in result.output
    assert before == {path: path.stat().st_mtime_ns for path in before}


def test_fresh_keeps_the_earlier_run(tmp_path: Path) -> None:
    for extra in ([], ["--fresh", "--seed", 2]):
        result = demo("--steps", 1, "--out", tmp_path / "run", *extra)
        assert result.exit_code == 0, result.output
    assert "resuming" not in result.output
    seeds = [json.loads(path.read_text())["seed"] for path in tmp_path.glob("*/settings.json")]
    assert sorted(seeds) == [1, 2]


def test_other_settings_are_refused(tmp_path: Path) -> None:
    demo("--steps", 1, "--out", tmp_path)
    result = demo("--steps", 2, "--out", tmp_path, "--seed", 5)
    assert result.exit_code == 2
    assert "--seed" in said(result) and "has seed 1" in said(result)


def test_a_folder_of_other_things_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    for extra in ([], ["--fresh"]):
        result = demo("--steps", 1, "--out", tmp_path, *extra)
        assert result.exit_code == 2
        assert "holds other things" in said(result)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]


@pytest.mark.long
@pytest.mark.parametrize("seconds", [0.5, 1.0, 1.5])
def test_a_killed_run_goes_on(tmp_path: Path, seconds: float) -> None:
    """kill -9 some time after the first checkpoint is there; the next run ends as if it was not."""
    folder, steps = tmp_path / "run", 1000
    script = Path(digits.__file__)
    command = [sys.executable, script, "--steps", str(steps), "--out", folder]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    wait_until(lambda: (folder / "checkpoint").exists() or process.poll() is not None, 100)
    time.sleep(seconds)
    process.kill()
    process.wait()
    again = subprocess.run(command, capture_output=True, text=True)
    assert again.returncode == 0, again.stderr
    assert f"resuming {folder}" in again.stdout or "is finished" in again.stdout
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["steps"] == steps and metrics["test_accuracy"] > 0.97


@pytest.mark.parametrize("parts", [["t10k"], ["train", "t10k"]], ids=["t10k", "both"])
def test_reads_mnist_files(tmp_path: Path, parts: list[str]) -> None:
    for part in parts:
        write_mnist(tmp_path, part, 200)
    result = demo("--data-dir", tmp_path, "--steps", 2, "--out", tmp_path / "runs")
    assert result.exit_code == 0, result.output
    held_back = 200 if "train" in parts else 20
    learned = 200 if "train" in parts else 180
    assert f"{learned} images to learn from, {held_back} held back" in result.output
    assert ("these are split" in result.output) == (parts == ["t10k"])


def test_each_data_has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_mnist(tmp_path, "t10k", 200)
    monkeypatch.chdir(tmp_path)
    for extra in ([], ["--data-dir", tmp_path]):
        result = demo("--steps", 1, *extra)
        assert result.exit_code == 0, result.output
    assert {path.name for path in Path("runs").iterdir()} == {"digits", "digits-mnist"}


def test_the_split_is_fixed_and_disjoint() -> None:
    first, again = digits_data.load_bundled(), digits_data.load_bundled()
    np.testing.assert_array_equal(first.test_images, again.test_images)
    assert len(first.train_labels) + len(first.test_labels) == 1797
    assert first.train_images.dtype == np.float32 and first.train_images.shape[1:] == (8, 8, 1)
    assert 0.0 <= first.train_images.min() and first.train_images.max() == 1.0
    assert set(first.test_labels) == set(range(10))


def test_batches_cover_an_epoch_without_repeats() -> None:
    images = np.arange(10, dtype=np.float32).reshape(10, 1, 1, 1)
    labels = np.arange(10, dtype=np.int32)
    data = digits_data.Data("ten", images, labels, images, labels)
    stream = digits_data.batches(data, 5, seed=0)
    epoch = [next(stream) for _ in range(2)]
    assert sorted(np.concatenate([y for _, y in epoch])) == list(range(10))
    after_three = next(digits_data.batches(data, 5, seed=0, done=3))
    np.testing.assert_array_equal([next(stream) for _ in range(2)][1][1], after_three[1])
    for x, y in epoch:
        np.testing.assert_array_equal(x.ravel(), y)


def test_missing_files_are_named(tmp_path: Path) -> None:
    result = demo("--data-dir", tmp_path)
    assert result.exit_code == 2
    assert "no such file" in result.output


def test_images_and_labels_must_match(tmp_path: Path) -> None:
    write_mnist(tmp_path, "t10k", 30)
    short = struct.pack(">4BI", 0, 0, 8, 1, 29) + bytes(29)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(short)
    with pytest.raises(IdxError, match=r"\[30, 8, 8\] and labels of shape \[29\]"):
        digits_data.load_mnist(tmp_path)


def test_labels_must_be_digits(tmp_path: Path) -> None:
    write_mnist(tmp_path, "t10k", 30, label=11)
    with pytest.raises(IdxError, match="labels run from 11 to 11; wanted 0 to 9"):
        digits_data.load_mnist(tmp_path)


@pytest.mark.parametrize("args", [["--steps", 0], ["--batch-size", 5000]], ids=str)
def test_bad_options_are_refused(args: list[object], tmp_path: Path) -> None:
    result = demo(*args, "--out", tmp_path)
    assert result.exit_code == 2
    assert str(args[0]) in result.output
    assert not list(tmp_path.iterdir())

"""The demo: a short run learns, leaves its outputs, and refuses bad input with a reason."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import digits
import numpy as np
import pytest
from typer.testing import CliRunner, Result


def demo(*args: object) -> Result:
    """Runs the demo's command line in this process."""
    return CliRunner().invoke(digits.app, [str(a) for a in args])


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
    result = demo("--steps", 100, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    (folder,) = tmp_path.iterdir()
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["steps"] == 100
    assert (metrics["train_images"], metrics["test_images"]) == (1437, 360)
    assert metrics["test_accuracy"] >= 0.85
    assert metrics["steps_per_second"] > 0
    assert f"test accuracy {metrics['test_accuracy']:.2%}" in result.output
    assert folder.name in result.output
    program = (folder / "program.py.txt").read_text()
    assert "def " in program
    assert "conv1/" in program  # the lines name the nodes that they run


def test_runs_do_not_overwrite_each_other(tmp_path: Path) -> None:
    for _ in range(2):
        result = demo("--steps", 1, "--out", tmp_path)
        assert result.exit_code == 0, result.output
    assert len(list(tmp_path.iterdir())) == 2


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


def test_the_split_is_fixed_and_disjoint() -> None:
    first, again = digits.load_bundled(), digits.load_bundled()
    np.testing.assert_array_equal(first.test_images, again.test_images)
    assert len(first.train_labels) + len(first.test_labels) == 1797
    assert first.train_images.dtype == np.float32 and first.train_images.shape[1:] == (8, 8, 1)
    assert 0.0 <= first.train_images.min() and first.train_images.max() == 1.0
    assert set(first.test_labels) == set(range(10))


def test_batches_cover_an_epoch_without_repeats() -> None:
    images = np.arange(10, dtype=np.float32).reshape(10, 1, 1, 1)
    labels = np.arange(10, dtype=np.int32)
    data = digits.Data("ten", images, labels, images, labels)
    stream = digits.batches(data, 5, seed=0)
    epoch = [next(stream) for _ in range(2)]
    assert sorted(np.concatenate([y for _, y in epoch])) == list(range(10))
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
    with pytest.raises(digits.IdxError, match=r"\[30, 8, 8\] and labels of shape \[29\]"):
        digits.load_mnist(tmp_path)


def test_labels_must_be_digits(tmp_path: Path) -> None:
    write_mnist(tmp_path, "t10k", 30, label=11)
    with pytest.raises(digits.IdxError, match="labels run from 11 to 11; wanted 0 to 9"):
        digits.load_mnist(tmp_path)


@pytest.mark.parametrize("args", [["--steps", 0], ["--batch-size", 5000]], ids=str)
def test_bad_options_are_refused(args: list[object], tmp_path: Path) -> None:
    result = demo(*args, "--out", tmp_path)
    assert result.exit_code == 2
    assert str(args[0]) in result.output
    assert not list(tmp_path.iterdir())

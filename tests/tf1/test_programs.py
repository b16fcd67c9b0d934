"""Programs with only ``import tensorflow``: ``penstock run`` prints what TensorFlow 1.15 prints."""

from __future__ import annotations

import gzip
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.peers import TF115, needs
from tests.tf1.processes import run

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


def _write_digits(folder: Path) -> None:
    """MNIST's four files, of made-up images that a linear model can tell apart."""
    rng = np.random.default_rng(0)
    folder.mkdir()
    for part, count in (("train", 600), ("t10k", 200)):
        labels = rng.integers(0, 10, count, dtype=np.uint8)
        images = rng.integers(0, 100, (count, 28, 28), dtype=np.uint8)
        images[np.arange(count), labels] += 120
        for values, name in ((images, "images-idx3"), (labels, "labels-idx1")):
            head = struct.pack(f">{1 + values.ndim}I", 2048 + values.ndim, *values.shape)
            content = gzip.compress(head + values.tobytes())
            (folder / f"{part}-{name}-ubyte.gz").write_bytes(content)


@pytest.mark.long
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_output_is_tensorflows(path: Path, tmp_path: Path) -> None:
    needs(TF115)
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    _write_digits(ours)
    _write_digits(theirs)
    done = run(str(path), "--data_dir", str(ours))
    command = [str(TF115), str(path), "--data_dir", str(theirs)]
    asked = subprocess.run(command, check=True, capture_output=True, text=True)
    said = asked.stdout.replace(str(theirs), str(ours)).splitlines()
    assert done.stdout.splitlines() == said
    assert len(said) >= 1


@pytest.mark.long
def test_a_program_learns(tmp_path: Path) -> None:
    _write_digits(tmp_path / "data")
    (path,) = (path for path in PROGRAMS if path.stem == "softmax_mnist")
    said = run(str(path), "--data_dir", str(tmp_path / "data")).stdout.splitlines()[-1].split()
    assert said[0] == "accuracy" and float(said[1]) > 0.5

"""`penstock convert`: values, dtypes and names survive every pair of formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from penstock.foundation.formats.bundle import BundleReader, BundleWriter

ARRAYS: dict[str, np.ndarray] = {
    "a/float": np.arange(6, dtype=np.float32).reshape(2, 3),
    "a/half": np.array([1.5, -2.0], np.float16),
    "b/bfloat": np.array([[1.0, 3.0]], ml_dtypes.bfloat16),
    "b/int": np.array(7, np.int64),
    "b/bool": np.array([True, False]),
    "c/empty": np.zeros([0, 3], np.float64),
}
STEPS = {"bundle": "out", "safetensors": "out.safetensors", "torch": "out.pt", "v1": "out.v1"}


@pytest.fixture
def source(tmp_path: Path) -> str:
    prefix = str(tmp_path / "source")
    with BundleWriter(prefix) as writer:
        for name, array in ARRAYS.items():
            writer.add(name, array)
    return prefix


def check(prefix: str, names: dict[str, str] | None = None) -> None:
    with BundleReader(prefix) as reader:
        assert len(reader.names()) == len(ARRAYS)
        for name, array in ARRAYS.items():
            found = reader.read((names or {}).get(name, name))
            assert found.dtype == array.dtype and found.shape == array.shape
            np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("kind", STEPS)
def test_there_and_back(penstock: Any, source: str, tmp_path: Path, kind: str) -> None:
    between = tmp_path / STEPS[kind]
    said = penstock("convert", source, between, "--to", kind)
    assert f"{kind}, {len(ARRAYS)} tensors" in said
    penstock("convert", between, tmp_path / "back")
    check(str(tmp_path / "back"))


def test_torch_reads_what_is_written(penstock: Any, source: str, tmp_path: Path) -> None:
    penstock("convert", source, tmp_path / "out.pt")
    state = torch.load(tmp_path / "out.pt", weights_only=True)
    assert state["b/bfloat"].dtype is torch.bfloat16 and state["b/bfloat"].tolist() == [[1.0, 3.0]]
    assert state["b/int"].shape == () and state["c/empty"].shape == (0, 3)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "out.pt", "source.data-00000-of-00001", "source.index",
    ]  # fmt: skip


def test_choosing_and_renaming(penstock: Any, source: str, tmp_path: Path) -> None:
    words = ("--include", "^a/", "--exclude", "half", "--map", "a/float=w")
    penstock("convert", source, tmp_path / "out", *words)
    with BundleReader(str(tmp_path / "out")) as reader:
        assert reader.names() == ["w"]


def test_partitions_become_whole(model: Any, penstock: Any, tmp_path: Path) -> None:
    penstock("convert", model.prefix, tmp_path / "out")
    with BundleReader(str(tmp_path / "out")) as reader:
        np.testing.assert_array_equal(reader.read("parts/p"), model.parts)
        assert reader.slices("parts/p") == []


@pytest.mark.parametrize("dest", ["out.safetensors", "out.pt"])
def test_strings_are_refused_before_writing(penstock: Any, tmp_path: Path, dest: str) -> None:
    with BundleWriter(str(tmp_path / "s")) as writer:
        writer.add("names", np.array([b"x"], object))
        writer.add("w", np.ones(2, np.float32))
    said = penstock("convert", tmp_path / "s", tmp_path / dest, code=1)
    assert "holds no strings" in said and "names" in said
    assert not (tmp_path / dest).exists()
    penstock("convert", tmp_path / "s", tmp_path / dest, "--exclude", "names")
    penstock("convert", tmp_path / "s", tmp_path / "v", "--to", "v1")


MISTAKES = [
    (("--map", "a"), "OLD=NEW", 2), (("--map", "q=r"), "no tensor 'q'", 2),
    (("--map", "a/float=a/half"), "two tensors would be called 'a/half'", 2),
    (("--include", "("), "no regular expression", 2),
    (("--include", "zzz"), "no tensor is left", 1),
    (("--to", "zip"), "zip", 2),
]  # fmt: skip


@pytest.mark.parametrize(("words", "said", "code"), MISTAKES)
def test_mistakes(
    penstock: Any, source: str, tmp_path: Path, words: tuple[str, ...], said: str, code: int
) -> None:
    assert said in penstock("convert", source, tmp_path / "out", *words, code=code)
    assert not list(tmp_path.glob("out*"))


def test_a_graph_is_no_checkpoint(model: Any, penstock: Any, tmp_path: Path) -> None:
    graph = model.directory / "graph.pb"
    said = penstock("convert", graph, tmp_path / "out", code=1)
    assert "expected a checkpoint; found graph" in said


@pytest.mark.parametrize("kind", STEPS)
def test_a_missing_directory_is_told_with_the_target(
    penstock: Any, source: str, tmp_path: Path, kind: str
) -> None:
    dest = tmp_path / "none" / STEPS[kind]
    said = penstock("convert", source, dest, "--to", kind, code=1)
    assert f"{dest}: there is no directory '{tmp_path / 'none'}'" in said
    assert "tempstate" not in said

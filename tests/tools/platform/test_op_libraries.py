"""``tf.load_op_library``: Python files with op types; what is said of libraries of C++."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock as tf
from penstock.foundation.opdef.registry import OPS

LIBRARY = """
import torch
from penstock.foundation.graph.build import make
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import first_input

def _zero_out(to_zero):
    kept = torch.zeros_like(to_zero)
    kept.view(-1)[:1] = to_zero.reshape(-1)[:1]
    return kept

define_op("ZeroOutOfATest", "to_zero: int32 -> zeroed: int32", shape=first_input,
          kernel=_zero_out, no_gradient="whole numbers")

def zero_out(to_zero, name=None):
    return make("ZeroOutOfATest", to_zero, name=name)
"""


def test_a_python_file_brings_its_ops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPS, "_items", dict(OPS._items))  # the op type is gone after the test
    path = tmp_path / "zero_out.py"
    path.write_text(LIBRARY)
    module = tf.load_op_library(str(path))
    zeroed = module.zero_out([[5, 4], [3, 2]])
    assert zeroed.op.type == "ZeroOutOfATest" and zeroed.shape == (2, 2)
    with tf.Session() as session:
        assert session.run(zeroed).tolist() == [[5, 0], [0, 0]]
    assert tf.load_op_library(str(path)) is module


def test_a_library_of_cpp_is_refused(tmp_path: Path) -> None:
    library = tmp_path / "zero_out.so"
    with pytest.raises(tf.errors.NotFoundError, match="cannot open shared object file"):
        tf.load_op_library(str(library))
    library.write_bytes(b"\x7fELF")
    with pytest.raises(tf.errors.UnimplementedError, match=r"compiled .* docs/writing-an-op.md"):
        tf.load_op_library(str(library))
    (tmp_path / "zero_out.py").write_text("")
    with pytest.raises(tf.errors.UnimplementedError, match="takes zero_out.py beside it"):
        tf.load_op_library(str(library))


def test_a_folder_of_python_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(OPS, "_items", dict(OPS._items))
    (tmp_path / "ops.py").write_text(LIBRARY.replace("ZeroOutOfATest", "ZeroOutOfAFolder"))
    (tmp_path / "notes.txt").write_text("no library")
    assert tf.load_library(str(tmp_path)) is None  # type: ignore[func-returns-value]
    assert "ZeroOutOfAFolder" in OPS._items
    with pytest.raises(FileNotFoundError, match="load kernel libraries from does not exist"):
        tf.load_library(str(tmp_path / "none"))
    (tmp_path / "ops.so").write_bytes(b"\x7fELF")
    with pytest.raises(tf.errors.UnimplementedError, match="takes ops.py beside it"):
        tf.load_library(str(tmp_path / "ops.so"))


def test_a_file_system_that_a_python_file_brings(tmp_path: Path) -> None:
    path = tmp_path / "file_system.py"
    path.write_text(
        "import fsspec\n"
        "from fsspec.implementations.memory import MemoryFileSystem\n"
        "class OfATest(MemoryFileSystem):\n"
        "    protocol = 'ofatest'\n"
        "    store, pseudo_dirs = {}, ['']\n"
        "fsspec.register_implementation('ofatest', OfATest)\n"
    )
    tf.load_file_system_library(str(path))
    with tf.gfile.GFile("ofatest://folder/file", "w") as file:
        file.write("kept")
    assert tf.gfile.GFile("ofatest://folder/file").read() == "kept"
    with pytest.raises(tf.errors.NotFoundError, match="cannot open shared object file"):
        tf.load_file_system_library(str(tmp_path / "none.py"))

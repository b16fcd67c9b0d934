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

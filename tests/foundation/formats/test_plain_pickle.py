"""Pickles of plain values and arrays are read; any other name in one is refused and not called."""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.foundation.formats import plain_pickle


class _Runs:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self._path),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_values_and_arrays_are_read(protocol: int) -> None:
    value = {"a": [1, 2.5, "x", None], b"b": np.arange(6, dtype=np.uint8).reshape(2, 3)}
    value["c"] = np.float32(1.5)
    found = plain_pickle.read(io.BytesIO(pickle.dumps(value, protocol)), "f")
    assert found["a"] == value["a"] and found["c"] == 1.5
    np.testing.assert_array_equal(found[b"b"], value[b"b"])


def test_a_pickle_of_python_2_is_read() -> None:
    # cPickle's of {'data': 'ab\xff'}, protocol 2.
    data = b"\x80\x02}q\x01U\x04dataq\x02U\x03ab\xffq\x03s."
    assert plain_pickle.read(io.BytesIO(data), "f", encoding="bytes") == {b"data": b"ab\xff"}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_what_it_names_is_not_called(protocol: int, tmp_path: Path) -> None:
    data = pickle.dumps([_Runs(tmp_path / "made")], protocol)
    with pytest.raises(tf.errors.DataLossError, match=r"mkdir.*only arrays"):
        plain_pickle.read(io.BytesIO(data), "f")
    assert not (tmp_path / "made").exists()


def test_arrays_of_lists_are_read(tmp_path: Path) -> None:
    texts = np.empty(2, object)
    texts[:] = [[1, 2], [3]]
    np.savez(tmp_path / "f.npz", x=texts, y=np.arange(3))
    found = plain_pickle.read_arrays(str(tmp_path / "f.npz"))
    assert found["x"].tolist() == [[1, 2], [3]] and found["y"].tolist() == [0, 1, 2]


def test_objects_of_an_array_are_not_called(tmp_path: Path) -> None:
    texts = np.empty(1, object)
    texts[0] = _Runs(tmp_path / "made")
    np.savez(tmp_path / "f.npz", x=texts)
    with pytest.raises(tf.errors.DataLossError, match="only arrays"):
        plain_pickle.read_arrays(str(tmp_path / "f.npz"))
    assert not (tmp_path / "made").exists()


def test_a_damaged_file_is_a_loss_of_data(tmp_path: Path) -> None:
    np.savez(tmp_path / "f.npz", x=np.arange(9), y=np.array([[1], 2], object))
    whole = (tmp_path / "f.npz").read_bytes()
    for length in range(0, len(whole), 7):
        (tmp_path / "f.npz").write_bytes(whole[:length])
        with pytest.raises(tf.errors.DataLossError):
            plain_pickle.read_arrays(str(tmp_path / "f.npz"))
    with pytest.raises(tf.errors.DataLossError, match="no pickle"):
        plain_pickle.read(io.BytesIO(b"no pickle"), "f")

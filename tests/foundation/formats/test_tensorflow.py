"""Checkpoints (V2 and V1, every dtype, slices) and records, both ways with TensorFlow.

Needs the environments that `make peers` and `make tf115` make; each test is skipped without its
own. `tensorflow_peer.py` is the half that runs there.
"""

from __future__ import annotations

import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from penstock.foundation.base import dtypes
from penstock.foundation.formats.bundle import BundleReader, BundleWriter
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.formats.checkpoint_v1 import V1Reader, V1Writer
from penstock.foundation.formats.tensor_slice import TensorSlice
from penstock.foundation.formats.tfrecord import RecordWriter, read_records
from tests.peers import PYTHON, needs

PEER = Path(__file__).with_name("tensorflow_peer.py")
CUT = ["0,3:-", "3,7:0,2", "3,7:2,5"]
RECORDS = [b"record %d" % i * i for i in range(200)]

pytestmark = [pytest.mark.long, pytest.mark.parametrize("which", ["tf2", "tf1"])]


def peer(which: str, *arguments: str) -> None:
    """Runs the peer's half.

    Raises:
      AssertionError: it failed; with what it said.
    """
    needs(PYTHON[which])
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(PYTHON[which]), str(PEER), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]


def plain(array: np.ndarray) -> np.ndarray:
    """As the peer has it: bfloat16 as float32, quantized ones as their integers."""
    if array.dtype == ml_dtypes.bfloat16:
        return array.astype(np.float32)
    return array.view(array.dtype[0]) if array.dtype.fields else array


def test_both_ways(which: str, tmp_path: Path) -> None:
    peer(which, "write", str(tmp_path))
    with open(tmp_path / "values.pickle", "rb") as stream:
        values = pickle.load(stream, encoding="bytes")
    values = {
        (k.decode() if isinstance(k, bytes) else k): {
            (n.decode() if isinstance(n, bytes) else n): v for n, v in tensors.items()
        }
        for k, tensors in values.items()
    }
    for form, reader_of in (("v2", BundleReader), ("v1", V1Reader)):
        with open_checkpoint(str(tmp_path / form)) as reader:
            assert type(reader) is reader_of
            assert reader.names() == sorted(values[form])
            for name, value in values[form].items():
                if name in ("bfloat16", "qint8", "bool", "complex128"):
                    assert reader.dtype(name).name == name
                np.testing.assert_array_equal(plain(reader.read(name)), value, err_msg=name)
            found = reader.read_slice("p", TensorSlice.parse("2,5:1,4"))
            np.testing.assert_array_equal(found, values[form]["p"][2:7, 1:5])
            assert len(reader.slices("p")) == 3
    write(tmp_path, values)
    peer(which, "read", str(tmp_path))
    for compression in ("", "GZIP", "ZLIB"):
        assert list(read_records(str(tmp_path / f"records{compression}"), compression)) == RECORDS


def write(directory: Path, values: dict[str, dict[str, Any]]) -> None:
    """What the peer then reads."""
    for form, make in (("v2", BundleWriter), ("v1", V1Writer)):
        with make(str(directory / f"ours_{form}")) as writer:
            for name, value in values[form].items():
                array = np.asarray(value)
                if name == "p":
                    for text in CUT:
                        piece = TensorSlice.parse(text)
                        part = array[piece.index(array.shape)]
                        writer.add_slice(name, array.shape, piece, part)
                elif name == "bfloat16":
                    writer.add(name, array.astype(ml_dtypes.bfloat16))
                else:
                    quantized = name.startswith(("qint", "quint"))
                    writer.add(name, array, getattr(dtypes, name) if quantized else None)
    for compression in ("", "GZIP", "ZLIB"):
        with RecordWriter(str(directory / f"ours_records{compression}"), compression) as writer:
            for record in RECORDS:
                writer.write(record)

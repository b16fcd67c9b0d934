"""Summaries and event files against TensorFlow 1.15 and 2.21, both ways."""

from __future__ import annotations

import glob
import io
import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import penstock as tf
from tests.peers import PYTHON, needs
from tests.storage.summary import tf_peer

PEER = Path(tf_peer.__file__)

pytestmark = pytest.mark.long


def peer(which: str, *arguments: Any) -> None:
    needs(PYTHON[which])
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    command = [str(PYTHON[which]), str(PEER), *map(str, arguments)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]


def arrays() -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(5)
    heavy = rng.standard_normal(3000) * 10.0 ** rng.uniform(-14, 21, 3000)
    holes = rng.standard_normal((3, 6, 5, 3)).astype(np.float32)
    holes[0, 1, 2, 1] = np.nan
    holes[1, :, :, 0] = np.inf
    holes[1, 3, 3] = -0.5
    kinds = ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16"]
    return {
        "scalars": {k: np.array(rng.uniform(0, 100), k) for k in kinds}
        | {"nan": np.float32(np.nan), "huge": np.float64(1e300)},
        "histograms": {k: rng.uniform(0, 100, (40, 50)).astype(k) for k in kinds}
        | {
            "few": rng.standard_normal(7).astype(np.float32),
            "empty": np.zeros([0], np.float32),
            "zeros": np.zeros([600], np.float32),
            "heavy32": heavy.astype(np.float32),
            "heavy64": heavy,
            "limits": np.array([1e-12, -1e-12, 1.1e-12, 0.0, -0.0, 1e20, 1e30, 1.0]),
            "limits32": np.repeat((1e-12 * 1.1 ** np.arange(700)).astype(np.float32), 2),
        },
        "images": {
            "rgb": rng.uniform(0, 3, (3, 8, 7, 3)).astype(np.float32),
            "signed": rng.uniform(-3, 1, (1, 8, 7, 1)),
            "half": rng.uniform(-3, 9, (2, 4, 4, 4)).astype(np.float16),
            "half_up": rng.uniform(0, 9, (2, 4, 4, 1)).astype(np.float16),
            "bytes": rng.integers(0, 256, (2, 5, 4, 4)).astype(np.uint8),
            "dark": np.zeros((1, 3, 3, 1), np.float32),
            "tiny": np.full((1, 3, 3, 1), 1e-7, np.float32),
            "holes": holes,
            "nothing": np.full((1, 2, 2, 1), np.nan, np.float32),
        },
        "sounds": {
            "mono": rng.uniform(-1.2, 1.2, (4, 50)).astype(np.float32),
            "stereo": rng.uniform(-1, 1, (2, 50, 2)).astype(np.float32),
            "halves": ((np.arange(40) - 20) / 2**16).astype(np.float32)[None],
        },
        "tensors": {
            "real": rng.standard_normal((2, 3)).astype(np.float32),
            "one": np.float64(3.5),
            "flags": np.array([True, False]),
            "complex": np.array([1 + 2j], np.complex64),
            "text": np.array([b"a", b"\xff\x00"], object),
        },
    }


def _tensor(message: Any) -> list[Any]:
    return np.ravel(tf.make_ndarray(message)).tolist()


def _same(ours: Any, theirs: Any) -> None:
    where = theirs.tag
    assert ours.tag == theirs.tag
    kind = theirs.WhichOneof("value")
    assert ours.WhichOneof("value") == kind, where
    assert ours.metadata == theirs.metadata, where
    if kind == "simple_value":
        np.testing.assert_equal(ours.simple_value, theirs.simple_value, where)
    elif kind == "histo":
        _same_histogram(ours.histo, theirs.histo, where)
    elif kind == "image":
        shape = [(m.image.height, m.image.width, m.image.colorspace) for m in (ours, theirs)]
        assert shape[0] == shape[1], where
        found, wanted = (
            np.asarray(Image.open(io.BytesIO(m.image.encoded_image_string))) for m in (ours, theirs)
        )
        np.testing.assert_array_equal(found, wanted, where)
    elif kind == "tensor":
        assert ours.tensor.dtype == theirs.tensor.dtype, where
        assert ours.tensor.tensor_shape == theirs.tensor.tensor_shape, where
        assert _tensor(ours.tensor) == _tensor(theirs.tensor), where
    else:
        assert ours == theirs, where


def _same_histogram(ours: Any, theirs: Any, where: str) -> None:
    assert list(ours.bucket_limit) == list(theirs.bucket_limit), where
    assert list(ours.bucket) == list(theirs.bucket), where
    assert (ours.min, ours.max, ours.num) == (theirs.min, theirs.max, theirs.num), where
    # The order of a sum of doubles is not TensorFlow's.
    scale = max(abs(theirs.min), abs(theirs.max)) * theirs.num if theirs.num else 1.0
    np.testing.assert_allclose(ours.sum, theirs.sum, rtol=1e-12, atol=1e-13 * scale, err_msg=where)
    np.testing.assert_allclose(ours.sum_squares, theirs.sum_squares, rtol=1e-12, err_msg=where)


def test_summaries_and_nodes_are_tensorflows(tmp_path: Path) -> None:
    given = arrays()
    (tmp_path / "in").write_bytes(pickle.dumps(tf_peer.packed(given), protocol=4))
    peer("tf1", "summaries", tmp_path / "in", tmp_path / "out")
    wanted = pickle.loads((tmp_path / "out").read_bytes())
    with tf.Graph().as_default() as graph, tf.Session() as session:
        ops = tf_peer.build(tf, given)
        assert tf_peer.nodes(graph) == wanted["nodes"]
        found = session.run(ops)
    compared = 0
    for ours, theirs in zip(found, wanted["summaries"], strict=True):
        a, b = tf.Summary.FromString(ours), tf.Summary.FromString(theirs)
        assert len(a.value) == len(b.value)
        for x, y in zip(a.value, b.value, strict=True):
            _same(x, y)
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("which", ["tf1", "tf2"])
def test_tensorflow_reads_our_events(which: str, tmp_path: Path) -> None:
    tf_peer.write(tf, str(tmp_path / "logs"))
    (path,) = glob.glob(str(tmp_path / "logs" / "*.suffix"))
    peer(which, "read", path, tmp_path / "seen")
    assert json.loads((tmp_path / "seen").read_text()) == tf_peer.events(tf, path)


@pytest.mark.parametrize("which", ["tf1", "tf2"])
def test_we_read_tensorflows_events(which: str, tmp_path: Path) -> None:
    peer(which, "write", tmp_path / "logs")
    (path,) = glob.glob(str(tmp_path / "logs" / "*.suffix"))
    tf_peer.write(tf, str(tmp_path / "ours"))
    (mine,) = glob.glob(str(tmp_path / "ours" / "*.suffix"))
    assert tf_peer.events(tf, path) == tf_peer.events(tf, mine)

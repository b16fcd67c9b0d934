"""``tf.examples.tutorials.mnist``: MNIST's files, its batches, and the tutorial's network."""

from __future__ import annotations

import gzip
import json
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from penstock.contrib.learn.datasets import base, mnist
from tests.peers import ROOT, TF115, needs

FILES = ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
         "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")  # fmt: skip


def idx(values: np.ndarray) -> bytes:
    return struct.pack(f">{1 + values.ndim}I", 2048 + values.ndim, *values.shape) + values.tobytes()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, count in zip(FILES, (30, 30, 7, 7)):
        size = (count, 28, 28) if "images" in name else (count,)
        values = rng.integers(0, 256 if "images" in name else 10, size, dtype=np.uint8)
        (tmp_path / name).write_bytes(gzip.compress(idx(values)))
    return tmp_path


def test_the_parts(folder: Path) -> None:
    found = mnist.read_data_sets(str(folder), one_hot=True, validation_size=10)
    assert [part.num_examples for part in found] == [20, 10, 7]
    assert found.train.images.shape == (20, 784) and found.train.images.dtype == np.float32
    assert 0.9 < found.train.images.max() <= 1.0
    assert found.test.labels.shape == (7, 10) and (found.test.labels.sum(1) == 1).all()
    kept = mnist.read_data_sets(str(folder), dtype=tf.uint8, reshape=False, validation_size=0)
    assert kept.train.images.shape == (30, 28, 28, 1) and kept.train.images.dtype == np.uint8


def test_unpacked_files_and_the_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "cached", lambda name: folder)
    packed = folder / FILES[0]
    (folder / packed.stem).write_bytes(gzip.decompress(packed.read_bytes()))
    packed.unlink()
    found = mnist.read_data_sets(str(folder / "empty"), validation_size=10)
    assert found.train.num_examples == 20


def test_missing_files_are_named(folder: Path) -> None:
    (folder / FILES[1]).unlink()
    nowhere = (folder / "nowhere").as_uri() + "/"
    with pytest.raises(FileNotFoundError) as error:
        mnist.read_data_sets(str(folder), source_url=nowhere)
    assert f"no {FILES[1]} in {folder}" in str(error.value)
    assert f"put these files into {folder}" in str(error.value)
    assert sorted(path.name for path in folder.iterdir()) == sorted({*FILES} - {FILES[1]})


def test_what_is_no_file_of_mnist(folder: Path) -> None:
    (folder / FILES[0]).write_bytes((folder / FILES[1]).read_bytes())
    with pytest.raises(ValueError, match="Invalid magic number 2049 in MNIST image file"):
        mnist.read_data_sets(str(folder))
    with pytest.raises(ValueError, match="Validation size should be between 0 and 5"):
        images = np.zeros((5, 28, 28), np.uint8)
        (folder / FILES[0]).write_bytes(idx(images))
        mnist.read_data_sets(str(folder), validation_size=6)


def test_wrong_images_and_labels() -> None:
    images, labels = np.zeros((5, 2, 2, 1), np.uint8), np.arange(5)
    with pytest.raises(TypeError, match="Invalid image dtype tf.int32, expected uint8 or float32"):
        mnist.DataSet(images, labels, dtype=tf.int32)
    with pytest.raises(ValueError, match="images.shape: .5, 2, 2, 1. labels.shape: .3,."):
        mnist.DataSet(images, labels[:3])


def test_the_batches_of_a_seed_are_tensorflows() -> None:
    # Asked of TensorFlow 1.15: sizes 2, 2, 2, 2 of five examples.
    images, labels = np.arange(20, dtype=np.uint8).reshape(5, 2, 2, 1), np.arange(5)
    expected = {
        (1, True): [[2, 1], [4, 0], [3, 2], [4, 3]],
        (7, True): [[0, 3], [2, 1], [4, 2], [3, 0]],
        (1, False): [[0, 1], [2, 3], [4, 0], [1, 2]],
    }
    for (seed, shuffle), batches in expected.items():
        data = mnist.DataSet(images, labels, seed=seed)
        drawn = [data.next_batch(2, shuffle=shuffle)[1].tolist() for _ in range(4)]
        assert drawn == batches and data.epochs_completed == 1
    assert mnist.DataSet(images, labels, seed=3).next_batch(9)[1].tolist() == [
        3, 4, 1, 0, 2, 1, 4, 0, 2,
    ]  # fmt: skip


def test_made_up_batches() -> None:
    made = mnist.read_data_sets("", fake_data=True, one_hot=True).train.next_batch(2, True)
    assert np.shape(made[0]) == (2, 784) and made[1] == [[1] + [0] * 9] * 2


def test_the_files_of_mnist(tmp_path: Path) -> None:
    data = ROOT.parent / "shared" / "data" / "mnist"
    if not (data / FILES[2]).exists():
        pytest.skip(f"no {FILES[2]} in {data}")
    for name, there in zip(FILES, (FILES[2], FILES[3]) * 2):
        (tmp_path / name).symlink_to(data / there)
    found = mnist.read_data_sets(str(tmp_path), validation_size=1000)
    assert found.test.num_examples == 10000 and found.test.labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert np.bincount(found.test.labels).tolist() == [
        980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
    ]  # fmt: skip


NETWORK = """
import json
{imports}
images, labels = tf.placeholder(tf.float32, [3, 784]), tf.placeholder(tf.int32, [3])
logits = mnist.inference(images, 5, 4)
mnist.training(mnist.loss(logits, labels), 0.1)
mnist.evaluation(logits, labels)
nodes = [[op.name, op.type, [i.name for i in op.inputs]] for op in
         tf.get_default_graph().get_operations()]
"""


@pytest.mark.long
def test_the_network_is_tensorflows() -> None:
    needs(TF115)
    ask = "import tensorflow as tf\nfrom tensorflow.examples.tutorials.mnist import mnist"
    code = NETWORK.format(imports=ask) + "print(json.dumps(nodes))"
    done = subprocess.run([str(TF115), "-c", code], check=True, capture_output=True, text=True)
    names: dict[str, object] = {}
    ours = "import penstock as tf\nfrom penstock.models import mnist_network as mnist"
    exec(NETWORK.format(imports=ours), names)
    assert names["nodes"] == json.loads(done.stdout.splitlines()[-1])

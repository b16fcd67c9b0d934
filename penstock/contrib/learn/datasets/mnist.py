"""MNIST from IDX files: ``tf.examples.tutorials.mnist.input_data`` and its ``read_data_sets``.

Batches are drawn with NumPy's global generator, seeded as TensorFlow 1.15 seeds it, so that a seed
gives the batches that it gave there.
"""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np

from penstock.contrib.learn.datasets import base
from penstock.foundation.base import dtypes
from penstock.foundation.graph.seeds import get_seed

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
_FILES = [
    "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz",
    "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz",
]  # fmt: skip
_CLASSES = 10
_PIXELS = 28 * 28


def _content(f: Any, magic: int, rank: int, what: str) -> np.ndarray:
    data = f.read()
    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    found = struct.unpack(f">{1 + rank}I", data[: 4 + 4 * rank].ljust(4 + 4 * rank, b"\0"))
    if found[0] != magic:
        raise ValueError(f"Invalid magic number {found[0]} in MNIST {what} file: {f.name}")
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(found[1:]).copy()


def extract_images(f: Any) -> np.ndarray:
    """The images of a file.

    Args:
      f: an IDX file opened for bytes, gzipped or not.

    Returns:
      uint8 of shape [images, rows, columns, 1].

    Raises:
      ValueError: if it is no IDX file of images.
    """
    print("Extracting", f.name)
    return _content(f, 2051, 3, "image")[..., np.newaxis]


def extract_labels(f: Any, one_hot: bool = False, num_classes: int = _CLASSES) -> np.ndarray:
    """The labels of a file.

    Args:
      f: an IDX file opened for bytes, gzipped or not.
      one_hot: whether a label is a row of zeros with a one.
      num_classes: how long such a row is.

    Returns:
      uint8 of shape [labels], or float64 of [labels, num_classes].

    Raises:
      ValueError: if it is no IDX file of labels.
    """
    print("Extracting", f.name)
    labels = _content(f, 2049, 1, "label")
    return dense_to_one_hot(labels, num_classes) if one_hot else labels


def dense_to_one_hot(labels_dense: np.ndarray, num_classes: int) -> np.ndarray:
    """Labels as rows of zeros with a one.

    >>> dense_to_one_hot(np.array([1, 0]), 3)
    array([[0., 1., 0.],
           [1., 0., 0.]])
    """
    rows: np.ndarray = np.eye(num_classes)[np.ravel(labels_dense)]
    return rows


class DataSet:
    """Images with labels, given out in batches.

    Args:
      images: of shape [examples, rows, columns, depth].
      labels: of shape [examples] or [examples, classes].
      fake_data: whether batches are made up, for tests of programs.
      one_hot: whether made-up labels are rows.
      dtype: float32 for values from 0 to 1, uint8 for those of the file.
      reshape: whether an image becomes one row.
      seed: for the order of the batches.

    Raises:
      TypeError: for another dtype.
      ValueError: if there are more images than labels, or fewer.
    """

    def __init__(
        self,
        images: Any,
        labels: Any,
        fake_data: bool = False,
        one_hot: bool = False,
        dtype: Any = dtypes.float32,
        reshape: bool = True,
        seed: int | None = None,
    ) -> None:
        graph_seed, op_seed = get_seed(seed)
        np.random.seed(graph_seed if seed is None else op_seed)
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self._one_hot = one_hot
        if fake_data:
            self._num_examples = 10000
        else:
            if len(images) != len(labels):
                raise ValueError(f"images.shape: {images.shape} labels.shape: {labels.shape}")
            self._num_examples = len(images)
            if reshape:
                images = images.reshape(len(images), images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = 0
        self._next = 0

    @property
    def images(self) -> Any:
        """The images, in the order of this epoch."""
        return self._images

    @property
    def labels(self) -> Any:
        """Their labels."""
        return self._labels

    @property
    def num_examples(self) -> int:
        """How many there are."""
        return self._num_examples

    @property
    def epochs_completed(self) -> int:
        """How often all were given out."""
        return self._epochs_completed

    def next_batch(
        self, batch_size: int, fake_data: bool = False, shuffle: bool = True
    ) -> tuple[Any, Any]:
        """The next images and labels; after the last come the first again.

        Args:
          batch_size: how many.
          fake_data: whether to make them up.
          shuffle: whether each epoch has an order of its own.
        """
        if fake_data:
            label: Any = [1] + [0] * 9 if self._one_hot else 0
            return [[1] * _PIXELS for _ in range(batch_size)], [label for _ in range(batch_size)]
        if self._next == 0 and self._epochs_completed == 0 and shuffle:
            self._shuffle()
        start, end = self._next, self._next + batch_size
        if end <= self._num_examples:
            self._next = end
            return self._images[start:end], self._labels[start:end]
        rest = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._next = end - self._num_examples
        new = self._images[: self._next], self._labels[: self._next]
        return np.concatenate([rest[0], new[0]]), np.concatenate([rest[1], new[1]])

    def _shuffle(self) -> None:
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = dtypes.float32,
    reshape: bool = True,
    validation_size: int = 5000,
    seed: int | None = None,
    source_url: str = DEFAULT_SOURCE_URL,
) -> base.Datasets:
    """MNIST's images of digits, for training, validation and test.

    The files are looked for in ``train_dir`` and in ``datasets/mnist`` of the cache folder; those
    in neither are downloaded into ``train_dir``.

    Args:
      train_dir: the folder with the four IDX files, gzipped or not.
      fake_data: whether all batches are made up; no files are read.
      one_hot: whether labels are rows of zeros with a one.
      dtype: float32 for values from 0 to 1, uint8 for those of the files.
      reshape: whether an image is one row of 784 values.
      validation_size: how many of the training images are for validation.
      seed: for the order of the batches.
      source_url: where the files are downloaded from.

    Raises:
      FileNotFoundError: if files are missing and there is no way to them; says which.
      ValueError: if a file is none of MNIST's, or ``validation_size`` is too large.
    """
    if fake_data:
        made = [
            DataSet([], [], fake_data=True, one_hot=one_hot, dtype=dtype, seed=seed)
            for _ in range(3)
        ]
        return base.Datasets(*made)
    folder, cached = Path(train_dir), base.cached("mnist")
    folders = [folder] if cached is None else [folder, cached]
    paths = base.find(_FILES, folders, source_url or DEFAULT_SOURCE_URL, folder)
    arrays = []
    for path in paths:
        with open(path, "rb") as file:
            is_images = "images" in path.name
            arrays.append(extract_images(file) if is_images else extract_labels(file, one_hot))
    images, labels, test_images, test_labels = arrays
    if not 0 <= validation_size <= len(images):
        raise ValueError(
            f"Validation size should be between 0 and {len(images)}. Received: {validation_size}."
        )
    at = validation_size
    parts = [(images[at:], labels[at:]), (images[:at], labels[:at]), (test_images, test_labels)]
    return base.Datasets(
        *(DataSet(*part, dtype=dtype, reshape=reshape, seed=seed) for part in parts)
    )


def load_mnist(train_dir: str = "MNIST-data") -> base.Datasets:
    """``read_data_sets`` of a folder."""
    return read_data_sets(train_dir)

"""MNIST in the shape that Keras's models take, from local files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from penstock.models.tutorials import mnist_util


def _idx(path: Path, values: np.ndarray) -> None:
    head = np.array([2048 + values.ndim, *values.shape], ">u4").tobytes()
    path.write_bytes(head + values.tobytes())


def test_images_and_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mnist").mkdir()
    images = np.arange(3 * 784, dtype=np.int64).reshape(3, 28, 28).astype(np.uint8)
    for part in ("train", "t10k"):
        _idx(tmp_path / "mnist" / f"{part}-images-idx3-ubyte", images)
        _idx(tmp_path / "mnist" / f"{part}-labels-idx1-ubyte", np.array([3, 0, 9], np.uint8))
    (x, y), (x_test, _) = mnist_util.load_reshaped_data()
    assert x.shape == (3, *mnist_util.INPUT_SHAPE) and x.dtype == y.dtype == np.float32
    np.testing.assert_allclose(x[..., 0], images / 255, rtol=1e-6)
    assert y.argmax(1).tolist() == [3, 0, 9] and x_test.shape == x.shape


def test_made_up_examples() -> None:
    (x, y), _ = mnist_util.load_reshaped_data(fake_tiny_data=True)
    assert x.shape == (10, 28, 28, 1) and y.shape == (10, mnist_util.NUM_CLASSES)
    assert (y.sum(1) == 1).all()

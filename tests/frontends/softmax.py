"""Softmax regression on made-up digits: the files that a front end reads, and Python's curve."""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import penstock as tf

STEPS = 40


def check_curve(command: Sequence[str | Path], target: str, folder: Path) -> None:
    """Trains by a front end's example and by Python; both must have the same losses.

    Args:
      command: the example.
      target: of the server.
      folder: for the files of digits.
    """
    images, labels = digits(folder)
    expected = _curve(target, images, labels)
    tf.Session.reset(target)
    done = subprocess.run(
        [*command, target, folder, str(STEPS)], capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    found = [json.loads(line)["loss"] for line in done.stdout.splitlines()]
    assert expected[-1] < expected[0] / 2
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def digits(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Files as MNIST's, of made-up digits."""
    dice = np.random.RandomState(5)
    labels = dice.randint(0, 10, 1000).astype(np.uint8)
    drawn = dice.rand(10, 28, 28)[labels] * 150 + dice.rand(1000, 28, 28) * 100
    images = drawn.astype(np.uint8)
    head = struct.pack(">IIII", 0x803, *images.shape)
    (folder / "train-images-idx3-ubyte").write_bytes(head + images.tobytes())
    head = struct.pack(">II", 0x801, len(labels))
    (folder / "train-labels-idx1-ubyte").write_bytes(head + labels.tobytes())
    return images, labels


def _curve(target: str, images: np.ndarray, labels: np.ndarray) -> list[float]:
    """The losses of the same training by Python."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.float32, [None, 10])
        w = tf.Variable(tf.zeros([784, 10]))
        b = tf.Variable(tf.zeros([10]))
        loss = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=tf.matmul(x, w) + b)
        )
        step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        found = []
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            for n in range(STEPS):
                at = np.arange(n * 100, n * 100 + 100) % len(labels)
                feed = {
                    x: images[at].reshape(100, 784).astype(np.float32) / np.float32(255),
                    y: np.eye(10, dtype=np.float32)[labels[at]],
                }
                found.append(float(session.run([loss, step], feed)[0]))
        return found

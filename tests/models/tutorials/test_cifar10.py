"""CIFAR-10: its files as batches, and the tutorial's network, which learns from them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.models.tutorials import cifar10_input
from tests.tf1.processes import run


def write(folder: Path) -> None:
    """Files of a few records each, in which an image's color is its label."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    for name in [*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]:
        labels = rng.integers(0, 3, (8, 1), np.uint8)
        planes = rng.integers(0, 60, (8, 3, 1024), np.uint8)
        planes[np.arange(8), labels[:, 0]] += 150
        records = np.concatenate([labels, planes.reshape(8, -1)], 1)
        (folder / f"{name}.bin").write_bytes(records.tobytes())


def drawn(tensors: Any, count: int = 1) -> Any:
    with tf.Session() as session:
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        found = [session.run(tensors) for _ in range(count)]
        coordinator.request_stop()
        coordinator.join(threads)
        return found


def test_a_record_is_a_label_and_three_planes(tmp_path: Path) -> None:
    write(tmp_path)
    path = tmp_path / "test_batch.bin"
    record = cifar10_input.read_cifar10(tf.train.string_input_producer([str(path)]))
    ((label, image),) = drawn([record.label, record.uint8image])
    content = np.frombuffer(path.read_bytes(), np.uint8)[:3073]
    assert label.tolist() == [content[0]]
    np.testing.assert_array_equal(image, content[1:].reshape(3, 32, 32).transpose(1, 2, 0))


def test_batches(tmp_path: Path) -> None:
    write(tmp_path)
    images, labels = cifar10_input.inputs(True, str(tmp_path), 4)
    assert images.shape == (4, 24, 24, 3) and labels.shape == (4,)
    ((x, y),) = drawn([images, labels])
    np.testing.assert_allclose(x.mean((1, 2, 3)), np.zeros(4), atol=1e-5)
    np.testing.assert_allclose(x.std((1, 2, 3)), np.ones(4), atol=1e-4)
    assert x.mean((1, 2)).argmax(1).tolist() == y.tolist()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"Failed to find file: .*data_batch_1\.bin"):
        cifar10_input.distorted_inputs(str(tmp_path), 4)


PROGRAM = """\
import numpy as np
import tensorflow as tf
from tensorflow.models.image.cifar10 import cifar10

FLAGS = tf.app.flags.FLAGS
cifar10.maybe_download_and_extract()
images, labels = cifar10.inputs(eval_data=False)
logits = cifar10.inference(images)
loss = cifar10.loss(logits, labels)
global_step = tf.Variable(0, trainable=False)
train_op = cifar10.train(loss, global_step)
saver = tf.train.Saver(tf.all_variables())
with tf.Session() as sess:
    sess.run(tf.initialize_all_variables())
    tf.train.start_queue_runners(sess=sess)
    found = [sess.run([train_op, loss])[1] for _ in range(8)]
assert found[0] > 2.2 and found[-1] < 0.9 * found[0], found
print([v.op.name for v in tf.trainable_variables()])
print([v.get_shape().as_list() for v in tf.trainable_variables()[::2]])
print(len(tf.get_collection('losses')), cifar10.MOVING_AVERAGE_DECAY, cifar10.TOWER_NAME)
"""


@pytest.mark.long
def test_the_network_learns(tmp_path: Path) -> None:
    write(tmp_path / "cifar-10-batches-bin")
    path = tmp_path / "train.py"
    # A queue that keeps 20,000 examples is more than a test can wait for.
    path.write_text(PROGRAM.replace("images, labels", "cifar10.cifar10_input._SHARE_KEPT = 0.001"
                                    "\nimages, labels", 1))  # fmt: skip
    words = ("--batch_size", "4", "--data_dir", str(tmp_path))
    done = run("--tf-version", "0.8.0", str(path), *words)
    names, shapes, rest = done.stdout.splitlines()
    scopes = ("conv1", "conv2", "local3", "local4", "softmax_linear")
    assert names == str([f"{s}/{part}" for s in scopes for part in ("weights", "biases")])
    assert shapes == "[[5, 5, 3, 64], [5, 5, 64, 64], [2304, 384], [384, 192], [192, 10]]"
    assert rest == "3 0.9999 tower"

"""Retraining: images in their parts, bottlenecks in files, distortions, and a layer that learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.models.tutorials import retrain

COLORS = {"Deep_Red": 0, "Grass green": 1}


@pytest.fixture
def images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder a color, of ten images of 8 by 8, by relative paths: these decide the parts."""
    monkeypatch.chdir(tmp_path)
    random = np.random.RandomState(0)
    picture = tf.placeholder(tf.uint8, [8, 8, 3])
    content = tf.image.encode_jpeg(picture, quality=95)
    with tf.Session() as session:
        for name, channel in COLORS.items():
            (tmp_path / "images" / name).mkdir(parents=True)
            for number in range(10):
                values = random.randint(0, 60, (8, 8, 3)).astype(np.uint8)
                values[..., channel] += 150
                data = session.run(content, {picture: values})
                (tmp_path / "images" / name / f"{number}.jpg").write_bytes(data)
    return Path("images")


def lists_of(folder: Path) -> retrain.ImageLists:
    found = retrain.create_image_lists(str(folder), 20, 20)
    assert found is not None
    return found


def network() -> tuple[Any, Any]:
    """Stands for Inception: the mean of each color, in the first three of 2048 values."""
    data = tf.placeholder(tf.string, [])
    image = tf.cast(tf.image.decode_jpeg(data, channels=3), tf.float32) / 255
    means = tf.reshape(tf.reduce_mean(image, [0, 1]), [1, 3])
    return data, tf.pad(means, [[0, 0], [0, retrain.BOTTLENECK_TENSOR_SIZE - 3]])


def test_images_in_parts(images: Path) -> None:
    (images / "empty").mkdir()
    (images / "Deep_Red" / "notes.txt").write_text("no image")
    lists = lists_of(images)
    assert list(lists) == ["deep red", "grass green"]
    red = lists["deep red"]
    assert red["dir"] == "Deep_Red"
    parts = red["training"] + red["testing"] + red["validation"]
    assert sorted(parts) == [f"{n}.jpg" for n in range(10)]
    assert lists == lists_of(images)
    assert retrain.create_image_lists(str(images / "none"), 10, 10) is None


def test_paths() -> None:
    lists = {"one": {"dir": "One", "training": ["a.jpg", "b.jpg"], "testing": []}}
    assert retrain.get_image_path(lists, "one", 5, "x", "training") == "x/One/b.jpg"
    assert retrain.get_bottleneck_path(lists, "one", 0, "y", "training") == "y/One/a.jpg.txt"
    with pytest.raises(KeyError, match="Label does not exist two"):
        retrain.get_image_path(lists, "two", 0, "x", "training")
    with pytest.raises(KeyError, match="Category does not exist all"):
        retrain.get_image_path(lists, "one", 0, "x", "all")
    with pytest.raises(ValueError, match="has no images in the category testing"):
        retrain.get_image_path(lists, "one", 0, "x", "testing")


def test_distortions(images: Path) -> None:
    assert not retrain.should_distort_images(False, 0, 0, 0)
    assert retrain.should_distort_images(True, 0, 0, 0)
    assert retrain.should_distort_images(False, 0, 0, 5)
    data, plain = retrain.add_input_distortions(False, 0, 0, 0)
    assert data.name == "DistortJPGInput:0" and plain.name == "DistortResult:0"
    other, distorted = retrain.add_input_distortions(True, 10, 20, 30)
    assert distorted.shape == (1, 299, 299, 3)
    content = (images / "Deep_Red" / "0.jpg").read_bytes()
    decoded = tf.cast(tf.image.decode_jpeg(content, channels=3), tf.float32)
    wanted = tf.image.resize_bilinear([decoded], [299, 299])
    with tf.Session() as session:
        same, also = session.run([plain, wanted], {data: content})
        first, second = (session.run(distorted, {other: content}) for _ in range(2))
    np.testing.assert_allclose(same, also, rtol=1e-6)
    assert np.abs(first - second).max() > 1


def test_bottlenecks_are_kept(images: Path, tmp_path: Path) -> None:
    lists, data_and_means, kept = lists_of(images), network(), str(tmp_path / "kept")
    with tf.Session() as session:
        retrain.cache_bottlenecks(session, lists, str(images), kept, *data_and_means)
        path = Path(retrain.get_bottleneck_path(lists, "deep red", 0, kept, "training"))
        path.write_text("1.5,2.5")
        found = retrain.get_or_create_bottleneck(
            session, lists, "deep red", 0, str(images), "training", kept, *data_and_means
        )
    assert len(list(Path(kept).rglob("*.txt"))) == 20
    assert found == [1.5, 2.5]


def test_the_new_layer_learns(
    images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrain.FLAGS, "learning_rate", 0.5)
    lists, (data, means) = lists_of(images), network()
    step, loss, x, y, final = retrain.add_final_training_ops(2, "final_result", means)
    share, classes = retrain.add_evaluation_step(final, y)
    assert final.name == "final_result:0"
    assert [v.op.name.rpartition("/")[2] for v in tf.trainable_variables()] == [
        "final_weights", "final_biases",
    ]  # fmt: skip
    kept, retrain_args = str(tmp_path / "kept"), (str(images), data, means)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        rows, truths, names = retrain.get_random_cached_bottlenecks(
            session, lists, -1, "training", kept, *retrain_args
        )
        feeds = {x: rows, y: truths}
        weights, biases = session.run(tf.trainable_variables())
        logits = np.array(rows) @ weights + biases
        probabilities = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        want = -np.log((probabilities * truths).sum(1)).mean()
        before = session.run(loss, feeds)
        np.testing.assert_allclose(before, want, rtol=1e-5)
        session.run(step, feeds)
        slope = (probabilities - truths).mean(0)
        stepped = session.run(tf.trainable_variables()[1])
        np.testing.assert_allclose(stepped, biases - 0.5 * slope, atol=1e-6)
        for _ in range(300):
            session.run(step, feeds)
        after, right, told = session.run([loss, share, classes], feeds)
    assert after < before and right == 1.0
    assert ["Grass green" in name for name in names] == [bool(each) for each in told]


def test_distorted_bottlenecks(images: Path) -> None:
    lists = lists_of(images)
    data, distorted = retrain.add_input_distortions(True, 5, 5, 5)
    resized = tf.placeholder(tf.float32, [1, 299, 299, 3])
    means = tf.reduce_mean(resized, [1, 2])
    with tf.Session() as session:
        rows, truths = retrain.get_random_distorted_bottlenecks(
            session, lists, 6, "training", str(images), data, distorted, resized, means
        )
    assert [row[:2].argmax() for row in rows] == [truth.argmax() for truth in truths]


def test_a_missing_network_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrain.FLAGS, "model_dir", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"put classify_image_graph_def\.pb"):
        retrain.create_inception_graph()

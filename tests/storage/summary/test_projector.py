"""The projector shows what checkpoints hold, without TensorFlow beside it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import penstock as tf
from penstock.contrib.tensorboard.plugins import projector
from tests.tensorboard.board import Board

VALUES = np.array([[-1.5, 2.0, 0.25], [3.0, -4.0, 5.5]], np.float32)


def _asked(name: str) -> Any:
    config = projector.ProjectorConfig()
    config.embeddings.add(tensor_name=name, metadata_path="words.tsv")
    return config


def _shown(folder: Path) -> Any:
    config = projector.ProjectorConfig()
    text_format.Parse((folder / "projector_config.pbtxt").read_text(), config)
    (embedding,) = config.embeddings
    return embedding


def _values(folder: Path) -> np.ndarray:
    embedding = _shown(folder)
    path = folder / embedding.tensor_path
    if path.suffix == ".tsv":
        return np.loadtxt(path, dtype=np.float32, delimiter="\t")
    return np.fromfile(path, np.float32).reshape(*embedding.tensor_shape)


@pytest.mark.parametrize("config_first", [True, False])
@pytest.mark.parametrize("suffix", ["", ".safetensors"])
def test_values_of_checkpoints_lie_beside(tmp_path: Path, config_first: bool, suffix: str) -> None:
    v = tf.get_variable("layer/v", initializer=VALUES)
    saver = tf.train.Saver()
    with tf.Session() as sess, tf.summary.FileWriter(str(tmp_path)) as writer:
        sess.run(v.initializer)
        if config_first:
            projector.visualize_embeddings(writer, _asked(v.name))
            assert not _shown(tmp_path).tensor_path
        saver.save(sess, str(tmp_path / f"model{suffix}"))
        if not config_first:
            projector.visualize_embeddings(writer, _asked(v.name))
        np.testing.assert_array_equal(_values(tmp_path), VALUES)
        assert _shown(tmp_path).metadata_path == "words.tsv"
        sess.run(v.assign(2 * VALUES))
        saver.save(sess, str(tmp_path / f"later{suffix}"))
        np.testing.assert_array_equal(_values(tmp_path), 2 * VALUES)


def test_zeros_are_no_table_of_text(tmp_path: Path) -> None:
    v = tf.get_variable("v", [5, 3], initializer=tf.zeros_initializer())
    with tf.Session() as sess:
        sess.run(v.initializer)
        projector.visualize_embeddings(str(tmp_path), _asked("v"))
        tf.train.Saver().save(sess, str(tmp_path / "model"))
    np.testing.assert_array_equal(_values(tmp_path), np.zeros([5, 3]))


def test_other_names_and_shapes_stay_as_they_are(tmp_path: Path) -> None:
    config = _asked("bias")
    config.embeddings.add(tensor_name="absent")
    bias = tf.get_variable("bias", [3])
    with tf.Session() as sess:
        sess.run(bias.initializer)
        projector.visualize_embeddings(str(tmp_path), config)
        tf.train.Saver().save(sess, str(tmp_path / "model"))
    assert not list(tmp_path.glob("*_checkpoint.*"))


@pytest.mark.long
def test_tensorboard_serves_them(tmp_path: Path) -> None:
    run = tmp_path / "run"
    v = tf.get_variable("v", initializer=VALUES)
    with tf.Session() as sess, tf.summary.FileWriter(str(run)) as writer:
        sess.run(v.initializer)
        projector.visualize_embeddings(writer, _asked("v:0"))
        tf.train.Saver().save(sess, str(run / "model"))
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=1.0)]), 1)
    with contextlib.closing(Board(tmp_path)) as board:
        (embedding,) = board.json("plugin/projector/info", run="run")["embeddings"]
        assert embedding["tensorShape"] == [2, 3]
        served = board.get("plugin/projector/tensor", run="run", name=embedding["tensorName"])
    np.testing.assert_array_equal(np.frombuffer(served, np.float32).reshape(2, 3), VALUES)

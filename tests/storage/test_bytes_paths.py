"""Paths are text or bytes: ``export_savedmodel`` returns bytes, and programs hand them on."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import penstock as tf

MADE: dict[str, Callable[[bytes, Any], Any]] = {
    "restore": lambda folder, sess: tf.train.Saver().restore(sess, folder + b"/model"),
    "latest": lambda folder, _: tf.train.latest_checkpoint(folder),
    "reader": lambda folder, _: tf.train.NewCheckpointReader(folder + b"/model"),
    "meta graph": lambda folder, _: tf.train.import_meta_graph(folder + b"/model.meta"),
    "graph": lambda folder, sess: tf.train.write_graph(sess.graph, folder, "graph.pb"),
    "writer": lambda folder, _: tf.summary.FileWriter(folder + b"/events").close(),
    "records": lambda folder, _: tf.python_io.TFRecordWriter(folder + b"/records").close(),
    "record iterator": lambda folder, _: list(tf.python_io.tf_record_iterator(folder + b"/empty")),
    "events": lambda folder, _: list(tf.train.summary_iterator(folder + b"/empty")),
    "saved model": lambda folder, _: tf.saved_model.builder.SavedModelBuilder(folder + b"/saved"),
    "is saved": lambda folder, _: tf.saved_model.loader.maybe_saved_model_directory(folder),
    "supervisor": lambda folder, _: tf.train.Supervisor(logdir=folder + b"/supervised"),
}


@pytest.mark.parametrize("name", MADE)
def test_a_path_of_bytes(name: str, tmp_path: Path) -> None:
    variable = tf.Variable(1.0, name="x")
    (tmp_path / "empty").touch()
    with tf.Session() as sess:
        sess.run(variable.initializer)
        tf.train.Saver().save(sess, str(tmp_path / "model"))
        MADE[name](os.fsencode(tmp_path), sess)


def test_a_saved_model_is_loaded_from_what_its_builder_returned(tmp_path: Path) -> None:
    x = tf.placeholder(tf.float32, name="x")
    with tf.Session() as sess:
        tf.saved_model.simple_save(sess, os.fsencode(tmp_path / "saved"), {"x": x}, {"y": x + 1.0})
    predict = tf.contrib.predictor.from_saved_model(os.fsencode(tmp_path / "saved"))
    assert predict({"x": 2.0}) == {"y": 3.0}

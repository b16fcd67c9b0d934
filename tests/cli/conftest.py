"""A small model and its files, made once: what the command is pointed at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import penstock as tf
from penstock.cli.main import app
from penstock.storage.checkpoint.saver import Saver
from penstock.storage.export.graph_file import write_graph


@dataclass
class Model:
    """Where a model's files are, and what it computes for ones."""

    directory: Path
    prefix: str
    logits: np.ndarray
    weights: np.ndarray
    parts: np.ndarray


def build() -> Any:
    """Two dense layers' worth: a trained layer, a partitioned variable, an optimizer."""
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")
    with tf.variable_scope("layer"):
        w = tf.get_variable("w", [4, 3])
        b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        p = tf.get_variable("p", [6, 3])
    hidden = tf.matmul(x, w) + b
    logits = tf.identity(hidden + tf.reduce_sum(p, 0), name="logits")
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    loss = tf.reduce_mean(losses, name="loss")
    tf.train.AdamOptimizer(0.1).minimize(loss)
    return x, w, p, logits


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The model's checkpoint, MetaGraph and GraphDefs."""
    directory = tmp_path_factory.mktemp("model")
    with tf.Graph().as_default() as graph:
        x, w, p, logits = build()
        saver = Saver()
        write_graph(graph, str(directory), "graph.pb", as_text=False)
        write_graph(graph, str(directory), "graph.pbtxt")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            prefix = saver.save(session, str(directory / "model.ckpt"), global_step=7)
            values = session.run([logits, w, tf.convert_to_tensor(p)], {x: np.ones((1, 4))})
    return Model(directory, prefix, *values)


class Command:
    """Runs the command in this process."""

    def __call__(self, *words: object, code: int = 0) -> str:
        """Its stdout; the exit status must be ``code``, and an error one line."""
        done = CliRunner().invoke(app, [str(word) for word in words])
        assert done.exit_code == code, (done.stdout, done.stderr)
        if code:
            assert len(done.stderr.splitlines()) <= 1, done.stderr
            return done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def penstock() -> Command:
    """The command."""
    return Command()

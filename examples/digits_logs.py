"""What the demo shows in TensorBoard: two runs, ``train`` and ``test``, one folder each.

Scalars are logged often, for they cost a step next to nothing; histograms and images only now and
then. `Logs` holds the two writers, which are its only state; they are flushed before each
checkpoint, so that the logs of a killed run reach at least as far as its checkpoint does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import penstock as tf
from penstock.models.digits_data import Data, Images

SHOWN = 6  # images of a summary
POINTS = 1000  # the most digits in the projector
SPRITE_SIDE = 32  # pixels: about what the projector draws a point with


@dataclass(frozen=True)
class Summaries:
    """The summary ops: each fetch gives what a writer adds."""

    scalars: Any
    details: Any
    mistakes: Any
    mistaken_images: Any
    settings: Any


def build_summaries(model: Any, settings: Mapping[str, object]) -> Summaries:
    """Adds the summaries of `model` to the default graph."""
    with tf.name_scope("progress"):
        scalars = tf.summary.merge(
            [
                tf.summary.scalar("loss", model.loss),
                tf.summary.scalar("accuracy", model.accuracy),
            ]
        )
    with tf.name_scope("weights"):
        parts = [tf.summary.histogram(v.op.name, v) for v in tf.trainable_variables()]
    with tf.name_scope("activations"):
        parts += [tf.summary.histogram(name, x) for name, x in model.activations.items()]
    with tf.name_scope("digits"):
        parts.append(tf.summary.image("learned", model.images, max_outputs=SHOWN))
        mistaken = tf.placeholder(tf.float32, model.images.shape, name="mistaken_images")
        mistakes = tf.summary.image("mistaken", mistaken, max_outputs=SHOWN)
    table = tf.constant(markdown_table(settings), name="settings_table")
    text = tf.summary.text("settings", table)
    return Summaries(scalars, tf.summary.merge(parts), mistakes, mistaken, text)


def markdown_table(settings: Mapping[str, object]) -> str:
    """The settings as TensorBoard's text dashboard shows them."""
    rows = [f"| {name.replace('_', ' ')} | {value} |" for name, value in settings.items()]
    return "\n".join(["| setting | value |", "|---|---|", *rows])


class Logs:
    """The two writers of a run."""

    def __init__(self, folder: Path, session: Any, ops: Summaries, done: int) -> None:
        self._session = session
        self._ops = ops
        self._train = tf.summary.FileWriter(str(folder / "train"), session.graph)
        self._test = tf.summary.FileWriter(str(folder / "test"))
        # What a killed run logged beyond its checkpoint is logged again: this tells TensorBoard
        # to forget it.
        start = tf.SessionLog(status=tf.SessionLog.START)
        for writer in (self._train, self._test):
            writer.add_session_log(start, global_step=done + 1)
        self._train.add_summary(session.run(ops.settings), done)

    def scalars(self, summary: bytes, step: int) -> None:
        """The fetched `Summaries.scalars` of a training step."""
        self._train.add_summary(summary, step)

    def details(self, feeds: Mapping[Any, Any], step: int) -> None:
        """Histograms and images of a training batch, without dropout."""
        self._train.add_summary(self._session.run(self._ops.details, feeds), step)

    def trace(self, metadata: Any, step: int) -> None:
        """The time and memory of each node of one step."""
        self._train.add_run_metadata(metadata, f"step {step}", step)

    def scores(self, loss: float, accuracy: float, mistaken: Images, step: int) -> None:
        """The held-back digits' loss and accuracy, and some of those taken for another."""
        values = {"progress/loss": loss, "progress/accuracy": accuracy}
        value = [tf.Summary.Value(tag=t, simple_value=v) for t, v in values.items()]
        self._test.add_summary(tf.Summary(value=value), step)
        if len(mistaken):
            feeds = {self._ops.mistaken_images: mistaken[:SHOWN]}
            self._test.add_summary(self._session.run(self._ops.mistakes, feeds), step)

    def projector(self, hidden: Images, predictions: Any, data: Data) -> None:
        """The hidden layer's view of the held-back digits, as points of the projector."""
        folder = Path(self._test.get_logdir())
        images, labels = data.test_images[: len(hidden)], data.test_labels
        pairs = list(zip(labels, predictions))[: len(hidden)]
        rows = [f"{y}\t{p}\t{'yes' if y == p else 'no'}" for y, p in pairs]
        (folder / "labels.tsv").write_text("\n".join(["label\ttaken for\tright", *rows]) + "\n")
        np.savetxt(folder / "hidden.tsv", hidden, fmt="%.5g", delimiter="\t")
        side = write_sprite(folder / "digits.png", images)

        projector = tf.contrib.tensorboard.plugins.projector
        config = projector.ProjectorConfig()
        embedding = config.embeddings.add()
        embedding.tensor_name = "hidden"
        embedding.tensor_path = "hidden.tsv"
        embedding.metadata_path = "labels.tsv"
        embedding.sprite.image_path = "digits.png"
        embedding.sprite.single_image_dim.extend([side, side])
        projector.visualize_embeddings(self._test, config)

    def flush(self) -> None:
        self._train.flush()
        self._test.flush()

    def close(self) -> None:
        self._train.close()
        self._test.close()


def write_sprite(path: Path, images: Images) -> int:
    """Writes all images as the tiles of one square PNG; returns a tile's side in pixels."""
    count, height, width, _ = images.shape
    longer: int = max(height, width)
    scale = max(1, SPRITE_SIDE // longer)
    side = scale * longer
    tiles = math.ceil(math.sqrt(count))
    sheet = np.zeros([tiles * side, tiles * side], np.uint8)
    for i, image in enumerate(images[..., 0]):
        top, left = side * (i // tiles), side * (i % tiles)
        tile = np.kron(np.uint8(255 * image), np.ones([scale, scale], np.uint8))
        sheet[top : top + tile.shape[0], left : left + tile.shape[1]] = tile
    Image.fromarray(sheet).save(path)
    return side

"""The embedding projector of TensorBoard: which tensors to show, with which labels.

The projector reads ``projector_config.pbtxt`` beside the event files.  It takes the tensors from a
checkpoint, or, as ``write_embedding`` stores them, from files of tab-separated values.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from google.protobuf import text_format
from tensorboard.plugins.projector.projector_config_pb2 import (
    EmbeddingInfo as EmbeddingInfo,
    ProjectorConfig as ProjectorConfig,
    SpriteMetadata as SpriteMetadata,
)

from penstock.foundation.formats import files, message_docs

message_docs.describe(ProjectorConfig)

_CONFIG_NAME = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes ``config`` to where the projector looks for it.

    Args:
      summary_writer: the ``FileWriter`` of the directory, or the directory itself.
      config: a ``ProjectorConfig``.  Without ``model_checkpoint_path`` the projector takes the
        latest checkpoint of the directory.

    Raises:
      ValueError: the writer has no directory.

    Example:
      >>> import tempfile, penstock as tf
      >>> from penstock.contrib.tensorboard.plugins import projector
      >>> config = projector.ProjectorConfig()
      >>> config.embeddings.add(tensor_name="words", metadata_path="words.tsv").tensor_name
      'words'
      >>> with tf.summary.FileWriter(tempfile.mkdtemp()) as writer:
      ...     projector.visualize_embeddings(writer, config)
    """
    logdir = _directory(summary_writer)
    if logdir is None:
        raise ValueError("Summary writer must have a logdir")
    _write(os.path.join(logdir, _CONFIG_NAME), text_format.MessageToString(config))


def write_embedding(
    summary_writer: Any,
    config: Any,
    name: str,
    vectors: Any,
    labels: Sequence[Any] | None = None,
    columns: Sequence[str] = (),
) -> Any:
    """Stores vectors as tab-separated values and adds them to ``config``; needs no checkpoint.

    Args:
      summary_writer: the ``FileWriter`` of the directory, or the directory itself.
      config: the ``ProjectorConfig`` to add to; ``visualize_embeddings`` writes it.
      name: the name that the projector shows, and part of the names of the files.
      vectors: [points, dims].
      labels: one a point: text, or a sequence of as many as there are ``columns``.
      columns: headings of the labels; needed where a label is a sequence.

    Returns:
      The ``EmbeddingInfo``.

    Raises:
      ValueError: the sizes do not fit.
    """
    array = np.asarray(vectors)
    if array.ndim != 2:
        raise ValueError(f"vectors must be [points, dims]; found shape {array.shape}")
    if labels is not None and len(labels) != len(array):
        raise ValueError(f"{len(labels)} label(s) were given for {len(array)} point(s)")
    logdir = _directory(summary_writer)
    stem = name.replace("/", "_").replace(":", "_")
    info = config.embeddings.add(tensor_name=name, tensor_path=f"{stem}_tensors.tsv")
    info.tensor_shape.extend(array.shape)
    _write(os.path.join(logdir, info.tensor_path), _table(array.tolist()))
    if labels is not None:
        rows = [[label] if isinstance(label, str | bytes | int) else label for label in labels]
        wrong = [row for row in rows if len(row) != max(1, len(columns))]
        if wrong:
            raise ValueError(f"label {wrong[0]!r} does not fit the columns {list(columns)}")
        info.metadata_path = f"{stem}_metadata.tsv"
        # The projector takes the first line for headings where there are several columns.
        heading = [columns] if len(columns) > 1 else []
        _write(os.path.join(logdir, info.metadata_path), _table([*heading, *rows]))
    return info


def _directory(summary_writer: Any) -> Any:
    if isinstance(summary_writer, str | os.PathLike):
        return os.fsdecode(summary_writer)
    return summary_writer.get_logdir()


def _table(rows: Iterable[Iterable[Any]]) -> str:
    return "".join("\t".join(map(_cell, row)) + "\n" for row in rows)


def _cell(value: Any) -> str:
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return text.replace("\t", " ").replace("\n", " ")


def _write(path: str, text: str) -> None:
    files.makedirs(os.path.dirname(path))
    files.write_atomically(path, text.encode())

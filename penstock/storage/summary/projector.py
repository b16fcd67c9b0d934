"""The embedding projector of TensorBoard: which tensors to show, with which labels.

The projector reads ``projector_config.pbtxt`` beside the event files, and the tensors from files
that it names.  A TensorBoard that has TensorFlow beside it reads checkpoints as well; so that none
is needed, the values of the folder's latest checkpoint are written beside it: when the
configuration is, and by this process with each checkpoint after that.
"""

from __future__ import annotations

import logging
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

from penstock.foundation.base import errors
from penstock.foundation.formats import files, message_docs, written
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.formats.schema import CheckpointState

message_docs.describe(ProjectorConfig)

_LOG = logging.getLogger("penstock")
# What the projector shows at the most.
_MOST_POINTS = 100_000
_CONFIG_NAME = "projector_config.pbtxt"


def visualize_embeddings(summary_writer: Any, config: Any) -> None:
    """Writes ``config`` to where the projector looks for it.

    Args:
      summary_writer: the ``FileWriter`` of the directory, or the directory itself.
      config: a ``ProjectorConfig``.  Tensors without a file of their own are those of
        ``model_checkpoint_path``, or else of the latest checkpoint of the directory, now and
        whenever this process saves one there.

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
    asked = ProjectorConfig()
    asked.CopyFrom(config)
    _show(logdir, asked, asked.model_checkpoint_path or _latest(logdir))
    if not asked.model_checkpoint_path and any(not e.tensor_path for e in asked.embeddings):
        written.listen(logdir, lambda path: _show(logdir, asked, path))


def _show(logdir: str, asked: Any, checkpoint: str | None) -> None:
    """Writes the configuration, and beside it the tensors of a checkpoint that it asks for."""
    config = ProjectorConfig()
    config.CopyFrom(asked)
    wanted = [each for each in config.embeddings if not each.tensor_path]
    if wanted and checkpoint is not None:
        try:
            with open_checkpoint(checkpoint) as reader:
                for embedding in wanted:
                    name = embedding.tensor_name.removesuffix(":0")
                    if name in reader:
                        _store(logdir, embedding, reader.read(name))
        except errors.OpError as error:  # the checkpoint is whole or it is not; training goes on
            _LOG.warning("the projector shows nothing of %s: %s", checkpoint, error.message)
    _write(os.path.join(logdir, _CONFIG_NAME), text_format.MessageToString(config))


def _store(logdir: str, embedding: Any, values: Any) -> None:
    """Writes one tensor to a file, and its name and shape into the configuration."""
    array = np.ascontiguousarray(values[:_MOST_POINTS], np.float32)
    if array.ndim != 2:
        _LOG.warning("the projector shows matrices; %s is %s", embedding.tensor_name, array.shape)
        return
    stem = embedding.tensor_name.removesuffix(":0").replace("/", "_")
    content = array.tobytes()
    kind = "bytes"
    if _is_text(content):  # of all zeros, for one: the projector would take it for a table
        kind, content = "tsv", _table(array.tolist()).encode()
    embedding.tensor_path = f"{stem}_checkpoint.{kind}"
    embedding.tensor_shape[:] = array.shape
    files.write_atomically(os.path.join(logdir, embedding.tensor_path), content)


def _is_text(content: bytes) -> bool:
    try:
        content[:4096].decode()
    except UnicodeDecodeError as error:
        return error.start >= 4000  # a character that was cut
    return True


def _latest(logdir: str) -> str | None:
    """The checkpoint that the folder's state file names."""
    path = os.path.join(logdir, "checkpoint")
    if not files.exists(path):
        return None
    with files.open_file(path, "rb") as stream:
        state = text_format.Parse(stream.read().decode(), CheckpointState())
    named: str = state.model_checkpoint_path
    return os.path.join(logdir, named) if named else None


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

"""``RecordInput``: batches of records of many files without queues."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.ops.array import reshape, split


class RecordInput:
    """Reads the records of TFRecord files, in another order each time, without an end.

    Args:
      file_pattern: of the files.
      batch_size: how many records a batch has.
      buffer_size: from how many records the next is drawn.
      parallelism: accepted for TensorFlow's sake: one thread reads.
      shift_ratio: by which part of the list of files each epoch begins later.
      seed: of what is drawn.
      name: of the node.
      batches: into how many lists of scalars the records of a step are dealt; None for one tensor.
      compression_type: a ``TFRecordCompressionType``.

    Example:
      >>> import os, penstock as tf
      >>> path = os.path.join(tf.test.get_temp_dir(), "three.rec")
      >>> with tf.python_io.TFRecordWriter(path) as writer:
      ...     for record in (b"a", b"b", b"c"):
      ...         writer.write(record)
      >>> with tf.Graph().as_default(), tf.Session() as sess:
      ...     records = tf.contrib.framework.RecordInput(path, batch_size=3, buffer_size=3)
      ...     sorted(sess.run(records.get_yield_op()))
      [b'a', b'b', b'c']
    """

    def __init__(
        self, file_pattern: Any, batch_size: int = 1, buffer_size: int = 1, parallelism: int = 1,
        shift_ratio: float = 0, seed: int = 0, name: str | None = None,
        batches: int | None = None, compression_type: Any = None,
    ) -> None:  # fmt: skip
        self._name, self._batches = name, batches
        size = batch_size if batches is None else batch_size * batches
        kinds = {None: "", 0: "", 1: "ZLIB", 2: "GZIP"}
        compression = getattr(compression_type, "compression_type", compression_type)
        self._attrs = {
            "file_pattern": file_pattern, "file_random_seed": seed,
            "file_shuffle_shift_ratio": shift_ratio, "file_buffer_size": buffer_size,
            "file_parallelism": parallelism, "batch_size": size,
            "compression_type": kinds.get(compression, compression),
        }  # fmt: skip

    def get_yield_op(self) -> Any:
        """A tensor with the records of a batch; with ``batches``, that many lists of scalars."""
        records = make("RecordInput", name=self._name, **self._attrs)
        if self._batches is None:
            return records
        with scopes.name_scope(self._name):
            dealt: list[list[Any]] = [[] for _ in range(self._batches)]
            parts = split.split(records, self._attrs["batch_size"], 0)
            for number, part in enumerate(parts):
                dealt[number % self._batches].append(reshape.reshape(part, []))
            return dealt

"""``RecordInput``: batches of records of many files, drawn in another order each time.

State: the records that come next.  An epoch has each record once: its files are drawn, the list is
turned by a part of its length that grows with the epochs, and records leave a buffer at random.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from penstock.foundation.base import errors
from penstock.foundation.formats import files, tfrecord
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import ShapeContext


class _Source:
    def __init__(self, attrs: dict[str, Any], name: str) -> None:
        self._attrs, self._lock = attrs, threading.Lock()
        self._records = self._endless()

    def take(self, count: int) -> list[bytes]:
        """The next records; steps that run at once get different ones."""
        with self._lock:
            return list(itertools.islice(self._records, count))

    def _endless(self) -> Iterator[bytes]:
        pattern = os.fsdecode(self._attrs["file_pattern"])
        paths = sorted(files.glob(pattern))
        if not paths:
            raise errors.NotFoundError(None, None, f"Found no files at {pattern}")
        draw = random.Random(self._attrs["file_random_seed"])
        for epoch in itertools.count():
            found = 0
            for record in self._epoch(paths, epoch, draw):
                found += 1
                yield record
            if not found:
                raise errors.OutOfRangeError(None, None, f"there are no records in {pattern}")

    def _epoch(self, paths: list[str], epoch: int, draw: random.Random) -> Iterator[bytes]:
        order = draw.sample(paths, len(paths))
        turn = int(len(order) * self._attrs["file_shuffle_shift_ratio"] * epoch) % len(order)
        kept: list[bytes] = []
        for path in order[turn:] + order[:turn]:
            for record in tfrecord.read_records(path, self._attrs["compression_type"]):
                kept.append(record)
                if len(kept) >= max(1, self._attrs["file_buffer_size"]):
                    yield _drawn(kept, draw)
        while kept:
            yield _drawn(kept, draw)


def _drawn(kept: list[bytes], draw: random.Random) -> bytes:
    place = draw.randrange(len(kept))
    kept[place], kept[-1] = kept[-1], kept[place]
    return kept.pop()


def _batch(batch_size: int, state: _Source) -> np.ndarray:
    made = np.empty(batch_size, object)
    made[:] = state.take(batch_size)
    return made


def _unknown(ctx: ShapeContext) -> None:
    return None


define_op(
    "RecordInput",
    "-> records: string",
    attrs=[
        "file_pattern: string", "file_random_seed: int = 301",
        "file_shuffle_shift_ratio: float = 0", "file_buffer_size: int = 10000",
        "file_parallelism: int = 16", "batch_size: int = 32", 'compression_type: string = ""',
    ],
    shape=_unknown,
    kernel=_batch,
    state=_Source,
    stateful=True,
    no_gradient="reads files",
)  # fmt: skip

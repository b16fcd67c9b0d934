"""What code for TPUs asks about the replicas around it: none is known but in ``tpu_shard_context``.

State: per thread, the number of shards.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TpuContext(threading.local):
    """Says how many replicas a computation is written for; None where nobody has said it."""

    number_of_shards: int | None = None

    def set_number_of_shards(self, number_of_shards: int | None) -> None:
        """Says it for this thread."""
        self.number_of_shards = number_of_shards


_context = TpuContext()


def get_tpu_context() -> TpuContext:
    """The one context, which knows its thread."""
    return _context


@contextmanager
def tpu_shard_context(number_of_shards: int) -> Iterator[None]:
    """Says the number of replicas for the code in the block.

    Raises:
      NotImplementedError: in another such block.
    """
    if _context.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _context.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _context.set_number_of_shards(None)

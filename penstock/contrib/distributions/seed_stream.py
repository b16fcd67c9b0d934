"""``SeedStream``: seeds of several draws made from one."""

from __future__ import annotations

import hashlib
from typing import Any


class SeedStream:
    """Seeds that differ from one another, made from one seed and a salt.

    Args:
      seed: a number, None (then every seed is None), or a stream of which the seed is taken.
      salt: what tells this stream from others of the same seed.

    Example:
      >>> import penstock as tf
      >>> stream = tf.contrib.distributions.SeedStream(3, salt="mine")
      >>> stream() == stream()
      False
    """

    def __init__(self, seed: Any, salt: str) -> None:
        self._seed = seed.original_seed if isinstance(seed, SeedStream) else seed
        self._salt = salt
        self._counter = 0

    def __call__(self) -> int | None:
        """The next seed; None where the stream has none."""
        self._counter += 1
        if self._seed is None:
            return None
        text = str((self._seed, self._counter, self._salt))
        return int(hashlib.sha512(text.encode("utf-8")).hexdigest(), 16)

    @property
    def original_seed(self) -> Any:
        """The seed that the others are made from."""
        return self._seed

    @property
    def salt(self) -> str:
        """What tells this stream from others of the same seed."""
        return self._salt

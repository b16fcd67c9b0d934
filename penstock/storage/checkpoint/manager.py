"""``tf.train.CheckpointManager``: a directory of object-based checkpoints, the old ones deleted.

State: the checkpoints kept, oldest first, with their times; when the last one that is kept for good
was made.  Both are in the state file as well, from which a new manager takes them over.
"""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.formats import files
from penstock.storage.checkpoint import clock, management


class CheckpointManager:
    """Saves a ``tf.train.Checkpoint`` into a directory and deletes what is old.

    Args:
      checkpoint: the ``tf.train.Checkpoint``.
      directory: where.
      max_to_keep: how many are kept; None keeps all.
      keep_checkpoint_every_n_hours: one in so many hours is kept for good.
      checkpoint_name: the beginning of the files' names.

    Raises:
      ValueError: ``max_to_keep`` is neither None nor positive.
    """

    def __init__(
        self,
        checkpoint: Any,
        directory: Any,
        max_to_keep: int | None,
        keep_checkpoint_every_n_hours: float | None = None,
        checkpoint_name: str = "ckpt",
    ) -> None:
        if max_to_keep is not None and max_to_keep <= 0:
            raise ValueError(f"max_to_keep must be positive or None; found {max_to_keep}")
        self._checkpoint, self._directory = checkpoint, os.fsdecode(directory)
        self._max_to_keep, self._hours = max_to_keep, keep_checkpoint_every_n_hours
        self._prefix = os.path.join(self._directory, checkpoint_name)
        self._kept: dict[str, float] = {}
        now = clock.now()
        state = management.get_checkpoint_state(self._directory)
        self._latest: str | None = None
        self._last_preserved = now
        if state is not None:
            self._latest = state.model_checkpoint_path
            self._last_preserved = state.last_preserved_timestamp or now
            # What a Saver recorded, without times, is no manager's to delete.
            paths, times = state.all_model_checkpoint_paths, state.all_model_checkpoint_timestamps
            self._kept = dict(zip(paths, times, strict=False))

    @property
    def latest_checkpoint(self) -> str | None:
        """The newest checkpoint, or None."""
        return self._latest

    @property
    def checkpoints(self) -> list[str]:
        """The checkpoints kept, oldest first."""
        return list(self._kept)

    def save(self, checkpoint_number: Any = None) -> str:
        """Saves, in the default session; deletes what is old.

        Args:
          checkpoint_number: a number, or variable or tensor of one; default the save counter.

        Returns:
          The prefix of the checkpoint.
        """
        if not files.isdir(self._directory):
            files.makedirs(self._directory)
        path = self._checkpoint.save_numbered(self._prefix, checkpoint_number)
        self._latest = path
        self._kept.pop(path, None)
        self._kept[path] = clock.now()
        # The state names the new one before the old ones go.
        self._record()
        if self._sweep():
            self._record()
        return str(path)

    def _record(self) -> None:
        management.write_state(
            self._directory, self._latest or "", list(self._kept), None, True,
            list(self._kept.values()), self._last_preserved,
        )  # fmt: skip

    def _sweep(self) -> bool:
        if self._max_to_keep is None:
            return False
        swept = False
        while len(self._kept) > self._max_to_keep:
            path, written = next(iter(self._kept.items()))
            del self._kept[path]
            swept = True
            if self._hours is not None and written - self._hours * 3600 >= self._last_preserved:
                self._last_preserved = written
                continue
            management.remove_checkpoint(path)
        return swept

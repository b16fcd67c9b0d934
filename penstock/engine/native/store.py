"""What was compiled and what came of it, on disk: found again by the next process.

Below the cache's folder, ``native/KEY/`` has the manifest of a program and its libraries, and
``native-MACHINE.jsonl`` a verdict a stretch.  A library is code, so a folder that somebody else
owns, or may write, is not used.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from penstock.engine.native.request import MANIFEST
from penstock.foundation.machine.cache import Records

_BEGUN = "new-"
_LEFT_SECONDS = 3600


class Verdict(NamedTuple):
    """What came of a trial: a word, and the native form's time, in the lines' and in seconds."""

    word: str = ""
    ratio: float = 1.0
    seconds: float = 0.0


class Store:
    """The answers for one machine.

    Args:
      machine: its fingerprint.
      where: the cache's folder; None: what is made is for this process alone.
    """

    def __init__(self, machine: str, where: Path | None) -> None:
        self._temporary = None
        if where is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="penstock-native-")
            where = Path(self._temporary.name)
        self._root = where / "native"
        self._records = Records(f"native-{machine}", where)

    def find(self, key: str) -> tuple[Path, dict[str, Any]] | None:
        """The folder and the manifest of a program; None where there is none to be trusted."""
        place = self._root / key
        try:
            if not all(map(_is_ours, (self._root, place))):
                return None
            return place, json.loads((place / MANIFEST).read_text())
        except (OSError, ValueError):
            return None

    def make(self, key: str, fill: Callable[[Path], None]) -> None:
        """Makes the folder of a program; another process's, if that was quicker, counts.

        Args:
          key: of the program.
          fill: makes manifest and libraries in a folder.

        Raises:
          OSError: the folder cannot be written.
        """
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sweep()
        made = Path(tempfile.mkdtemp(prefix=_BEGUN, dir=self._root))
        try:
            fill(made)
            made.rename(self._root / key)
        except OSError:
            if not (self._root / key / MANIFEST).exists():
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def _sweep(self) -> None:
        """Removes what processes that ended meanwhile have left."""
        for left in self._root.glob(f"{_BEGUN}*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)

    def verdicts(self) -> dict[str, Verdict]:
        """What came of the trials, by ``KEY/INDEX``."""
        found = {}
        for name, value in self._records.read().items():
            match value:
                case [str(verdict), int() | float() as ratio, int() | float() as seconds]:
                    found[name] = Verdict(verdict, ratio, seconds)
        return found

    def judge(self, key: str, index: int, verdict: Verdict) -> None:
        """Keeps what came of a trial."""
        word, ratio, seconds = verdict
        self._records.add(f"{key}/{index}", [word, round(ratio, 3), round(seconds, 7)])


def _is_ours(place: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    found = place.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)

"""What was compiled and what came of it, on disk: found again by the next process.

Below the cache's folder, ``native/KEY/`` has the manifest of a program and its libraries, and
``native-MACHINE.jsonl`` a verdict a trial.  A library is code, so a folder that somebody else
owns, or may write, is not used.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from penstock.engine.native.request import MANIFEST
from penstock.foundation.machine.cache import Records

# Other systems than Unix have none.
fcntl: Any = import_module("fcntl") if os.name == "posix" else None
_BEGUN = "new-"
_LEFT_SECONDS = 3600
# A library takes some 100 KB.
_MOST_BYTES = 256 << 20


# What a trial says for good: it was won, the values are others, or the process came to its end.
# What was lost otherwise is tried again after a day, and sooner if other work was done on the
# machine meanwhile.
ENDED = "the process ended in its trial"
_FOR_GOOD = ("fast", "different", ENDED)
_AGAIN_SECONDS = 86_400.0
_MOST_TRIALS = 5


class Verdict(NamedTuple):
    """What came of a trial.

    Args:
      word: of it.
      ratio, seconds: the native form's time, in the lines' and in seconds.
      trials: so many have been.
      when: it was, in seconds since the epoch.
      busy: whether others used the machine meanwhile.
    """

    word: str = ""
    ratio: float = 1.0
    seconds: float = 0.0
    trials: int = 0
    when: float = 0.0
    busy: bool = False

    @property
    def unlucky(self) -> bool:
        """Whether it was lost beside other work, and may be won without that."""
        return self.busy and self.word not in _FOR_GOOD and self.trials < _MOST_TRIALS

    def again(self, now: float) -> Verdict:
        """What is known of the stretch: this, or nothing once it may be tried again."""
        old = self.trials < _MOST_TRIALS and now - self.when > _AGAIN_SECONDS
        if self.word and self.word not in _FOR_GOOD and (self.unlucky or old):
            return Verdict(trials=self.trials)
        return self


class Store:
    """The answers for one machine.

    Args:
      machine: its fingerprint.
      where: the cache's folder; None: what is made is for this process alone.
    """

    def __init__(self, machine: str, where: Path | None) -> None:
        self._machine, self._where = machine, where
        self._temporary: tempfile.TemporaryDirectory[str] | None = None

    @property
    def _root(self) -> Path:
        return self._folder() / "native"

    @property
    def _records(self) -> Records:
        return Records(f"native-{self._machine}", self._folder())

    def _folder(self) -> Path:
        if self._where is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="penstock-native-")
            self._where = Path(self._temporary.name)
        return self._where

    def is_empty(self) -> bool:
        """Whether nothing was compiled yet, whatever the program."""
        return self._where is None or not self._root.exists()

    def find(self, key: str) -> tuple[Path, dict[str, Any]] | None:
        """The folder and the manifest of a program; None where there is none to be trusted."""
        if self._where is None:
            return None  # nothing was made yet
        place = self._root / key
        try:
            if not all(map(_is_ours, (self._root, place))):
                return None
            about = json.loads((place / MANIFEST).read_text())
            if not _is_whole(place, about):
                return None
            with suppress(OSError):
                os.utime(place / MANIFEST)  # it was used
            return place, about
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            return None

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps other processes from compiling at the same time, where the folder can do that."""
        lock = None
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = open(self._root / "lock", "wb")
            if fcntl is not None:
                # Of this process alone: those that it forks meanwhile do not hold it.
                fcntl.lockf(lock, fcntl.LOCK_EX)
        except OSError:
            pass
        try:
            yield
        finally:
            if lock is not None:
                lock.close()

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
            _sum_up(made)
            if self.find(key) is None:
                shutil.rmtree(self._root / key, ignore_errors=True)  # is not whole
            made.rename(self._root / key)
            self._limit(key)
        except OSError:
            if self.find(key) is None:
                raise
        finally:
            shutil.rmtree(made, ignore_errors=True)

    def _sweep(self) -> None:
        """Removes what processes that ended meanwhile have left."""
        for left in self._root.glob(f"{_BEGUN}*"):
            with suppress(OSError):
                if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
                    shutil.rmtree(left, ignore_errors=True)

    def _limit(self, key: str) -> None:
        """Removes what was not used for longest, but for one program, while it is too much."""
        used = []
        for place in filter(Path.is_dir, self._root.iterdir()):
            with suppress(OSError):
                size = sum(file.stat().st_size for file in place.iterdir())
                used.append(((place / MANIFEST).stat().st_mtime, size, place))
        total = sum(size for _, size, _ in used)
        for _, size, place in sorted(used):
            if total > _MOST_BYTES and place.name != key:
                shutil.rmtree(place, ignore_errors=True)
                total -= size

    def verdicts(self) -> dict[str, Verdict]:
        """What came of the last trials, by ``KEY/INDEX``."""
        found: dict[str, Verdict] = {}
        if self._where is None:
            return found
        for name, value in self._records.read().items():
            match value:
                case [
                    str(word), int() | float() as ratio, int() | float() as seconds,
                    int(trials), int() | float() as when, bool(busy),
                ]:  # fmt: skip
                    name = name.rpartition("/")[0]
                    if trials > found.get(name, Verdict()).trials:
                        found[name] = Verdict(word, ratio, seconds, trials, when, busy)
        return found

    def judge(self, key: str, index: int, verdict: Verdict) -> None:
        """Keeps what came of a trial."""
        word, ratio, seconds, trials, when, busy = verdict
        value = [word, round(ratio, 3), round(seconds, 7), trials, round(when), busy]
        self._records.add(f"{key}/{index}/{trials}", value)


def _sum_up(place: Path) -> None:
    """Notes the sums of what was made."""
    about = json.loads((place / MANIFEST).read_text())
    for each in about["stretches"]:
        if "library" in each:
            each["sum"] = _sum(place / each["library"])
    (place / MANIFEST).write_text(json.dumps(about))


def _is_whole(place: Path, about: dict[str, Any]) -> bool:
    """Whether the libraries are those that were made: a part of one would end the process."""
    made = [each for each in about["stretches"] if "library" in each]
    return all(each["sum"] == _sum(place / each["library"]) for each in made)


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_ours(place: Path) -> bool:
    if not hasattr(os, "getuid"):
        return True
    found = place.stat()
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)

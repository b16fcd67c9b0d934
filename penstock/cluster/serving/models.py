"""The models of a server: their folders watched, versions loaded, handed out and dropped.

A thread a model looks at its folder.  A new version is loaded beside the old one and takes its
place when it can answer; the old one goes when the last call that uses it has ended.  A version
that cannot be loaded is tried again a few times, and again when its files change: it may still be
on its way here.

State: the versions that answer, by number, under a lock, each with the number of its calls; what
became of every version that was seen.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.cluster.serving.servable import Servable
from penstock.cluster.serving.versions import Policy, State, plan
from penstock.foundation.base import errors
from penstock.storage.saved_model.loader import maybe_saved_model_directory

log = logging.getLogger("penstock.serving")
_TRIES = 3
# How long a dropped version's calls may take before it is closed under them.
_LAST_CALLS = 60.0


@dataclass
class _Entry:
    """A version that answers, and how many calls use it."""

    servable: Servable
    calls: int = 0
    idle: threading.Event = field(default_factory=threading.Event)


@dataclass
class Status:
    """What became of a version."""

    state: State
    error: Exception | None = None
    tries: int = 0
    stamp: Any = None


class Model:
    """A model: a folder with versions, or one SavedModel (its version 1).

    Args:
      name: of the model.
      folder: of its versions.
      policy: which are served.
      load: makes the servable of a version: ``(folder, name, version)``.
      labels: numbers of versions by label.
    """

    def __init__(
        self,
        name: str,
        folder: str | Path,
        policy: Policy,
        load: Callable[[str, str, int], Servable],
        labels: Mapping[str, int] | None = None,
    ) -> None:
        self.name, self.folder, self.policy = name, Path(folder), policy
        self.labels = dict(labels or {})
        self._load = load
        self._lock = threading.Lock()
        self._serving: dict[int, _Entry] = {}
        self._statuses: dict[int, Status] = {}

    # ---- what calls see --------------------------------------------------------------------------

    @contextmanager
    def leased(self, version: int | None = None, label: str | None = None) -> Iterator[Servable]:
        """A version, which stays until the call that uses it has ended.

        Args:
          version: its number; None: the highest.
          label: or its label.

        Raises:
          tf.errors.NotFoundError: no such version answers.
          tf.errors.InvalidArgumentError: no such label.
        """
        if label is not None:
            version = self._labelled(label)
        with self._lock:
            number = max(self._serving, default=None) if version is None else version
            entry = None if number is None else self._serving.get(number)
            if entry is None:
                what = "Latest" if version is None else "Specific"
                asked = self.name if version is None else f"{self.name}, {version}"
                raise errors.NotFoundError(
                    None, None,
                    f"Servable not found for request: {what}({asked}); versions that answer:"
                    f" {', '.join(map(str, sorted(self._serving))) or 'none'}",
                )  # fmt: skip
            entry.calls += 1
            entry.idle.clear()
        try:
            yield entry.servable
        finally:
            with self._lock:
                entry.calls -= 1
                if not entry.calls:
                    entry.idle.set()

    def _labelled(self, label: str) -> int:
        if label not in self.labels:
            raise errors.invalid(
                f"Unrecognized servable version label: {label}; {self.name} has"
                f" {', '.join(sorted(self.labels)) or 'none'}"
            )
        return self.labels[label]

    def statuses(self) -> dict[int, Status]:
        """What became of every version that was seen, by number."""
        with self._lock:
            return dict(sorted(self._statuses.items()))

    def serving(self) -> list[int]:
        """Versions that answer."""
        with self._lock:
            return sorted(self._serving)

    # ---- what keeps it so ------------------------------------------------------------------------

    def found(self) -> dict[int, Path]:
        """The folders of versions that are there."""
        if maybe_saved_model_directory(self.folder):
            return {1: self.folder}
        try:
            folders = list(self.folder.iterdir())
        except OSError:
            return {}
        return {
            int(path.name): path
            for path in folders
            if path.name.isascii() and path.name.isdecimal() and maybe_saved_model_directory(path)
        }

    def look(self) -> None:
        """Loads what is to be served and is not, and drops what is no more."""
        folders = self.found()
        todo = plan(self.policy.chosen(folders), self.serving())
        for version in todo.load:
            if self._is_due(version, folders[version]):
                self._bring(version, folders[version])
        # One that fails leaves the old one in its place.
        if not todo.load or set(todo.load) & set(self.serving()):
            for version in todo.drop:
                self._drop(version)

    def _is_due(self, version: int, folder: Path) -> bool:
        known = self._statuses.get(version)
        if known is None or known.state is not State.END or known.error is None:
            return True
        return known.tries < _TRIES or known.stamp != _stamp(folder)

    def _bring(self, version: int, folder: Path) -> None:
        known = self._statuses.get(version)
        stamp = _stamp(folder)
        tries = known.tries + 1 if known is not None and known.stamp == stamp else 1
        self._become(version, Status(State.LOADING, None, tries, stamp))
        try:
            servable = self._load(str(folder), self.name, version)
        except Exception as error:
            log.warning("%s version %d cannot be loaded: %s", self.name, version, error)
            self._become(version, Status(State.END, error, tries, stamp))
            return
        with self._lock:
            self._serving[version] = _Entry(servable)
            self._statuses[version] = Status(State.AVAILABLE, None, tries, stamp)
        log.info("%s version %d answers", self.name, version)

    def _become(self, version: int, status: Status) -> None:
        with self._lock:
            self._statuses[version] = status

    def _drop(self, version: int) -> None:
        with self._lock:
            entry = self._serving.pop(version)
            self._statuses[version] = Status(State.UNLOADING)
            used = entry.calls > 0
        if used and not entry.idle.wait(_LAST_CALLS):
            log.warning("%s version %d is closed under %d calls", self.name, version, entry.calls)
        entry.servable.close()
        self._become(version, Status(State.END))
        log.info("%s version %d is dropped", self.name, version)

    def close(self) -> None:
        """Drops all versions."""
        for version in self.serving():
            self._drop(version)


def _stamp(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """What changes when files of a version do."""
    found = []
    for path in sorted(folder.rglob("*")):
        try:
            stat = path.stat()
        except OSError:
            continue  # taken away meanwhile
        found.append((str(path), stat.st_mtime_ns, stat.st_size))
    return tuple(found)


class Models:
    """All models of a server, and the threads that watch their folders.

    Args:
      models: by name.
      seconds: between two looks at a folder; 0: one look, at the start.
    """

    def __init__(self, models: Mapping[str, Model], seconds: float = 1.0) -> None:
        self._models = dict(models)
        self._seconds = seconds
        self._end = threading.Event()
        self._threads: list[threading.Thread] = []

    def __iter__(self) -> Iterator[Model]:
        return iter(self._models.values())

    def get(self, name: str) -> Model:
        """A model by name.

        Raises:
          tf.errors.InvalidArgumentError: no name.
          tf.errors.NotFoundError: there is none of this name.
        """
        if not name:
            raise errors.invalid("Missing ModelSpec: the request names no model")
        if name not in self._models:
            raise errors.NotFoundError(
                None, None,
                f"Servable not found for request: Latest({name}); models here:"
                f" {', '.join(sorted(self._models))}",
            )  # fmt: skip
        return self._models[name]

    def start(self) -> None:
        """Loads every model once, then goes on watching."""
        for model in self:
            model.look()
        if self._seconds:
            for model in self:
                thread = threading.Thread(target=self._watch, args=(model,), daemon=True)
                thread.start()
                self._threads.append(thread)

    def _watch(self, model: Model) -> None:
        while not self._end.wait(self._seconds):
            try:
                model.look()
            except Exception:
                log.exception("looking at %s failed", model.folder)

    def ready(self) -> bool:
        """Whether every model has a version that answers."""
        return not self._end.is_set() and all(model.serving() for model in self)

    def close(self) -> None:
        """Ends the threads and drops all versions."""
        self._end.set()
        for thread in self._threads:
            thread.join()
        for model in self:
            model.close()

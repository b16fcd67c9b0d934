"""Which versions of a model are to be served: decisions without input and output.

A model's folder has a folder a version, named by its number.  A policy chooses among those that
are there; what is chosen and not loaded is to be loaded, what is loaded and not chosen is to be
dropped, but not before something else can answer.
"""

from __future__ import annotations

import enum
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from penstock.foundation.base import errors


class State(enum.IntEnum):
    """What a version is doing, with the numbers of TensorFlow Serving's status."""

    START = 10
    LOADING = 20
    AVAILABLE = 30
    UNLOADING = 40
    END = 50


@dataclass(frozen=True)
class Policy:
    """Which versions to serve.

    Args:
      latest: so many of the highest; 0: not by this rule.
      named: these numbers; with both empty, all that are there.

    >>> Policy(latest=1).chosen([1, 3, 2])
    [3]
    >>> Policy.parse("1,2").chosen([1, 3, 2])
    [1, 2]
    """

    latest: int = 0
    named: tuple[int, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Policy:
        """From "latest", "latest:2", "all", or numbers with commas.

        Raises:
          tf.errors.InvalidArgumentError: it is something else.
        """
        word, _, count = text.partition(":")
        if text == "all":
            return cls()
        if word == "latest" and (not count or _positive(count)):
            return cls(latest=int(count or 1))
        numbers = text.split(",")
        if all(n.isascii() and n.isdecimal() for n in numbers):
            return cls(named=tuple(map(int, numbers)))
        raise errors.invalid(
            f"{text!r} is no choice of versions; allowed are 'latest', 'latest:2', 'all', '1,2'"
        )

    def chosen(self, found: Iterable[int]) -> list[int]:
        """Those of the versions found that are to be served, ascending."""
        versions = sorted(found)
        if self.latest:
            return versions[-self.latest :]
        return [v for v in versions if v in self.named] if self.named else versions


@dataclass(frozen=True)
class Plan:
    """What to do now.

    Attributes:
      load: versions to load, the highest first.
      drop: versions to drop once something of ``load`` is there.
    """

    load: tuple[int, ...]
    drop: tuple[int, ...]


def plan(chosen: Collection[int], loaded: Collection[int]) -> Plan:
    """What makes the loaded versions the chosen ones.

    Nothing is dropped when nothing is chosen: a folder that is gone, or cannot be seen for a
    while, must not end a service.

    >>> plan([3], [2])
    Plan(load=(3,), drop=(2,))
    >>> plan([], [2])
    Plan(load=(), drop=())
    """
    load = tuple(sorted(set(chosen) - set(loaded), reverse=True))
    drop = tuple(sorted(set(loaded) - set(chosen))) if chosen else ()
    return Plan(load, drop)


def _positive(text: str) -> bool:
    return text.isascii() and text.isdecimal() and int(text) > 0

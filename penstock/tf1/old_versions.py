"""What programs use of ``distutils``, gone since Python 3.12: versions, and truth as text."""

from __future__ import annotations

import functools
import re
from typing import Any


@functools.total_ordering
class LooseVersion:
    """A version of any form: numbers and letters in turn, compared one by one.

    >>> LooseVersion("1.10.0") > LooseVersion("1.9"), LooseVersion("1.15.0-rc1").version
    (True, [1, 15, 0, '-', 'rc', 1])
    """

    version: list[Any]

    def __init__(self, vstring: str | None = None) -> None:
        if vstring:
            self.parse(vstring)

    def parse(self, vstring: str) -> None:
        """Takes a version's text."""
        self.vstring = vstring
        parts = [part for part in re.split(r"(\d+|[a-z]+|\.)", vstring) if part and part != "."]
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"{type(self).__name__} ('{self}')"

    def _parts(self, other: Any) -> list[Any]:
        known = other if isinstance(other, LooseVersion) else type(self)(other)
        return known.version

    def __eq__(self, other: object) -> bool:
        return bool(self.version == self._parts(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.version < self._parts(other))

    def __hash__(self) -> int:
        return hash(self.vstring)


class StrictVersion(LooseVersion):
    """A version of two or three numbers, and perhaps an ``a`` or ``b`` with another.

    Raises:
      ValueError: for any other form.

    >>> StrictVersion("1.5b2") < StrictVersion("1.5") == StrictVersion("1.5.0")
    True
    """

    def parse(self, vstring: str) -> None:
        """Takes a version's text."""
        found = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?(?:([ab])(\d+))?", vstring)
        if found is None:
            raise ValueError(f"invalid version number {vstring!r}")
        major, minor, patch, stage, number = found.groups()
        self.vstring = vstring
        before = [stage, int(number)] if stage else ["z"]  # a release comes after its betas
        self.version = [int(major), int(minor), int(patch or 0), *before]


def strtobool(val: str) -> int:
    """1 or 0 for a word that says yes or no.

    Raises:
      ValueError: for another word.
    """
    word = val.lower()
    if word in ("y", "yes", "t", "true", "on", "1"):
        return 1
    if word in ("n", "no", "f", "false", "off", "0"):
        return 0
    raise ValueError(f"invalid truth value {word!r}")

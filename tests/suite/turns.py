"""Long tests by turns: which of N turns a test belongs to.

A run of CI has no time for all long tests; it takes one turn of them, and the next run the next.
A file's tests belong together, for they share what is slow to make (a program of TensorFlow's that
computed what all are compared with). Files go to turns by a hash of their names, so that a new one
moves no other; but for those in ``PLACED``, which take longest and are spread by hand, and those in
``SPLIT``, whose tests share nothing and are spread one by one.
"""

from __future__ import annotations

import re
import zlib

# In so many turns `.ci/run` runs every long test.
TURNS = 5

# Seconds that the long tests of a file took on two cores of 2.6 GHz, and their turn.
PLACED: dict[str, int] = {}
SPLIT: frozenset[str] = frozenset()


def parse(text: str) -> tuple[int, int]:
    """The turn and the number of turns that ``--turn`` names.

    Raises:
      ValueError: it is not of the form "2/5", or there is no such turn.
    """
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise ValueError(f"{text!r} is no turn; the third of five is '3/5'")
    return int(found[1]), int(found[2])


def turn_of(test: str, turns: int = TURNS) -> int:
    """The turn, from 1, of a test by its id, "tests/room/test_file.py::test_name"."""
    file = test.partition("::")[0]
    if turns == TURNS and file in PLACED:
        return PLACED[file]
    name = test if file in SPLIT else file
    return zlib.crc32(name.encode()) % turns + 1

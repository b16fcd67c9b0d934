"""Marks of what is being tried: a library that ends the process leaves its mark behind.

A mark is a file beside the library, locked while the library is loaded or runs for a trial, and
removed after that.  One that lies there unlocked was left by a process that came to an end
meanwhile.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

# Other systems than Unix have none; nothing is marked there.
fcntl: Any = import_module("fcntl") if os.name == "posix" else None
_ENDING = ".trying"


@contextmanager
def trying(place: Path, index: int) -> Iterator[None]:
    """Marks that a program's library is being tried, where its folder can be written.

    Args:
      place: the program's folder.
      index: of the library.
    """
    file, path = -1, ""
    with suppress(OSError):
        if fcntl is not None:
            file, path = tempfile.mkstemp(prefix=f"{index}-", suffix=_ENDING, dir=place)
            fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        if file >= 0:
            with suppress(OSError):
                os.unlink(path)
            os.close(file)


def left_behind(place: Path) -> set[int]:
    """The libraries in whose trial a process came to an end; their marks are removed."""
    found: set[int] = set()
    if fcntl is None:
        return found
    for path in place.glob(f"*{_ENDING}"):
        with suppress(OSError, ValueError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while another tries it
            found.add(int(path.name.partition("-")[0]))
            path.unlink()
    return found

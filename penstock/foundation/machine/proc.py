"""Reading the files in which the kernel tells about itself."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path("/")


def text(path: Path) -> str:
    """What is in a file; nothing where there is none, or where it may not be read."""
    try:
        return path.read_text(errors="replace")
    except (OSError, ValueError):  # ValueError: a name with a NUL in it
        return ""


def number(word: str) -> int | None:
    """A count as the kernel writes it: decimal digits that fit in 64 bits.

    >>> number("100000"), number("max"), number("-1")
    (100000, None, None)
    """
    return int(word) if re.fullmatch("[0-9]{1,20}", word) else None

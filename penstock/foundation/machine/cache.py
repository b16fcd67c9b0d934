"""What was measured on this machine and holds for later runs: small files, a record a line.

They lie below ``folder()``: ``PENSTOCK_CACHE`` where that is set, else the user's cache folder.  A
file is named after what it holds and the machine (``hardware.fingerprint``), so a home that several
machines share serves each with its own.  Whatever keeps a file from being read or written (a full
disk, a folder that is not ours, ``PENSTOCK_CACHE=off``) costs measuring again, and nothing else.

A record is ``[key, value]`` as JSON on a line of its own.  Processes add lines at the same time; of
several with one key the first counts, so that what was chosen once stays chosen.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OFF = "off"
# Files longer than this are none that Penstock has written.
_LONGEST = 4 << 20


def folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where records lie, whether it exists or not; None where they are not to be kept.

    >>> folder({"PENSTOCK_CACHE": "/tmp/measured"})
    PosixPath('/tmp/measured')
    >>> folder({"PENSTOCK_CACHE": "off"}) is None
    True
    """
    given = environ.get("PENSTOCK_CACHE")
    if given == OFF:
        return None
    if given:
        return Path(given)
    base = environ.get("XDG_CACHE_HOME")
    if base and os.path.isabs(base):
        return Path(base) / "penstock"
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if not home:
        return None
    local = {"darwin": "Library/Caches"}.get(sys.platform, ".cache")
    return Path(home) / local / "penstock"


class Records:
    """The records of one kind on one machine.

    Args:
      name: of the file.
      where: the folder; None keeps nothing.
    """

    def __init__(self, name: str, where: Path | None) -> None:
        self._path = None if where is None else where / f"{name}.jsonl"

    def read(self) -> dict[str, Any]:
        """All records; lines that are none are passed over."""
        found: dict[str, Any] = {}
        for line in self._lines():
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(record, list) and len(record) == 2 and isinstance(record[0], str):
                found.setdefault(record[0], record[1])
        return found

    def _lines(self) -> list[bytes]:
        if self._path is None:
            return []
        try:
            with open(self._path, "rb") as file:
                text = file.read(_LONGEST + 1)
        except OSError:
            return []
        return text.splitlines() if len(text) <= _LONGEST else []

    def add(self, key: str, value: Any) -> bool:
        """Appends a record; says whether that went."""
        if self._path is None:
            return False
        line = json.dumps([key, value]) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # One write of a short line to a file that is appended to: lines do not mix.
            with open(self._path, "ab", buffering=0) as file:
                file.write(line.encode())
        except OSError:
            return False
        return True

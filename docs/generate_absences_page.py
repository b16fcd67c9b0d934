"""Writes docs/absences.md: names that programs use or TensorFlow 1.15 has, and that are not here.

    python docs/generate_absences_page.py

Names are looked up as a program would that imports ``tensorflow``, older spellings included; the
reasons are the tables of ``absences.py``, of which the first row that fits holds.
``tests/api/test_absences_page.py`` holds the page to what this makes.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))
from absences import CONTRIB_ABSENT, SYMBOLS_ABSENT, USAGE_ABSENT
from generate_ops_page import find_spec, reason

from penstock.tf1.front import Front

PAGE = Path(__file__).resolve().parent / "absences.md"
_HEAD = """# What is absent, and why

Every name that is not here, of those that some 40 public repositories use and of the public names
of TensorFlow 1.15. This page is generated (`python docs/generate_absences_page.py`); a test
compares it with the code. A number behind a name says how many repositories use it.
"""


class Names:
    """The names of the two lists, and which of them are absent; without ``tf.`` in front."""

    def __init__(self, spec: Path) -> None:
        rows = (line.split("\t") for line in (spec / "usage.tsv").read_text().splitlines()[1:])
        self.uses = {name.removeprefix("tf."): int(count) for name, count, *_ in rows}
        self.public: dict[str, Any] = json.loads((spec / "public_api.json").read_text())
        front = Front()
        self.used_absent = [name for name in self.uses if not _is_there(front, name)]
        self.public_absent = [name for name in self.public if not _is_there(front, name)]

    def why(self, name: str) -> str | None:
        """The reason of an absence; None where no row fits."""
        row = reason(name, [*SYMBOLS_ABSENT, *CONTRIB_ABSENT, *USAGE_ABSENT])
        return row[1] if row else None

    def shown(self, name: str) -> str:
        """A name with the number of repositories that use it."""
        return f"{name} {self.uses[name]}" if name in self.uses else name


def _is_there(front: Front, name: str) -> bool:
    found: Any = front
    try:
        for part in name.split("."):
            found = getattr(found, part)
    except AttributeError:
        return False
    return True


def _table(names: Names, absent: Iterable[str]) -> list[str]:
    rows: dict[str, list[str]] = defaultdict(list)
    for name in absent:
        rows[names.why(name) or "**no reason is given**"].append(names.shown(name))
    lines = ["| why not | names |", "|---|---|"]
    return [*lines, *(f"| {why} | {', '.join(sorted(found))} |" for why, found in rows.items())]


def page(names: Names) -> str:
    """The text of docs/absences.md."""
    used, public = names.used_absent, names.public_absent
    lines = [
        _HEAD, "## Names that programs use", "",
        f"{len(names.uses) - len(used)} of {len(names.uses)} are here, {len(used)} are not.", "",
        *_table(names, used), "",
        "## Public names, `tf.contrib` included", "",
        f"{len(names.public) - len(public)} of {len(names.public)} are here, {len(public)} are"
        " not.", "",
        *_table(names, sorted(public)),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    """Writes the page."""
    spec = find_spec()
    if spec is None:
        sys.exit("no shared/spec above this checkout: TensorFlow's lists are needed")
    PAGE.write_text(page(Names(spec)))


if __name__ == "__main__":
    main()

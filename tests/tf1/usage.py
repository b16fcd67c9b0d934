"""Which of the symbols that public programs use are there, asked of ``import tensorflow``.

    python -m tests.tf1.usage

prints the absent ones with the number of repositories that use each, then the count. The symbols
stand in ``shared/spec/usage.tsv`` above the checkout.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

TABLE = "shared/spec/usage.tsv"


def table() -> Path | None:
    """The file with the symbols, where there is one."""
    folders = Path(__file__).resolve().parents
    return next((path for f in folders if (path := f / TABLE).is_file()), None)


def ask(path: Path) -> dict[str, list[str]]:
    """The symbols that are there and those that are absent, the most used first."""
    import penstock.as_tensorflow  # noqa: F401

    found: dict[str, list[str]] = {"present": [], "absent": []}
    with path.open() as file:
        for row in csv.DictReader(file, delimiter="\t"):
            there = _resolves(row["symbol"])
            found["present" if there else "absent"].append(f"{row['symbol']} {row['repos']}")
    return found


def _resolves(symbol: str) -> bool:
    found = sys.modules["tensorflow"]
    try:
        for part in symbol.split(".")[1:]:
            found = getattr(found, part)
    except AttributeError:
        return False
    return True


def main() -> None:
    """Command line; see the module docstring. With ``--json`` prints both lists."""
    path = table()
    if path is None:
        sys.exit(f"no {TABLE} above this checkout")
    found = ask(path)
    if sys.argv[1:] == ["--json"]:
        print(json.dumps(found))
        return
    print(*found["absent"], sep="\n")
    print(len(found["present"]), "present,", len(found["absent"]), "absent")


if __name__ == "__main__":
    main()

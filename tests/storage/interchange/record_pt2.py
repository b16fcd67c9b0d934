"""Records which op types leave as ``.pt2``: trials of rows of the op table.

    python -m tests.storage.interchange.record_pt2

No definition of an op tells whether torch.export can follow its kernel, so up to three rows of each
are tried.  docs/ops.md has a column of what is recorded, and ``test_op_rows`` tries again.
"""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from pathlib import Path

from tests.storage.interchange import test_op_rows as rows

FILE = Path(__file__).parent / "pt2_ops.json"
_ROWS = 3


def tried(folder: Path) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Op types by how many of their rows leave, and what else than a refusal rows ended with.

    Returns:
      The op types under "all", "some" and "none"; what is wrong, by row.
    """
    left: dict[str, list[bool]] = defaultdict(list)
    wrong: dict[str, str] = {}
    for case in rows.cases():
        if len(left[case.op]) == _ROWS:
            continue
        said = rows.outcome(case, "pt2", folder)
        left[case.op].append(not said)
        if said not in ("", "refused"):
            wrong[case.id] = said
    found: dict[str, list[str]] = {"all": [], "some": [], "none": []}
    for op, each in sorted(left.items()):
        found["all" if all(each) else "some" if any(each) else "none"].append(op)
    return found, wrong


def main() -> None:
    """Writes the file."""
    with tempfile.TemporaryDirectory() as folder:
        found, wrong = tried(Path(folder))
    FILE.write_text(json.dumps(found, indent=1) + "\n")
    print({kind: len(ops) for kind, ops in found.items()}, wrong)


if __name__ == "__main__":
    main()

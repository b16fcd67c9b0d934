"""Golden text: what a program or a graph looks like, kept in a file beside the test.

``PENSTOCK_UPDATE_GOLDEN=1`` writes the files anew instead of comparing; read the diff before you
commit it.
"""

from __future__ import annotations

import os
from pathlib import Path


def check(path: Path, text: str) -> None:
    """Compares ``text`` with the file, or writes the file when asked to."""
    if os.environ.get("PENSTOCK_UPDATE_GOLDEN"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return
    assert text == path.read_text(), f"{path.name} differs; PENSTOCK_UPDATE_GOLDEN=1 writes it anew"

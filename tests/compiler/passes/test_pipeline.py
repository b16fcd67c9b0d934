"""The list of passes, and that the map of the code shows it."""

from __future__ import annotations

import re
from pathlib import Path

from penstock.compiler.passes import pipeline
from penstock.engine.runtime.program import evaluate

MAP = Path(__file__).resolve().parents[3] / "docs" / "architecture.md"


def test_the_map_shows_every_pass_in_its_place() -> None:
    section = MAP.read_text().split("## The passes")[1].split("\n## ")[0]
    shown = re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert shown == [row.name for row in pipeline.passes(evaluate)]

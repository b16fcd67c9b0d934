"""The workshop's commands, run in this process."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from penstock.cli.main import app


def train(*words: object) -> Result:
    """Runs ``penstock train`` with these words."""
    return CliRunner().invoke(app, ["train", *map(str, words)])


def trained(*words: object) -> str:
    """Runs it to a good end; returns what it said."""
    done = train(*words)
    assert done.exit_code == 0, done.output
    return done.output


def result(folder: Path) -> dict[str, Any]:
    """What a run ended with."""
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


def shared(name: str) -> Path:
    """A folder or file of shared/data, in `PENSTOCK_DATA` or beside this checkout; else skips."""
    given = os.environ.get("PENSTOCK_DATA")
    folders = [Path(given)] if given else [
        folder / "shared" / "data" for folder in Path(__file__).resolve().parents
    ]  # fmt: skip
    for folder in folders:
        if (folder / name).exists():
            return folder / name
    pytest.skip(f"no shared/data/{name} above this checkout (or in $PENSTOCK_DATA)")

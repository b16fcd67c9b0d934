"""Where the signatures of TensorFlow 1.15 lie, for the tests that hold ours against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def load(name: str) -> dict[str, Any]:
    """The JSON file ``name`` of the specification; skips the calling tests where there is none."""
    found: dict[str, Any] = json.loads(path(name).read_text())
    return found


def path(name: str) -> Path:
    """The file ``name`` of the specification; skips the calling tests where there is none."""
    for folder in Path(__file__).resolve().parents:
        found = folder / "shared" / "spec" / name
        if found.is_file():
            return found
    pytest.skip(f"no shared/spec/{name} above this checkout", allow_module_level=True)

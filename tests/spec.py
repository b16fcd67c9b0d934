"""Where the signatures of TensorFlow 1.15 lie, for the tests that hold ours against them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


def load(name: str) -> dict[str, Any]:
    """The JSON file ``name`` of the specification; skips the calling tests where there is none."""
    for folder in Path(__file__).resolve().parents:
        path = folder / "shared" / "spec" / name
        if path.is_file():
            return json.loads(path.read_text())
    pytest.skip(f"no shared/spec/{name} above this checkout", allow_module_level=True)

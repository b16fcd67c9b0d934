"""The fixtures that ``make_expected.py`` wrote, and comparison with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

_HERE = Path(__file__).parent
VALUES: dict[str, Any] = json.loads((_HERE / "expected.json").read_text())
GRAPHS: dict[str, Any] = json.loads((_HERE / "expected_graphs.json").read_text())
STYLES = {"ref": False, "resource": True}


def assert_values(found: dict[str, Any], wanted: dict[str, Any], rtol: float = 2e-5) -> None:
    """Asserts that two sets of named values have the same names and are close."""
    assert sorted(found) == sorted(wanted)
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=rtol, atol=2e-6, err_msg=name)

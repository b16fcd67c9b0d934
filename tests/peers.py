"""The TensorFlows that tests compare with: where their interpreters are, and tests without them.

No other test spells these folders: one that counts its way to them itself, and wrongly, finds
nothing and skips.  TensorFlow 1.15's Python imports this module too, so it is one for Python 3.7.
"""

from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TF115 = ROOT / ".venv-tf115" / "bin" / "python"
PEERS = ROOT / ".venv-peers" / "bin" / "python"
PYTHON = {"tf1": TF115, "tf2": PEERS}
_MADE_BY = {TF115: "make tf115", PEERS: "make peers"}


def absence(python: Path = TF115) -> str:
    """Why tests that need an interpreter do not run; empty where it is there."""
    if python.exists():
        return ""
    return f"no {python.relative_to(ROOT).parts[0]}: `{_MADE_BY[python]}` makes it"


def needs(python: Path = TF115) -> None:
    """Skips the test that calls it, where this interpreter is not there."""
    import pytest

    reason = absence(python)
    if reason:
        pytest.skip(reason)


def needed(python: Path = TF115) -> Any:
    """The mark of tests that ``needs`` would skip."""
    import pytest

    reason = absence(python)
    return pytest.mark.skipif(bool(reason), reason=reason)

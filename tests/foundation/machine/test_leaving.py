"""What a program's end leaves behind for functions of ``atexit``."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import atexit, sys
from penstock.foundation.machine.leaving import ends_with
atexit.register(lambda: print(hasattr(sys, "last_value")))
raise ends_with(SystemExit({code}))
"""


@pytest.mark.parametrize(
    ("code", "status", "bad"),
    [("0", 0, False), ("None", 0, False), ("3", 3, True), ("'no'", 1, True)],
)
def test_a_bad_status_is_kept(code: str, status: int, bad: bool) -> None:
    words = [sys.executable, "-c", _PROGRAM.format(code=code)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (status, str(bad))

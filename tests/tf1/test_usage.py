"""How many of the symbols that public programs use are there; see ``usage``."""

from __future__ import annotations

import json

import pytest

from tests.tf1 import usage
from tests.tf1.processes import python

# What is there today; raise it when names are added.
FLOOR = 1224


@pytest.mark.long
def test_the_symbols_that_programs_use(capsys: pytest.CaptureFixture[str]) -> None:
    if usage.table() is None:
        pytest.skip(f"no {usage.TABLE} above this checkout")
    found = json.loads(python("-m", "tests.tf1.usage", "--json").stdout)
    present, absent = len(found["present"]), len(found["absent"])
    with capsys.disabled():
        print(f"\nsymbols that programs use: {present} of {present + absent}")
    assert present >= FLOOR

"""tensorflow-hub over Penstock: modules made, exported, loaded, fine-tuned, and as columns."""

from functools import cache
from typing import Any

import pytest

from tests.packages.alike import assert_alike
from tests.packages.packages import expected, package, run

pytestmark = pytest.mark.long
SCRIPT = "hub_modules.py"


@cache
def _answers() -> Any:
    return run(SCRIPT, "tensorflow-hub")


@pytest.mark.parametrize("part", sorted(expected(SCRIPT)))
def test_modules_are_as_under_tensorflow(part: str) -> None:
    package("tensorflow-hub")
    assert_alike(_answers()[part], expected(SCRIPT)[part], 2e-5, part)

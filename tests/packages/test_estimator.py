"""tensorflow-estimator 1.15.1 over Penstock: its own classes train, are asked and exported."""

from functools import cache
from typing import Any

import pytest

from tests.packages.alike import assert_alike
from tests.packages.packages import expected, package, run

pytestmark = pytest.mark.long
SCRIPT = "estimator_models.py"


@cache
def _answers() -> Any:
    return run(SCRIPT, "tensorflow-estimator")


@pytest.mark.parametrize("part", sorted(expected(SCRIPT)))
def test_estimators_are_as_under_tensorflow(part: str) -> None:
    """Losses of each step, variables, metrics, predictions, exports, and the names of all nodes."""
    package("tensorflow-estimator")
    assert_alike(_answers()[part], expected(SCRIPT)[part], 2e-5, part)

"""Keras 2.3.1 over Penstock: its models' values are those that it has over TensorFlow 1.15."""

from functools import cache
from typing import Any

import pytest

from tests.packages.alike import assert_alike
from tests.packages.packages import expected, package, run

pytestmark = pytest.mark.long
SCRIPT = "keras_models.py"


@cache
def _answers() -> Any:
    return run(SCRIPT, "keras")


@pytest.mark.parametrize("part", sorted(expected(SCRIPT)))
def test_models_are_as_under_tensorflow(part: str) -> None:
    """Weights, losses and metrics by step, names, files, logs and what callbacks saw."""
    package("keras")
    assert_alike(_answers()[part], expected(SCRIPT)[part], 2e-5, part)

"""Sonnet 1.36 over Penstock: names, outputs and gradients are those over TensorFlow 1.15."""

from functools import cache
from typing import Any

import pytest

from tests.packages.alike import assert_alike
from tests.packages.packages import expected, package, run

pytestmark = pytest.mark.long
SCRIPT = "sonnet_modules.py"


@cache
def _answers() -> Any:
    return run(SCRIPT, "dm-sonnet", "tensorflow-probability")


@pytest.mark.parametrize("name", sorted(expected(SCRIPT)))
def test_modules_are_as_under_tensorflow(name: str) -> None:
    """Convolutions, norms, embeddings, recurrent cores, nested modules, transposes, networks."""
    package("dm-sonnet", "tensorflow-probability")
    assert_alike(_answers()[name], expected(SCRIPT)[name], 2e-5, name)

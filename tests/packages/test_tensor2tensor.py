"""tensor2tensor 1.15.7 over Penstock: a transformer learns as it does over TensorFlow 1.15."""

from functools import cache
from typing import Any

import pytest

from tests.packages.packages import expected, package, run

SCRIPT = "t2t_reverse.py"
NEEDED = ("tensor2tensor", "tensorflow-probability", "tensorflow-hub", "tf-slim")
pytestmark = pytest.mark.long


@cache
def _answer() -> Any:
    package(*NEEDED)
    return run(SCRIPT, *NEEDED)


def test_variables_and_the_first_steps_are_tensorflows() -> None:
    found, wanted = _answer(), expected(SCRIPT)
    assert found["variables"] == wanted["variables"]
    assert found["losses"] == pytest.approx(wanted["losses"], rel=1e-5)
    assert found["gradients"] == pytest.approx(wanted["gradients"], rel=1e-4, abs=1e-6)


def test_it_learns_to_reverse_strings_and_decodes_them_by_beam() -> None:
    """Of 50 strings it has not seen; TensorFlow 1.15 reverses all."""
    found = _answer()
    assert found["last"] < 0.2
    assert found["reversed"] >= 48

"""docs/absences.md is what its generator makes, and gives a reason for every absence."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.generators import generator

PAGE: Any = generator("generate_absences_page")
SPEC = PAGE.find_spec()
if SPEC is None:
    pytest.skip("no shared/spec above this checkout", allow_module_level=True)


@pytest.fixture(scope="module")
def names() -> Any:
    return PAGE.Names(SPEC)


def test_the_page_is_current(names: Any) -> None:
    assert PAGE.PAGE.read_text() == PAGE.page(names), "run: python docs/generate_absences_page.py"


def test_every_absence_has_a_reason(names: Any) -> None:
    assert [n for n in [*names.used_absent, *names.public_absent] if names.why(n) is None] == []
    assert len(names.used_absent) < len(names.uses) / 5


def test_names_are_looked_up_as_programs_do(names: Any) -> None:
    """Older spellings and TensorFlow's paths are there, and what is nowhere is not."""
    front = PAGE.Front()
    for name in ("pack", "models.rnn.ptb.reader.ptb_raw_data", "python.ops.array_ops.concat"):
        assert PAGE._is_there(front, name)
    assert not PAGE._is_there(front, "nn.no_such_function")

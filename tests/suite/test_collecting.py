"""Leaving files out of what is collected leaves no test out."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.foundation.opdef.registry import all_ops
from tests.suite import collecting


@pytest.mark.parametrize(
    ("source", "long"),
    [
        ("pytestmark = pytest.mark.long\n", True),
        ("import pytest\n\npytestmark = [peers.needed(), pytest.mark.long]\n", True),
        ("pytestmark = [\n    pytest.mark.timeout(9),\n    pytest.mark.long,\n]\n", True),
        ("pytestmark = [peers.needed()]\n\n\n@pytest.mark.long\ndef test_it(): ...\n", False),
        ("pytestmark = pytest.mark.longer\n", False),
        ("    pytestmark = pytest.mark.long\n", False),
        ("# pytestmark = pytest.mark.long\n", False),
    ],
)
def test_what_is_all_long(source: str, long: bool) -> None:
    assert collecting.is_all_long(source) is long


def test_only_where_long_tests_are_not_asked_for(tmp_path: Path) -> None:
    module = tmp_path / "test_it.py"
    module.write_text("pytestmark = pytest.mark.long\n")
    assert collecting.is_left_out(module, "not long")
    assert not collecting.is_left_out(module, "long")
    assert not collecting.is_left_out(module, "")
    module.write_text("def test_it(): ...\n")
    assert not collecting.is_left_out(module, "not long")


def _examples() -> Iterator[str]:
    """The modules of Penstock that hold an example now, however its text came about."""
    all_ops()
    for name, module in list(sys.modules.items()):
        if not name.startswith("penstock.") or not getattr(module, "__file__", None):
            continue  # another's, or made by a program, without a file to collect
        members = [each for each in list(vars(module).values()) if _is_of(each, name)]
        if any(">>>" in (each.__doc__ or "") for each in [module, *members]):
            yield name


def _is_of(member: object, module: str) -> bool:
    kinds = inspect.isfunction(member) or inspect.isclass(member)
    return kinds and getattr(member, "__module__", None) == module


def test_doctests_are_looked_for_wherever_there_are_some() -> None:
    found = list(_examples())
    assert "penstock.ops.math.comparison" in found  # made of templates
    files = {name: Path(str(sys.modules[name].__file__)) for name in found}
    missed = {
        name
        for name, file in files.items()
        if not collecting.may_hold_doctests(file.read_text(encoding="utf-8"))
    }
    assert not missed

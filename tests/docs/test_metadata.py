"""What the package says of itself is what the pages say, and what is there."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "installation.md").read_text()


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        found: dict[str, Any] = tomllib.load(file)["project"]
    return found


def _names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=\[ ]", each)[0].lower() for each in requirements}


def test_extras_bring_what_the_page_says(project: dict[str, Any]) -> None:
    rows = dict(re.findall(r"^\| `penstock\[(\w+)\]` \| ([^|]*) \|", PAGE, re.MULTILINE))
    extras = project["optional-dependencies"]
    assert set(rows) == set(extras)
    for extra in set(extras) - {"dev"}:
        assert _names(extras[extra]) == set(rows[extra].split(", ")), extra


def test_pages_name_extras_that_there_are(project: dict[str, Any]) -> None:
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        named = set(re.findall(r"penstock\[(\w+)", page.read_text()))
        assert named <= set(project["optional-dependencies"]), page.name


def test_pythons_are_those_of_the_page(project: dict[str, Any]) -> None:
    told = {c.rpartition(" ")[2] for c in project["classifiers"] if "Python :: 3." in c}
    assert told == set(re.findall(r"^\| (3\.\d+) \|", PAGE, re.MULTILINE))


def test_the_readme_can_be_read_elsewhere() -> None:
    """Pictures of a README on an index are asked of the index: there must be none by a path."""
    assert not re.findall(r"!\[[^\]]*\]\((?!https)", (ROOT / "README.md").read_text())


def test_the_installed_package_is_this_one(project: dict[str, Any]) -> None:
    assert importlib.metadata.metadata("penstock")["Version"] == project["version"]

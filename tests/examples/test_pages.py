"""The pages of docs/: each is in the index, and what they point to is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
TEXTS = [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
# A file of the repository, by its path from the root or from the package.
FILE = re.compile(r"`((?:[a-z_]+/)+[a-z_0-9]+\.py)`")


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_index_names_every_page() -> None:
    named = set(re.findall(r"\]\(([a-z-]+\.md)\)", (ROOT / "docs" / "index.md").read_text()))
    assert named == {page.name for page in PAGES} - {"index.md"}


@pytest.mark.parametrize("path", TEXTS, ids=_name)
def test_links_lead_to_files(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text()):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", TEXTS, ids=_name)
def test_files_that_are_named_are_there(path: Path) -> None:
    for name in FILE.findall(path.read_text()):
        places = ROOT / name, ROOT / "penstock" / name, ROOT / "examples" / name
        assert any(place.exists() for place in places), name

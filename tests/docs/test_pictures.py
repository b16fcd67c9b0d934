"""The pictures of the pages are those of the graphs that the pages build."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def draw_pictures(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DOCS))
    return pytest.importorskip("draw_pictures")


def test_pictures_are_current(draw_pictures: Any, tmp_path: Path) -> None:
    draw_pictures.draw(tmp_path)
    page = (DOCS / "ideas.md").read_text()
    for name in draw_pictures.PICTURES:
        text = (DOCS / f"{name}.svg").read_text()
        assert text == (tmp_path / f"{name}.svg").read_text(), "python docs/draw_pictures.py"
        assert f"]({name}.svg)" in page
        assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"

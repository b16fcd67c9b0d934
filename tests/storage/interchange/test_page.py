"""The blocks of docs/exporting.md run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "exporting.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    monkeypatch.chdir(tmp_path)
    blocks = "\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S))
    found = doctest.DocTestParser().get_doctest(blocks, {}, PAGE.name, str(PAGE), 0)
    said: list[str] = []
    result = doctest.DocTestRunner(optionflags=FLAGS).run(found, out=said.append)
    assert result.attempted > 20 and not result.failed, "".join(said)

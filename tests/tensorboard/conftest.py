"""One demo run, one TensorBoard on it and one browser for every test of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tensorboard.board import Board, chromium, find_chromium
from tests.tensorboard.pages import Pages

ROOT = Path(__file__).resolve().parents[2]
STEPS = 200
FILE_NAME = str.maketrans({"[": "-", "]": None, " ": "-"})


@pytest.fixture(scope="session")
def logdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a short ``make demo`` leaves."""
    folder = tmp_path_factory.mktemp("demo") / "digits"
    command = [sys.executable, "examples/digits.py", "--steps", str(STEPS), "--out", str(folder)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


@pytest.fixture(scope="session")
def board(logdir: Path) -> Iterator[Board]:
    board = Board(logdir)
    try:
        yield board
    finally:
        board.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    executable = find_chromium()
    if executable is None:
        pytest.skip("no chromium, chromium-browser or google-chrome on the path")
    with chromium(executable) as browser:
        yield browser


@pytest.fixture
def pages(browser: Any, board: Board, request: pytest.FixtureRequest) -> Iterator[Pages]:
    """A fresh page; a picture of how it ended is kept, also where the test fails."""
    artefacts = Path(os.environ.get("PENSTOCK_ARTEFACTS", ROOT / "runs" / "tensorboard-test"))
    pages = Pages(browser, board.url, artefacts)
    try:
        yield pages
    finally:
        name = request.node.name.removeprefix("test_").translate(FILE_NAME)
        pages.picture(name.lower())
        pages.close()

"""The notebooks: kept without outputs, and run from their first cell to their last."""

from __future__ import annotations

from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "examples" / "notebooks").glob("*.ipynb"))
nbformat = pytest.importorskip("nbformat")


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["mnist", "starters", "word2vec"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    for cell in book.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [] and cell.execution_count is None


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    for package in ("matplotlib", "sklearn"):
        pytest.importorskip(package)
    book = nbformat.read(path, as_version=4)
    root = path.parents[2]
    client = nbclient.NotebookClient(
        book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(root)}}
    )
    client.execute()
    shown = {
        kind
        for cell in book.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        for kind in output.get("data", {})
    }
    # Pictures stand in place: of the graph, or drawn by matplotlib.
    assert shown & {"image/png", "text/html"}, shown

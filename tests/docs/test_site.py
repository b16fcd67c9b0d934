"""The site: its pages, its reference made of docstrings, its search."""

from __future__ import annotations

import functools
import http.server
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.tensorboard.board import chromium, find_chromium

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return pytest.importorskip("reference")


@pytest.fixture
def build_site(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    pytest.importorskip("mkdocs", reason="mkdocs-material makes the site")
    return pytest.importorskip("build_site")


def test_docstrings_become_markdown(reference: Any) -> None:
    doc = (
        "What it does, with ``code``.\n\nArgs:\n  x: a tensor\n    of any shape.\n"
        "  *rest: more.\n\n"
        "Returns:\n  Another.\n\nExample:\n  >>> 1 + 1\n  2\n\nSource: a paper.\n"
    )
    assert reference.markdown(doc).split("\n") == [
        "What it does, with `code`.", "", "", "**Args**", "", "- `x`: a tensor",
        "    of any shape.", "- `*rest`: more.", "", "", "**Returns**", "", "Another.", "", "",
        "**Example**", "", "", "```pycon", ">>> 1 + 1", "2", "```", "", "",
        "Source: a paper.",
    ]  # fmt: skip


def test_arguments_are_as_they_are_written(reference: Any) -> None:
    def function(x: Any, y: str = "a", *, z: Any = None, w: int | None = None) -> tf.Tensor:
        raise NotImplementedError

    expected = "(x, y: str = 'a', *, z=None, w: int | None = None) -> tf.Tensor"
    assert reference._arguments(function) == expected


def test_namespaces_are_tensorflows(reference: Any) -> None:
    names = [name for name, _ in reference.namespaces()]
    assert len(names) == len(set(names)) and {"tf", "tf.nn", "tf.train", "tf.keras.layers"} < {
        *names
    }
    assert not [name for name in names if name.endswith((".np", ".os", ".python", ".logging.io"))]


def test_links_lead_somewhere(
    build_site: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(build_site, "PAGES", tmp_path / "pages")
    pages = build_site.gather()
    assert {"index.md", "pages.md", "serving.md", "benchmarks.md"} <= set(pages)
    assert "(serving.md)" in (tmp_path / "pages" / "index.md").read_text()
    assert "(index.md)" in (tmp_path / "pages" / "pages.md").read_text()
    listed = [
        p for part in build_site.navigation(pages, {}) for some in part.values() for p in some
    ]
    assert sorted(listed) == sorted(pages)
    with pytest.raises(ValueError, match=r"README\.md: the link to docs/none\.md leads nowhere"):
        build_site._LINK.sub(
            lambda m: build_site._moved(m, "README.md", {}), "[a](docs/none.md)"
        )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, made and served."""
    pytest.importorskip("mkdocs", reason="mkdocs-material makes the site")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "build_site.py"), str(folder)],
        capture_output=True, text=True, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == 0 and "WARNING" not in done.stderr, done.stderr[-3000:]
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.long
def test_people_find_their_way(site: str) -> None:
    browser = find_chromium()
    if browser is None:
        pytest.skip("no Chromium: `make browser` installs it")
    pytest.importorskip("playwright")
    with chromium(browser) as shown:
        for width in (1280, 390):
            page = shown.new_page(viewport={"width": width, "height": 844})
            for name in ("index.html", "walkthrough.html", "api/tf-nn.html"):
                page.goto(f"{site}/{name}")
                assert page.evaluate("document.documentElement.scrollWidth") <= width
        page = shown.new_page(viewport={"width": 1280, "height": 844})
        page.goto(f"{site}/index.html")
        page.locator(".md-search__input").click()
        page.keyboard.type("sparse_softmax_cross", delay=20)
        result = page.locator(".md-search-result__link").first
        result.wait_for(timeout=60_000)
        found = [a.get_attribute("href") for a in page.locator(".md-search-result__link").all()]
        assert any("api/tf-nn.html" in str(link) for link in found), found

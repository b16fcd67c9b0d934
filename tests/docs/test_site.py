"""The site: its pages, its reference made of docstrings, its search."""

from __future__ import annotations

import functools
import html.parser
import http.server
import os
import subprocess
import sys
import threading
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

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


class Site(NamedTuple):
    """Where its files are, and its address."""

    folder: Path
    url: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site, made and served."""
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
        yield Site(folder, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()


class _Links(html.parser.HTMLParser):
    """What a page leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found |= {value for name, value in attrs if name == "href" and value}


def _leads_to(address: str) -> set[str]:
    """The pages of the site that a page leads to, without what stands behind ``#``."""
    with urllib.request.urlopen(address, timeout=60) as response:
        links = _Links()
        links.feed(response.read().decode())
    joined = {urllib.parse.urljoin(address, link).partition("#")[0] for link in links.found}
    return {each for each in joined if each.startswith(address.split("/", 3)[0] + "//127.0.0.1")}


@pytest.mark.long
def test_every_page_is_led_to(site: Site) -> None:
    seen: set[str] = set()
    waiting = [f"{site.url}/index.html"]
    while waiting:
        page = waiting.pop()
        if page not in seen and page.endswith(".html"):
            seen.add(page)
            waiting += _leads_to(page)
    made = {f"{site.url}/{p.relative_to(site.folder)}" for p in site.folder.rglob("*.html")}
    assert made - seen == {f"{site.url}/404.html"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    found = find_chromium()
    if found is None:
        pytest.skip("no Chromium: `make browser` installs it")
    pytest.importorskip("playwright")
    with chromium(found) as shown:
        yield shown


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 390], ids=["desktop", "phone"])
def test_pages_fit(site: Site, browser: Any, width: int, tmp_path: Path) -> None:
    pictures = Path(os.environ.get("PENSTOCK_ARTEFACTS") or tmp_path)
    page = browser.new_page(viewport={"width": width, "height": 844})
    answers: list[tuple[int, str]] = []
    page.on("response", lambda answer: answers.append((answer.status, answer.url)))
    # The index of the search is large, and is not what is looked at here.
    page.route("**/search_index.json", lambda route: route.fulfill(body='{"docs": []}'))
    for path in sorted([*site.folder.glob("*.html"), site.folder / "api" / "tf-nn.html"]):
        page.goto(f"{site.url}/{path.relative_to(site.folder)}")
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{path.name} is {wide} wide"
        blank = page.evaluate(
            "[...document.images].filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
        )
        assert blank == [], path.name
        if path.stem in ("index", "ideas", "differences", "tf-nn"):
            page.screenshot(path=pictures / f"site-{path.stem}-{width}.png")
    # Nothing is missing, and nothing of another host is asked for.
    assert answers and not [a for a in answers if a[0] >= 400 or not a[1].startswith(site.url)]


@pytest.mark.long
@pytest.mark.parametrize(
    "asked, wanted",
    [
        ("sparse_softmax_cross", "api/tf-nn.html"),
        ("start_queue_runners", "input.html"),
        ("first NaN", "debugging.html"),
    ],
)
def test_search_finds(site: Site, browser: Any, asked: str, wanted: str) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 844})
    page.goto(f"{site.url}/index.html")
    page.locator(".md-search__input").click()
    page.keyboard.type(asked, delay=20)
    page.locator(".md-search-result__link").first.wait_for(timeout=60_000)
    found = [a.get_attribute("href") for a in page.locator(".md-search-result__link").all()]
    assert any(wanted in str(link) for link in found), found

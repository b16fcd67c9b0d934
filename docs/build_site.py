"""Makes the site: these pages, and every public name from its docstring: ``make docs``.

    python docs/build_site.py [FOLDER]      default: build/site

The pages are gathered below ``build/pages`` (README is the first one, links between them go where
they then lie), the reference is written beside them, and MkDocs makes the site. A warning, a link
that leads nowhere or a page without a way to it is an error.
"""

from __future__ import annotations

import logging
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from mkdocs.commands.build import build
from mkdocs.config import load_config

sys.path.insert(0, str(Path(__file__).resolve().parent))
import reference

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "build" / "pages"
# Pages that lie elsewhere or are called otherwise in the site.
_MOVED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "benchmarks/README.md": "benchmarks.md",
    "docs/index.md": "pages.md",
}
_REPOSITORY_ONLY = {"LICENSE"}
# The order of the site; what is not here comes under "More".
_PARTS = {
    "Start": [
        "index.md", "start.md", "workshop.md", "installation.md", "migration.md",
        "running-programs.md", "packages.md", "faq.md", "changelog.md", "pages.md",
    ],
    "Ideas": [
        "ideas.md", "walkthrough.md", "architecture.md", "control-flow.md", "devices.md",
        "native.md",
    ],
    "Models": [
        "input.md", "recurrent.md", "debugging.md", "checkpoints.md", "exporting.md",
        "serving.md", "tensorboard.md",
    ],
    "Clusters": [
        "distributed.md", "cluster.md", "front-ends.md", "simulate.md", "security.md",
    ],
    "Using it": ["command-line.md", "environment.md", "performance.md", "benchmarks.md"],
    "TensorFlow 1.15": ["differences.md", "ops.md", "absences.md", "behaviours.md"],
    "Working on it": ["contributing.md", "writing-an-op.md"],
}  # fmt: skip
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")


def gather() -> list[str]:
    """Copies the pages to where MkDocs looks; returns their names.

    Raises:
      ValueError: a link leads nowhere.
    """
    shutil.rmtree(PAGES, ignore_errors=True)
    PAGES.mkdir(parents=True)
    sources = [
        *(path for path in _MOVED),
        *(f"docs/{p.name}" for p in (ROOT / "docs").glob("*.md")),
    ]
    names = {source: _MOVED.get(source, Path(source).name) for source in dict.fromkeys(sources)}
    for source, name in names.items():
        text = (ROOT / source).read_text()
        (PAGES / name).write_text(_LINK.sub(lambda m, s=source: _moved(m, s, names), text))
    for picture in (ROOT / "docs").glob("*.svg"):
        shutil.copy(picture, PAGES / picture.name)
    return list(names.values())


def _moved(match: re.Match[str], source: str, names: dict[str, str]) -> str:
    """A link of a page, to where what it names lies in the site."""
    path = ((ROOT / source).parent / match[2]).resolve()
    if not path.exists():
        raise ValueError(f"{source}: the link to {match[2]} leads nowhere")
    inside = path.relative_to(ROOT).as_posix()
    if inside in _REPOSITORY_ONLY:
        return f"{match[1]}pages.md)"
    return f"{match[1]}{names.get(inside, path.name)}{match[3]}"


def navigation(pages: list[str], api: dict[str, str]) -> list[dict[str, Any]]:
    """MkDocs' list of parts with their pages."""
    listed = {page for part in _PARTS.values() for page in part}
    parts: list[dict[str, Any]] = [{name: list(some)} for name, some in _PARTS.items()]
    more = sorted(set(pages) - listed)
    if more:
        parts.append({"More": more})
    parts.append({"Reference": [{title: page} for title, page in api.items()]})
    return parts


def make(site: Path) -> None:
    """Makes the site in a folder."""
    pages = gather()
    api = reference.write(PAGES / "api")
    config = load_config(
        str(ROOT / "docs" / "site.yml"), docs_dir=str(PAGES), site_dir=str(site), strict=True,
        nav=navigation(pages, {title: f"api/{page}" for title, page in api.items()}),
    )  # fmt: skip
    logging.getLogger("mkdocs").setLevel(logging.WARNING)
    build(config)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site"
    make(target)
    print(f"{target}/index.html")

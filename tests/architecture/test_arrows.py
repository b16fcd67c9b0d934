"""The import arrows of docs/architecture.md, held over every module of the package."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.architecture import modules

PACKAGE = modules.PACKAGE


def _rows(title: str) -> Iterator[list[str]]:
    """The cells of the rows of the map's tables whose heading begins so."""
    page = (PACKAGE.parent / "docs" / "architecture.md").read_text()
    table = page.split(f"| {title} |", 1)[1].split("\n\n", 1)[0]
    for line in table.splitlines()[2:]:
        yield [cell.strip() for cell in line.split("|")[1:-1]]


# The wings, from the ground floor up.
WINGS = [name.strip("*") for name, _ in _rows("wing")]
# Room to the rooms and third-party packages it may import, besides `base` and the standard library.
ALLOWED = {
    room.strip("`"): set(re.findall(r"`(\w+)`", arrows))
    for room, _, arrows in _rows("room")
    if room.startswith("`") and not room.endswith(".py`")
}
# Where torch may be imported only inside a function: graph-only tools start without it.
LAZY_TORCH = {"opdef"}


def _modules() -> list[Path]:
    inside = (p for p in sorted(PACKAGE.rglob("*.py")) if p.parent != PACKAGE)
    return [p for p in inside if p.parent.parent != PACKAGE or p.name != "__init__.py"]


def _room(parts: Sequence[str]) -> str:
    """The room of a module: the folder below its wing; `ops` is a wing and a room."""
    return parts[1] if len(parts) > 1 and parts[0] in WINGS and parts[0] != "ops" else parts[0]


def _floor(folder: str) -> int:
    return WINGS.index(folder) if folder in WINGS else len(WINGS)


def _against_the_arrows(path: Path) -> Iterator[str]:
    room = _room(path.relative_to(PACKAGE).with_suffix("").parts)
    if room not in ALLOWED:
        yield f"{path}: {room!r} is not in the map, docs/architecture.md; add it and its arrows"
        return
    allowed = ALLOWED[room] | {"base", room}
    for module, in_function in modules.imports(modules.name_of(path)):
        parts = module.split(".")
        if parts[0] == "penstock":
            if len(parts) > 1 and _room(parts[1:]) not in allowed:
                yield f"{path}: {room} may not import {module}"
        elif parts[0] not in sys.stdlib_module_names:
            if parts[0] not in allowed:
                yield f"{path}: {room} may not import {module}"
            elif parts[0] == "torch" and room in LAZY_TORCH and not in_function:
                yield f"{path}: {room} must import torch lazily"


def test_imports_follow_the_arrows() -> None:
    against = [line for path in _modules() for line in _against_the_arrows(path)]
    assert not against, "\n".join(against)


def test_the_map_has_every_room() -> None:
    rooms = {
        _room(path.parent.relative_to(PACKAGE).parts)
        for path in PACKAGE.rglob("__init__.py")
        if path.parent != PACKAGE and path.parent.name not in set(WINGS) - {"ops"}
    }
    assert rooms == set(ALLOWED)


def test_arrows_between_wings_point_down() -> None:
    floors = [*WINGS, "on top"]
    for path in _modules():
        here = _floor(path.relative_to(PACKAGE).parts[0])
        for module, _ in modules.imports(modules.name_of(path)):
            package, _, rest = module.partition(".")
            if package == "penstock" and rest:
                there = _floor(rest.split(".")[0])
                assert there <= here, f"{floors[here]} may not import {module}: {path}"


def test_no_file_outgrows_its_reader() -> None:
    long = {
        str(p.relative_to(PACKAGE)): n
        for p in PACKAGE.rglob("*.py")
        if (n := len(p.read_text().splitlines())) > 620 and p.name != "__init__.py"
    }
    assert not long, f"split these files: {long}"


def test_no_room_of_odds_and_ends() -> None:
    forbidden = {"utils", "util", "helpers", "common", "core", "misc"}
    # What is below ``python`` has the paths under which TensorFlow 1.x programs import it.
    found = [p for p in PACKAGE.rglob("*") if p.relative_to(PACKAGE).parts[0] != "python"]
    # TensorFlow's names, too
    theirs = PACKAGE / "contrib" / "util", PACKAGE / "api" / "keras" / "utils.py"
    found = [p for p in found if p not in theirs]
    bad = [str(p) for p in found if p.stem in forbidden]
    assert not bad


def test_graph_rooms_start_without_torch() -> None:
    code = (
        "import sys\n"
        "import penstock.foundation.graph.build, penstock.foundation.graph.graphdef\n"
        "import penstock.compiler.passes.pipeline, penstock.compiler.codegen.emit\n"
        "import penstock.compiler.placement.place, penstock.foundation.machine.hardware\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

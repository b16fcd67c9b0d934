"""The import arrows of docs/architecture.md, held over every module of the package."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture import modules

PACKAGE = modules.PACKAGE

# Room to the rooms and third-party packages it may import, besides `base` and the standard library.
ALLOWED = {
    "base": {"numpy", "ml_dtypes", "tensorboard"},
    "formats": {"numpy", "ml_dtypes", "tensorboard", "google", "crc32c", "fsspec"},
    "opdef": {"numpy", "torch"},
    "graph": {"numpy", "tensorboard", "opdef", "formats"},
    "resources": {"torch", "numpy", "machine"},
    "ops": {
        "numpy", "torch", "PIL", "simplejpeg", "re2", "farmhash", "siphashc", "machine", "opdef",
        "graph", "resources", "formats",
    },
    "control_flow": {"numpy", "opdef", "graph", "ops", "variables", "formats"},
    "recurrent": {"numpy", "opdef", "graph", "ops", "variables", "control_flow"},
    "autodiff": {"numpy", "opdef", "graph", "ops", "control_flow"},
    "variables": {"numpy", "tensorboard", "opdef", "graph", "ops"},
    "ragged_tensors": {"numpy", "opdef", "graph", "ops"},
    "immediate": {"numpy", "graph", "ops", "autodiff", "session"},
    "nn": {"numpy", "opdef", "graph", "ops", "autodiff", "recurrent"},
    "image": {"numpy", "opdef", "graph", "ops", "control_flow", "nn"},
    "signal": {"opdef", "graph", "ops", "control_flow"},
    "linear_operators": {"numpy", "opdef", "graph", "ops", "variables"},
    "data": {
        "numpy", "opdef", "graph", "ops", "variables", "formats", "summary", "checkpoint",
        "control_flow",
    },
    "export": {"numpy", "tensorboard", "google", "opdef", "graph", "formats"},
    "summary": {"numpy", "tensorboard", "google", "graph", "formats"},
    "checkpoint": {
        "numpy", "tensorboard", "google", "opdef", "graph", "ops", "variables", "formats", "export",
    },
    "saved_model": {
        "tensorboard", "google", "graph", "ops", "variables", "formats", "export", "checkpoint",
    },
    "passes": {"numpy", "opdef", "graph"},
    "placement": {"graph", "opdef"},
    "codegen": {"numpy", "opdef", "graph"},
    "runtime": {
        "numpy", "ml_dtypes", "torch", "machine", "opdef", "graph", "resources", "codegen",
    },
    "session": {
        "numpy", "ml_dtypes", "torch", "tensorboard", "graph", "resources", "passes", "placement",
        "partition", "codegen", "runtime",
    },
    "profiler": {"numpy", "tensorboard", "graph", "formats"},
    "debug": {
        "numpy", "ml_dtypes", "torch", "graph", "ops", "formats", "codegen", "runtime", "session",
    },
    "machine": set(),
    "cli": {
        "checkpoint", "export", "formats", "google", "graph", "launch", "machine", "numpy", "opdef",
        "ops", "passes", "profiler", "rich", "runtime", "session", "simulate", "tensorboard",
        "torch", "typer",
    },
    "train": {
        "autodiff", "checkpoint", "control_flow", "data", "distribute", "distributed", "export",
        "formats", "graph", "monitored", "ops", "summary", "variables",
    },
    "api": {
        "autodiff", "checkpoint", "control_flow", "data", "debug", "export", "formats", "graph",
        "linear_operators", "nn", "ops", "platform",
        "ragged_tensors", "signal", "variables",
    },
    "contrib": {
        "control_flow", "data", "distribute", "distributed", "estimator", "graph", "monitored",
        "nn", "numpy", "opdef", "ops", "recurrent", "session", "signal", "summary", "train",
        "variables",
    },
    "compat": {"platform"},
    "python": {
        "control_flow", "data", "debug", "formats", "graph", "monitored", "ops", "platform",
        "profiler", "recurrent", "testing",
    },
    "distribute": {
        "autodiff", "checkpoint", "data", "graph", "ops", "resources", "torch", "variables",
    },
    "distributed": {
        "codegen", "formats", "google", "graph", "grpc", "numpy", "opdef", "partition",
        "placement", "resources", "runtime", "session", "tensorboard", "torch",
    },
    "estimator": {"distributed", "monitored", "session"},
    "launch": {"ray", "yaml"},
    "monitored": {
        "checkpoint", "control_flow", "data", "debug", "export", "formats", "graph", "numpy", "ops",
        "profiler", "session", "summary", "variables",
    },
    "partition": {"formats", "graph", "numpy", "opdef", "passes", "tensorboard"},
    "platform": {"absl", "numpy", "torch"},
    "simulate": {"numpy"},
    "testing": {
        "absl", "autodiff", "distributed", "formats", "google", "graph", "launch", "numpy", "ops",
        "platform", "profiler", "session", "tensorboard", "torch",
    },
    "models": {"numpy", "typer"},
}  # fmt: skip
# Where torch may be imported only inside a function: graph-only tools start without it.
LAZY_TORCH = {"opdef"}


def _modules() -> list[Path]:
    return [p for p in sorted(PACKAGE.rglob("*.py")) if p.parent != PACKAGE]


@pytest.mark.parametrize("path", _modules(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_follow_the_arrows(path: Path) -> None:
    import sys

    room = path.relative_to(PACKAGE).parts[0]
    if room not in ALLOWED:
        pytest.fail(f"room {room!r} is not in the table of arrows; add it with its arrows")
    allowed = ALLOWED[room] | {"base", room}
    for module, in_function in modules.imports(modules.name_of(path)):
        parts = module.split(".")
        if parts[0] == "penstock":
            if len(parts) == 1:
                continue
            assert parts[1] in allowed, f"{room} may not import {module}"
        elif parts[0] not in sys.stdlib_module_names:
            assert parts[0] in allowed, f"{room} may not import {module}"
            if parts[0] == "torch" and room in LAZY_TORCH:
                assert in_function, f"{room} must import torch lazily"


def test_the_map_shows_these_arrows() -> None:
    page = PACKAGE.parent / "docs" / "architecture.md"
    rows = [line.split("|")[1:4] for line in page.read_text().splitlines() if line[:3] == "| `"]
    shown = {room.strip(" `"): set(re.findall(r"`(\w+)`", arrows)) for room, _, arrows in rows}
    shown = {room: arrows for room, arrows in shown.items() if (PACKAGE / room).is_dir()}
    assert shown == ALLOWED
    assert set(ALLOWED) == {p.parent.name for p in PACKAGE.glob("*/__init__.py")}


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
    bad = [str(p) for p in found if p.stem in forbidden]
    assert not bad


def test_graph_rooms_start_without_torch() -> None:
    import subprocess
    import sys

    code = (
        "import sys\n"
        "import penstock.graph.build, penstock.graph.graphdef, penstock.passes.pipeline\n"
        "import penstock.codegen.emit, penstock.placement.placer, penstock.machine.hardware\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)

"""The demo's run folder: what makes a run this run, and whether it may go on.

A folder holds ``settings.json`` (written first: what must not change from one session to the
next), the checkpoints, TensorBoard's two runs, and ``metrics.json`` and ``program.py.txt``. Files
are replaced whole, so a kill leaves the old one or the new one.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

PARTIAL = ".partial"


@dataclass(frozen=True)
class Settings:
    """What a run's steps follow from, besides their number."""

    data: str
    batch_size: int
    learning_rate: float
    seed: int


@dataclass(frozen=True)
class Metrics:
    """What a run ends with, as ``metrics.json`` holds it."""

    data: str
    train_images: int
    test_images: int
    steps: int
    resumed_from: int
    batch_size: int
    learning_rate: float
    seed: int
    final_loss: float
    test_loss: float
    test_accuracy: float
    train_seconds: float
    steps_per_second: float


def open_run(folder: Path, settings: Settings, fresh: bool) -> None:
    """Makes the run's folder, or makes sure that the one there is a run of these settings.

    With `fresh`, a run that is there is kept under another name.
    """
    kept = folder / "settings.json"
    if fresh and kept.exists():
        folder.rename(free_name(folder))
    if not kept.exists():
        if folder.exists() and any(p.suffix != PARTIAL for p in folder.iterdir()):
            message = f"{folder} holds other things than a run of this demo"
            raise typer.BadParameter(message, param_hint="--out")
        folder.mkdir(parents=True, exist_ok=True)
        write_json(kept, settings)
        return
    earlier = json.loads(kept.read_text())
    changed = [name for name, value in asdict(settings).items() if earlier.get(name) != value]
    if changed:
        was = ", ".join(f"{name.replace('_', ' ')} {earlier.get(name)}" for name in changed)
        message = f"the run in {folder} has {was}: give the same, or --fresh, or another --out"
        name = "data_dir" if changed[0] == "data" else changed[0]
        raise typer.BadParameter(message, param_hint="--" + name.replace("_", "-"))


def free_name(folder: Path) -> Path:
    """A name beside `folder` that is not taken: its own, the time, and a number if need be."""
    stem = folder.with_name(folder.name + time.strftime("-%Y%m%d-%H%M%S"))
    name, again = stem, 1
    while name.exists():
        again += 1
        name = stem.with_name(f"{stem.name}-{again}")
    return name


def write_json(path: Path, record: Any) -> None:
    """Writes a dataclass as JSON."""
    write_text(path, json.dumps(asdict(record), indent=2))


def write_text(path: Path, text: str) -> None:
    """Writes beside `path` and renames, so that `path` is never half a file."""
    partial = path.with_name(path.name + PARTIAL)
    partial.write_text(text.rstrip("\n") + "\n")
    os.replace(partial, path)

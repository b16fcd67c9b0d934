"""A training run's folder: what makes a run this run, and whether it may go on.

A folder holds ``settings.json`` (written first: what must not change from one session to the
next), checkpoints, TensorBoard's logs and what a run ends with. Files are replaced whole, so a kill
leaves the old one or the new one.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import typer

PARTIAL = ".partial"


def open_run(
    folder: Path,
    settings: Any,
    fresh: bool,
    option: str = "--out",
    said: Mapping[str, str] | None = None,
) -> None:
    """Makes the run's folder, or makes sure that the one there is a run of these settings.

    Args:
      folder: the run's.
      settings: a dataclass or a dictionary, what the run's steps follow from.
      fresh: keep a run that is there under another name, and begin anew.
      option: the command's option that names the folder.
      said: the options that settings were given by, where they are not called so.
    """
    kept = folder / "settings.json"
    if fresh and kept.exists():
        folder.rename(free_name(folder))
    if not kept.exists():
        if folder.exists() and any(p.suffix != PARTIAL for p in folder.iterdir()):
            message = f"{folder} holds other things than a run"
            raise typer.BadParameter(message, param_hint=option)
        folder.mkdir(parents=True, exist_ok=True)
        write_json(kept, settings)
        return
    earlier = json.loads(kept.read_text())
    changed = [name for name, value in record(settings).items() if earlier.get(name) != value]
    if changed:
        was = ", ".join(f"{name.replace('_', ' ')} {earlier.get(name)}" for name in changed)
        message = f"the run in {folder} has {was}: give the same, or --fresh, or another {option}"
        name = (said or {}).get(changed[0], changed[0])
        raise typer.BadParameter(message, param_hint="--" + name.replace("_", "-"))


def free_name(folder: Path) -> Path:
    """A name beside `folder` that is not taken: its own, the time, and a number if need be."""
    stem = folder.with_name(folder.name + time.strftime("-%Y%m%d-%H%M%S"))
    name, again = stem, 1
    while name.exists():
        again += 1
        name = stem.with_name(f"{stem.name}-{again}")
    return name


def record(values: Any) -> dict[str, Any]:
    """A dataclass, or a mapping, as JSON gives it back."""
    made = asdict(values) if is_dataclass(values) and not isinstance(values, type) else values
    back: dict[str, Any] = json.loads(json.dumps(made))
    return back


def write_json(path: Path, values: Any) -> None:
    """Writes a dataclass or a mapping as JSON."""
    write_text(path, json.dumps(record(values), indent=2))


def write_text(path: Path, text: str) -> None:
    """Writes beside `path` and renames, so that `path` is never half a file."""
    partial = path.with_name(path.name + PARTIAL)
    partial.write_text(text.rstrip("\n") + "\n")
    os.replace(partial, path)

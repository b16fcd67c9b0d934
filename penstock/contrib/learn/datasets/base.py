"""What the data sets share: their parts, and where their files are looked for."""

from __future__ import annotations

import os
import shutil
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

from penstock.foundation.formats.files import temporary
from penstock.foundation.machine import cache

_PATIENCE = 30.0  # seconds that a server may be silent


class Dataset(NamedTuple):
    """Examples and what they are."""

    data: Any
    target: Any


class Datasets(NamedTuple):
    """The parts of a data set."""

    train: Any
    validation: Any
    test: Any


def cached(name: str) -> Path | None:
    """The folder of a data set in the user's cache; None where nothing is cached."""
    folder = cache.folder()
    return None if folder is None else folder / "datasets" / name


def find(names: list[str], folders: list[Path], source_url: str, download_to: Path) -> list[Path]:
    """The files of a data set, downloaded where they are in none of the folders.

    Args:
      names: of the files; one that ends in ``.gz`` may lie there without it.
      folders: where they are looked for, in order.
      source_url: where the missing ones are downloaded from.
      download_to: the folder that they are written to.

    Raises:
      FileNotFoundError: if one is missing and cannot be downloaded; says which files to put where.
    """
    found = {name: _first(name, folders) for name in names}
    missing = [name for name, path in found.items() if path is None]
    try:
        for name in missing:
            found[name] = _download(source_url + name, download_to / name)
    except OSError as error:
        places = " or ".join(map(str, folders))
        raise FileNotFoundError(
            f"no {', '.join(missing)} in {places}, and {source_url} cannot be reached ({error});"
            f" put these files into {folders[0]}, as they are or unpacked"
        ) from None
    return [path for path in found.values() if path is not None]


def _first(name: str, folders: list[Path]) -> Path | None:
    candidates = (f / each for f in folders for each in (name, name.removesuffix(".gz")))
    return next((path for path in candidates if path.is_file()), None)


def maybe_download(filename: str, work_directory: str, source_url: str) -> str:
    """The path of a file in a folder, downloaded where it is not there.

    Args:
      filename: the file.
      work_directory: the folder; it is made.
      source_url: the file's full address.
    """
    path = Path(work_directory) / filename
    return str(path if path.is_file() else _download(source_url, path))


def _download(url: str, path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = temporary(str(path))
    try:
        with urllib.request.urlopen(url, timeout=_PATIENCE) as source, open(partial, "wb") as dest:
            shutil.copyfileobj(source, dest)
        os.replace(partial, path)
    finally:
        Path(partial).unlink(missing_ok=True)
    print("Successfully downloaded", path.name, path.stat().st_size, "bytes.")
    return path

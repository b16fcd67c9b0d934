"""Archives of data sets: unpacked where they lie, else downloaded."""

from __future__ import annotations

import tarfile
import urllib.request
from pathlib import Path


def unpack(url: str, folder: Path, wanted: str) -> None:
    """Unpacks an archive into a folder, from that folder or, if it is not there, from its URL.

    Args:
      url: of a ``tar`` file, compressed or not.
      folder: where the archive lies, and its files are to be.
      wanted: what is in it, for the error.

    Raises:
      FileNotFoundError: if it is in neither place; says what to put where.
    """
    archive = folder / url.rpartition("/")[2]
    if not archive.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        try:
            urllib.request.urlretrieve(url, archive)
        except (OSError, ValueError) as error:
            raise FileNotFoundError(
                f"no {wanted} in {folder}, and {url} cannot be reached ({error});"
                f" put {archive.name} into {folder}"
            ) from None
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")

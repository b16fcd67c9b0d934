"""``tf.keras.utils.get_file``: files of Keras's cache folder.

Nothing is fetched from the network: a file that is not there is refused with the place where it is
looked for and where it comes from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
import zipfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse


def cache_folder(cache_dir: str | None = None) -> Path:
    """Keras's folder: the given one, that of the variable ``KERAS_HOME``, or ``~/.keras``."""
    return Path(cache_dir or os.environ.get("KERAS_HOME") or "~/.keras").expanduser()


def get_file(
    fname: str, origin: str, untar: bool = False, md5_hash: str | None = None,
    file_hash: str | None = None, cache_subdir: str = "datasets", hash_algorithm: str = "auto",
    extract: bool = False, archive_format: Any = "auto", cache_dir: str | None = None,
) -> str:  # fmt: skip
    """The path of a file in the cache, copied there if ``origin`` is a file of this machine.

    Args:
      fname: its name in the cache, or an absolute path.
      origin: where it comes from: a path, a ``file:`` address, or an address that is not asked.
      untar: whether it is an archive that is unpacked; then ``fname`` is without its ending.
      md5_hash: older name of ``file_hash``.
      file_hash: what the file's content must come to, in hexadecimal digits.
      cache_subdir: folder in the cache, or an absolute path.
      hash_algorithm: ``"auto"``, ``"md5"`` or ``"sha256"``.
      extract: whether an archive is unpacked beside itself.
      archive_format: ``"auto"``, ``"tar"``, ``"zip"``, None, or a list of those.
      cache_dir: the cache; default ``~/.keras``.

    Returns:
      The path; with ``untar`` that of what was unpacked.

    Raises:
      FileNotFoundError: it is not there, and ``origin`` is no file of this machine.
      ValueError: its content has another hash.
    """
    folder = cache_folder(cache_dir) / cache_subdir
    given = file_hash or md5_hash
    path = folder / (f"{fname}.tar.gz" if untar else fname)
    if not path.exists() and untar and (folder / fname).exists():
        return str(folder / fname)
    if not path.exists():
        _copied(origin, path)
    if given is not None:
        _check(path, given, hash_algorithm)
    if untar:
        if not (folder / fname).exists():
            _unpack(path, folder, "tar")
        return str(folder / fname)
    if extract:
        _unpack(path, folder, archive_format)
    return str(path)


def _copied(origin: str, path: Path) -> None:
    parts = urlparse(origin)
    local = Path(unquote(parts.path)) if parts.scheme in ("file", "") else None
    if local is None or not local.is_file():
        raise FileNotFoundError(
            f"URL fetch failure on {origin}: files are not fetched from the network here. Put the"
            f" file at {path} yourself."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(local, path)


def _check(path: Path, wanted: str, algorithm: str) -> None:
    kind = algorithm
    if algorithm == "auto":
        kind = "sha256" if len(wanted) == 64 else "md5"
    with path.open("rb") as file:
        found = hashlib.file_digest(file, kind).hexdigest()
    if found != wanted:
        raise ValueError(
            f"the file {path} is incomplete or outdated: its {kind} hash is {found}, and {wanted}"
            " was asked for"
        )


def _unpack(path: Path, folder: Path, formats: Any) -> None:
    listed = ["tar", "zip"] if formats == "auto" else formats
    for kind in [listed] if isinstance(listed, str) else listed or ():
        if kind == "tar" and tarfile.is_tarfile(path):
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter="data")
            return
        if kind == "zip" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                packed.extractall(folder)
            return

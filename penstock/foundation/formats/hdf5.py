"""HDF5 files by h5py, which is an optional dependency; and lists of names in their attributes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

# What HDF5 holds in the header of one object.
_MOST_BYTES = 64512
ENDINGS = (".h5", ".keras", ".hdf5")


def open_file(path: Any, mode: str, asker: str) -> Any:
    """An open ``h5py.File``.

    Args:
      path: of the file.
      mode: ``"r"`` or ``"w"``.
      asker: the function that needs it, for the error.

    Raises:
      ImportError: h5py is not installed.
      OSError: there is no such file, or it is none of HDF5.
    """
    try:
        h5py = import_module("h5py")
    except ImportError:
        raise ImportError(
            f"`{asker}` requires h5py: pip install penstock[hdf5]. Without it, write TensorFlow's"
            f" format: a path that does not end in {', '.join(ENDINGS)}, or save_format='tf'"
        ) from None
    return h5py.File(os.fspath(path), mode)


def is_hdf5(path: Any) -> bool:
    """Whether a file begins as HDF5 files do."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(8) == b"\x89HDF\r\n\x1a\n"


def write_names(group: Any, attribute: str, names: Sequence[str]) -> None:
    """Writes texts into an attribute, or into several, numbered, where one cannot hold them.

    Raises:
      RuntimeError: one text alone is too long.
    """
    texts = [name.encode() for name in names]
    too_long = [text for text in texts if len(text) > _MOST_BYTES]
    if too_long:
        raise RuntimeError(
            f"The following attributes cannot be saved to HDF5 file because they are larger than"
            f" {_MOST_BYTES} bytes: {too_long}"
        )
    array, count = np.asarray(texts), 1
    while any(part.nbytes > _MOST_BYTES for part in np.array_split(array, count)):
        count += 1
    if count == 1:
        group.attrs[attribute] = texts
        return
    for number, part in enumerate(np.array_split(array, count)):
        group.attrs[f"{attribute}{number}"] = part


def read_names(group: Any, attribute: str) -> list[str]:
    """The texts that ``write_names`` wrote."""
    if attribute in group.attrs:
        return [_text(each) for each in group.attrs[attribute]]
    found: list[str] = []
    number = 0
    while f"{attribute}{number}" in group.attrs:
        found += [_text(each) for each in group.attrs[f"{attribute}{number}"]]
        number += 1
    return found


def text_of(group: Any, attribute: str) -> str | None:
    """A text of an attribute, or None."""
    return _text(group.attrs[attribute]) if attribute in group.attrs else None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)

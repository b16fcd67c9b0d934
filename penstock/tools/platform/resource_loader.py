"""Files that belong to a program: beside the file that asks, or in the package."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import FrameType

__all__ = [
    "get_data_files_path", "get_path_to_datafile", "get_root_dir_with_all_resources",
    "load_resource", "readahead_file_path",
]  # fmt: skip

_PACKAGE = str(Path(__file__).resolve().parents[2])


def _folder_of(frame: FrameType) -> str:
    return os.path.dirname(frame.f_code.co_filename)


def load_resource(path: str) -> bytes:
    """The bytes of a file of the package.

    Args:
      path: relative to the package's folder.

    Raises:
      OSError: it cannot be read.
    """
    with open(os.path.join(_PACKAGE, path), "rb") as file:
        return file.read()


def get_data_files_path() -> str:
    """The folder of the file that calls this."""
    return _folder_of(sys._getframe(1))


def get_path_to_datafile(path: str) -> str:
    """The path of a file that lies beside the one that calls this.

    Args:
      path: relative to the folder of the calling file.
    """
    return os.path.join(_folder_of(sys._getframe(1)), path)


def get_root_dir_with_all_resources() -> str:
    """The folder below which a program's data files lie.

    Returns:
      Where Bazel runs the program, the folder in its ``.runfiles``; else that of the calling file.
    """
    folder = _folder_of(sys._getframe(1))
    inner, outer = "", folder
    while outer != os.path.dirname(outer):
        if ".runfiles" in os.path.basename(outer):
            return inner or folder
        inner, outer = outer, os.path.dirname(outer)
    return folder


def readahead_file_path(path: str, readahead: str = "128M") -> str:
    """``path``: nothing here reads ahead.

    Args:
      path: of a file.
      readahead: how much; ignored.
    """
    return path

"""Files read and written at once, as ``tensorflow.python.lib.io.file_io`` does."""

from __future__ import annotations

from typing import Any

from penstock.foundation.formats.gfile import GFile


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """What is in a file.

    Args:
      filename: its path.
      binary_mode: whether to return bytes; else they are decoded as UTF-8.
    """
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Writes a file, over one that is there.

    Args:
      filename: its path.
      file_content: text or bytes.
    """
    with GFile(filename, "w") as file:
        file.write(file_content)

"""Paths that a file names for what lies beside it: they stay in its folder.

A SavedModel names its assets, a graph the bundle of its large constants.  Who wrote the file chose
those names; with ".." or a link they would be any file of the machine.  PENSTOCK_OUTSIDE_PATHS=1
allows that, for models that are linked together of parts.
"""

from __future__ import annotations

import os

from penstock.foundation.base import errors
from penstock.foundation.formats import files

VARIABLE = "PENSTOCK_OUTSIDE_PATHS"


def outside_allowed() -> bool:
    """Whether the environment lets files name what lies elsewhere."""
    return os.environ.get(VARIABLE) == "1"


def path_inside(folder: str, name: str, what: str) -> str:
    """The path that ``name`` means in ``folder``.

    Args:
      folder: of the file that says the name.
      name: as it says.
      what: what is there, for the error.

    Raises:
      tf.errors.PermissionDeniedError: it is not inside.
    """
    path = os.path.join(folder, name)
    if outside_allowed():
        return path
    plain = name and not os.path.isabs(name) and "://" not in name and "\0" not in name
    if plain and ".." not in name.replace("\\", "/").split("/"):
        if files.is_remote(folder):
            return path
        root = os.path.realpath(files.local(folder))
        if os.path.commonpath([root, os.path.realpath(files.local(path))]) == root:
            return path
    raise errors.PermissionDeniedError(
        None, None, f"{what} is said to be {name!r}, which is not inside {folder!r}; set"
        f" {VARIABLE}=1 if the file is trusted",
    )  # fmt: skip

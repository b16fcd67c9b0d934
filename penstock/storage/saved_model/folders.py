"""Where things lie in the folder of a SavedModel."""

from __future__ import annotations

import os
from typing import Any

from penstock.foundation.formats import files
from penstock.storage.saved_model import constants


def get_variables_dir(export_dir: Any) -> str:
    """The folder of the variables.

    >>> get_variables_dir("/tmp/model")
    '/tmp/model/variables'
    """
    return os.path.join(os.fsdecode(export_dir), constants.VARIABLES_DIRECTORY)


def get_variables_path(export_dir: Any) -> str:
    """The prefix of the checkpoint with the variables."""
    return os.path.join(get_variables_dir(export_dir), constants.VARIABLES_FILENAME)


def get_assets_dir(export_dir: Any) -> str:
    """The folder of the assets."""
    return os.path.join(os.fsdecode(export_dir), constants.ASSETS_DIRECTORY)


def _made(folder: str) -> str:
    files.makedirs(folder)
    return folder


def get_or_create_variables_dir(export_dir: Any) -> str:
    """The folder of the variables, made where it is not there."""
    return _made(get_variables_dir(export_dir))


def get_or_create_assets_dir(export_dir: Any) -> str:
    """The folder of the assets, made where it is not there."""
    return _made(get_assets_dir(export_dir))

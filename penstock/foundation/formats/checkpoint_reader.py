"""Opening a checkpoint, whatever its format."""

from __future__ import annotations

import os
from typing import Final

from penstock.foundation.base import errors
from penstock.foundation.formats import files
from penstock.foundation.formats.bundle import BundleReader, index_path
from penstock.foundation.formats.checkpoint_v1 import V1Reader
from penstock.foundation.formats.reader import TensorReader
from penstock.foundation.formats.safetensors_file import SUFFIX, SafetensorsReader, safetensors_path

BUNDLE: Final = "bundle"
V1: Final = "v1"
SAFETENSORS: Final = "safetensors"

_READERS: dict[str, type[BundleReader] | type[V1Reader] | type[SafetensorsReader]] = {
    BUNDLE: BundleReader,
    V1: V1Reader,
    SAFETENSORS: SafetensorsReader,
}


def checkpoint_format(prefix: str) -> str | None:
    """What is there under a checkpoint's name: "bundle", "safetensors", "v1", or None.

    Args:
      prefix: the name; of a V1 checkpoint in several files, their pattern
        ("model.ckpt-?????-of-00002").
    """
    prefix = os.fsdecode(prefix)
    if files.exists(index_path(prefix)):
        return BUNDLE
    if files.exists(safetensors_path(prefix)):
        return SAFETENSORS
    if files.isdir(prefix):
        return None
    return V1 if files.exists(prefix) or files.glob(prefix) else None


def open_checkpoint(prefix: str) -> TensorReader:
    """Opens the checkpoint of that name.

    Args:
      prefix: as for `checkpoint_format`; the name of the index or of a data file is understood too.

    Raises:
      NotFoundError: there is none.
      DataLossError: it is corrupt.
    """
    prefix = os.fsdecode(prefix)
    for name in (prefix, *_stripped(prefix)):
        found = checkpoint_format(name)
        if found is not None and (found != V1 or name == prefix):
            return _READERS[found](name)
    raise errors.NotFoundError(
        None,
        None,
        f"Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
        f"{prefix}: neither {index_path(prefix)} nor {safetensors_path(prefix)} nor a V1 file",
    )


def _stripped(prefix: str) -> list[str]:
    """What a user meant who named one of a checkpoint's files."""
    if prefix.endswith(SUFFIX):
        return []
    return [prefix.removesuffix(".index")] if prefix.endswith(".index") else []

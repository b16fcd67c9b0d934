"""Matrices of a checkpoint for another vocabulary: where words were, and their rows and columns.

``GenerateVocabRemapping`` compares two files of words; ``LoadAndRemapMatrix`` picks rows and
columns of a saved matrix by such places, and takes values that are given where there is none.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch

from penstock.foundation.base import errors
from penstock.foundation.base.errors import invalid
from penstock.foundation.formats import files
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import Dims, ShapeContext
from penstock.ops.strings.string_elements import as_bytes

_FILES = "its inputs are names of files"


# ---- places of words -----------------------------------------------------------------------------


def _words(filename: Any, least: int) -> list[bytes]:
    path = os.fsdecode(as_bytes(filename))
    if not path:
        raise invalid("the name of a vocabulary file must not be empty")
    with files.open_file(path, "rb") as file:
        words = [line.removesuffix(b"\n").removesuffix(b"\r") for line in file]
    if len(words) < least:
        raise invalid(f"Invalid vocab_size in {path}: expected {least} but got {len(words)}")
    return words


def _remapping(
    new_vocab_file: Any, old_vocab_file: Any, new_vocab_offset: int, num_new_vocab: int,
    old_vocab_size: int,
) -> Any:  # fmt: skip
    end = new_vocab_offset + num_new_vocab
    new = _words(new_vocab_file, end)[new_vocab_offset:end]
    old = _words(old_vocab_file, old_vocab_size)
    if not old_vocab_size:
        raise errors.OutOfRangeError(None, None, "old_vocab_size is 0: there is no word to find")
    places: dict[bytes, int] = {}
    for place, word in enumerate(old[: old_vocab_size if old_vocab_size > 0 else None]):
        if places.setdefault(word, place) != place:
            raise errors.FailedPreconditionError(
                None, None, f"{word!r} stands twice in the old vocabulary, at {place} the second"
            )
    found = [places.get(word, -1) for word in new]
    present = sum(place >= 0 for place in found)
    return torch.tensor(found, dtype=torch.int64), torch.tensor(present, dtype=torch.int32)


def _remapping_shape(ctx: ShapeContext) -> list[Dims]:
    ctx.rank("new_vocab_file", 0), ctx.rank("old_vocab_file", 0)
    return [(ctx.attr("num_new_vocab"),), ()]


define_op(
    "GenerateVocabRemapping",
    "new_vocab_file: string, old_vocab_file: string -> remapping: int64, num_present: int32",
    attrs=[
        "new_vocab_offset: int >= 0", "num_new_vocab: int >= 0", "old_vocab_size: int >= -1 = -1",
    ],
    shape=_remapping_shape,
    kernel=_remapping,
    no_gradient=_FILES,
)  # fmt: skip


# ---- matrices ------------------------------------------------------------------------------------


def _check_places(what: str, places: np.ndarray, wanted: int, size: int) -> None:
    if len(places) != wanted:
        raise invalid(f"{what}_remapping has {len(places)} element(s), not num_{what}s, {wanted}")
    if len(places) and places.max() >= size:
        raise invalid(f"{what}_remapping must be below {size}; found {places.tolist()}")
    held = places[places >= 0]
    if len(np.unique(held)) != len(held):
        raise errors.UnimplementedError(
            None, None, f"{what}_remapping names a {what} twice: {places.tolist()}"
        )


def _load(
    ckpt_path: Any, old_tensor_name: Any, row_remapping: torch.Tensor,
    col_remapping: torch.Tensor, initializing_values: torch.Tensor, num_rows: int, num_cols: int,
) -> torch.Tensor:  # fmt: skip
    name = as_bytes(old_tensor_name).decode()
    reader = open_checkpoint(os.fsdecode(as_bytes(ckpt_path)))
    if name not in reader:
        raise errors.NotFoundError(None, None, f"Tensor name {name!r} not found in checkpoint")
    old = np.asarray(reader.read(name))
    if old.ndim != 2:
        raise invalid(f"old_tensor {name!r} must be a matrix; its shape is {list(old.shape)}")
    rows, columns = row_remapping.numpy(), col_remapping.numpy()
    _check_places("row", rows, num_rows, old.shape[0])
    if not len(columns):
        if num_cols != old.shape[1]:
            raise invalid(f"num_cols is {num_cols}, but {name!r} has {old.shape[1]} columns")
        columns = np.arange(num_cols)
    _check_places("col", columns, num_cols, old.shape[1])
    made = np.empty((num_rows, num_cols), np.float32)
    there = np.outer(rows >= 0, columns >= 0)
    lacking = int((~there).sum())
    if lacking != len(initializing_values):
        raise invalid(
            f"there are {len(initializing_values)} initializing_values for {lacking} element(s)"
            " without a place in the old matrix"
        )
    made[there] = old[np.ix_(rows[rows >= 0], columns[columns >= 0])].ravel()
    made[~there] = initializing_values.numpy()
    return torch.from_numpy(made)


def _load_shape(ctx: ShapeContext) -> Dims:
    for name in ("row_remapping", "col_remapping", "initializing_values"):
        ctx.rank(name, 1)
    return (ctx.attr("num_rows"), ctx.attr("num_cols"))


define_op(
    "LoadAndRemapMatrix",
    "ckpt_path: string, old_tensor_name: string, row_remapping: int64, col_remapping: int64,"
    " initializing_values: float -> output_matrix: float",
    attrs=["num_rows: int >= 0", "num_cols: int >= 1", "max_rows_in_memory: int = -1"],
    shape=_load_shape,
    kernel=_load,
    stateful=True,
    no_gradient=_FILES,
)

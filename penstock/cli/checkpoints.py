"""Checkpoints as ``inspect`` shows them, and one way to open them all, torch's files included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from penstock.cli.identify import Found, Kind
from penstock.cli.output import Failure, Output, shape_text, size
from penstock.foundation.base import errors
from penstock.foundation.base.dtypes import DType
from penstock.foundation.formats import files
from penstock.foundation.formats.bundle import BundleReader, data_path
from penstock.foundation.formats.checkpoint_reader import open_checkpoint
from penstock.foundation.formats.checkpoint_v1 import V1Reader

_HEAD = 8


class Tensors(Protocol):
    """What every opened checkpoint does; files are read when a tensor is."""

    def names(self) -> list[str]:
        """The names of the tensors."""

    def dtype(self, name: str) -> DType:
        """The type of one."""

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of one."""

    def slices(self, name: str) -> Sequence[Any]:
        """How it is stored, where that is in parts."""

    def read(self, name: str) -> np.ndarray:
        """All of one."""

    def close(self) -> None:
        """Closes the files."""


def open_tensors(found: Found) -> Tensors:
    """Opens a checkpoint of any kind.

    Raises:
      tf.errors.NotFoundError, tf.errors.DataLossError: as the files are.
    """
    if found.kind is Kind.TORCH:
        from penstock.cli.torch_files import TorchReader

        return TorchReader(found.path)
    if found.kind is Kind.V1:
        return V1Reader(found.path)
    return open_checkpoint(found.path)


def byte_count(dtype: DType, shape: Sequence[int]) -> int | None:
    """How many bytes the values have; None for strings."""
    return None if dtype.name == "string" else math.prod(shape) * dtype.size


def describe(found: Found, values: Sequence[str], verify: bool) -> dict[str, Any]:
    """What a checkpoint holds, as JSON has it.

    Args:
      found: which.
      values: names of variables whose values are looked at.
      verify: read every tensor, which checks its checksum.

    Raises:
      Failure: there is no variable of a name in ``values``.
    """
    tensors = open_tensors(found)
    try:
        rows = [_row(tensors, name) for name in tensors.names()]
        facts: dict[str, Any] = {
            "kind": found.kind.value,
            "path": found.path,
            "tensors": rows,
            "total": {
                "tensors": len(rows),
                "elements": sum(math.prod(row["shape"]) for row in rows),
                "bytes": sum(row["bytes"] or 0 for row in rows),
            },
        }
        if values:
            facts["values"] = [_values(tensors, name, found.path) for name in values]
        missing = _missing_files(found)
        if missing:
            facts["problems"] = missing
        if verify:
            unread = _problems(tensors)
            facts["problems"] = [*missing, *unread]
            facts["verified"] = len(rows) - len(unread)
        return facts
    finally:
        tensors.close()


def _missing_files(found: Found) -> list[str]:
    """A bundle is opened by its index alone: its data files may be lost, or not copied along."""
    if found.kind is not Kind.CHECKPOINT:
        return []
    with BundleReader(found.path) as reader:
        shards = reader.shards
    paths = [data_path(found.path, shard, shards) for shard in range(shards)]
    return [f"the data file {path} is missing" for path in paths if not files.exists(path)]


def _row(tensors: Tensors, name: str) -> dict[str, Any]:
    dtype, shape = tensors.dtype(name), tensors.shape(name)
    return {
        "name": name, "dtype": dtype.name, "shape": list(shape), "bytes": byte_count(dtype, shape),
        "slices": [str(piece) for piece in tensors.slices(name)],
    }  # fmt: skip


def _values(tensors: Tensors, name: str, path: str) -> dict[str, Any]:
    if name not in tensors.names():
        raise Failure(f"{path}: no tensor {name!r}; `penstock inspect {path}` lists the names")
    array = tensors.read(name)
    facts: dict[str, Any] = {"name": name, "head": _plain(array.reshape(-1)[:_HEAD])}
    if array.dtype == object or not array.size or array.dtype.kind == "c":
        return facts
    numbers = array.astype(np.float64) if array.dtype.kind not in "iub" else array
    good = numbers[np.isfinite(numbers)]
    if good.size:
        facts |= {"min": good.min().item(), "max": good.max().item(), "mean": float(good.mean())}
    facts["nan"] = int(np.isnan(numbers).sum())
    facts["inf"] = int(np.isinf(numbers).sum())
    return facts


def _plain(head: np.ndarray) -> list[Any]:
    if head.dtype == object:
        return [item.decode("utf-8", "backslashreplace") for item in head]
    if head.dtype.kind == "c":
        return [str(item) for item in head]
    wide = head if head.dtype.kind in "iub" else head.astype(np.float64)
    plain: list[Any] = wide.tolist()
    return plain


def _problems(tensors: Tensors) -> list[str]:
    problems = []
    for name in tensors.names():
        try:
            tensors.read(name)
        except errors.OpError as error:
            problems.append(str(error))
    return problems


def show(output: Output, facts: dict[str, Any]) -> None:
    """Prints what ``describe`` found."""
    total = facts["total"]
    output.title(
        f"{facts['path']}: {facts['kind']}, {total['tensors']} tensors, {total['elements']} values,"
        f" {size(total['bytes'])}"
    )
    rows = [
        (
            row["name"], row["dtype"], shape_text(row["shape"]), row["bytes"],
            len(row["slices"]) or None,
        )
        for row in facts["tensors"]
    ]  # fmt: skip
    output.table(("name", "dtype", "shape", "bytes", "slices"), rows, right=("bytes", "slices"))
    for found in facts.get("values", []):
        output.line()
        output.title(found["name"])
        for key in ("min", "max", "mean", "nan", "inf"):
            if key in found:
                output.line(f"  {key:5}{found[key]:.8g}")
        output.line(f"  head {' '.join(str(item) for item in found['head'])}")
    if "verified" in facts:
        output.line()
        output.line(f"verified: {facts['verified']} of {total['tensors']} tensors are whole")
    for problem in facts.get("problems", []):
        output.line(f"problem: {problem}")

"""``penstock convert``: a checkpoint's tensors, one at a time, into another format."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

from penstock.cli.checkpoints import Tensors, byte_count, open_tensors
from penstock.cli.identify import CHECKPOINTS, single
from penstock.cli.output import Failure, Output, size
from penstock.foundation.formats import files

_SUFFIXES = {
    ".safetensors": "safetensors", ".pt": "torch", ".pth": "torch", ".bin": "torch",
}  # fmt: skip
# What a format cannot hold.
_NO_STRINGS = ("safetensors", "torch")


def convert_checkpoint(
    output: Output,
    source: str,
    dest: str,
    target: str | None,
    renames: Sequence[str],
    include: Sequence[str],
    exclude: Sequence[str],
) -> None:
    """Writes the tensors of one checkpoint as another.

    Args:
      output: where to say what was done.
      source: what to read.
      dest: what to write.
      target: the format; None takes it from the suffix of ``dest``.
      renames: ``OLD=NEW`` for names to change.
      include, exclude: regular expressions, searched in the old names.

    Raises:
      Failure: nothing to convert, no directory to write to, names that clash, or tensors that the
        format cannot hold.
    """
    _refuse_missing_directory(dest)
    kind = target or next((k for suffix, k in _SUFFIXES.items() if dest.endswith(suffix)), "bundle")
    tensors = open_tensors(single(source, CHECKPOINTS, "a checkpoint"))
    try:
        names = _chosen(tensors.names(), include, exclude)
        if not names:
            raise Failure(f"{source}: no tensor is left by --include and --exclude")
        new_names = _renamed(names, renames)
        _refuse_strings(tensors, names, kind)
        total = 0
        with _writer(kind, dest) as writer:
            for name, new in zip(names, new_names, strict=True):
                writer.add(new, tensors.read(name))
                total += byte_count(tensors.dtype(name), tensors.shape(name)) or 0
    finally:
        ignored = getattr(tensors, "ignored", [])
        tensors.close()
    output.line(f"{dest}: {kind}, {len(names)} tensors, {size(total)}")
    if ignored:
        output.line(f"left out, since they are no tensors: {', '.join(ignored)}")


def _refuse_missing_directory(dest: str) -> None:
    """Writers would name their temporary file; remote stores make directories themselves."""
    folder = os.path.dirname(dest)
    if folder and not files.is_remote(dest) and not files.isdir(folder):
        raise Failure(f"{dest}: there is no directory {folder!r}")


def _writer(kind: str, dest: str) -> Any:
    if kind == "torch":
        from penstock.cli.torch_files import TorchWriter

        return TorchWriter(dest)
    if kind == "safetensors":
        from penstock.foundation.formats.safetensors_file import SafetensorsWriter

        return SafetensorsWriter(dest)
    if kind == "v1":
        from penstock.foundation.formats.checkpoint_v1 import V1Writer

        return V1Writer(dest)
    from penstock.foundation.formats.bundle import BundleWriter

    return BundleWriter(dest)


def _chosen(names: Sequence[str], include: Sequence[str], exclude: Sequence[str]) -> list[str]:
    wanted = [_compiled(text, "--include") for text in include]
    unwanted = [_compiled(text, "--exclude") for text in exclude]
    return [
        name
        for name in names
        if (not wanted or any(p.search(name) for p in wanted))
        and not any(p.search(name) for p in unwanted)
    ]


def _compiled(text: str, option: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as error:
        raise Failure(f"{option} {text!r} is no regular expression: {error}", 2) from None


def _renamed(names: Sequence[str], renames: Sequence[str]) -> list[str]:
    table = {}
    for text in renames:
        old, equals, new = text.partition("=")
        if not (old and equals and new):
            raise Failure(f"--map {text!r} does not have the form OLD=NEW", 2)
        if old not in names:
            raise Failure(f"--map {text!r}: there is no tensor {old!r}", 2)
        table[old] = new
    new_names = [table.get(name, name) for name in names]
    for name in set(new_names):
        if new_names.count(name) > 1:
            raise Failure(f"two tensors would be called {name!r}", 2)
    return new_names


def _refuse_strings(tensors: Tensors, names: Sequence[str], kind: str) -> None:
    """Before anything is written."""
    strings = [n for n in names if tensors.dtype(n).name == "string"]
    if strings and kind in _NO_STRINGS:
        raise Failure(
            f"{kind} holds no strings; these tensors are strings: {', '.join(strings)}"
            " (--exclude leaves them out)"
        )

"""What a path is, told from what lies there: names first, then the first (or last) bytes.

Nothing is read that is large, and neither torch nor the op families are imported.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from penstock.cli.output import Failure
from penstock.foundation.formats import files


class Kind(StrEnum):
    """What the commands can look at."""

    CHECKPOINT = "checkpoint"
    V1 = "v1 checkpoint"
    SAFETENSORS = "safetensors"
    TORCH = "torch"
    GRAPH = "graph"
    META_GRAPH = "metagraph"
    EVENTS = "events"
    SAVED_MODEL = "savedmodel"


CHECKPOINTS = (Kind.CHECKPOINT, Kind.V1, Kind.SAFETENSORS, Kind.TORCH)


@dataclass(frozen=True)
class Found:
    """One thing that a path names: its kind, and where to open it."""

    kind: Kind
    path: str


# The last 8 bytes of a sorted string table, which is what index files and V1 checkpoints are.
_TABLE_MAGIC = struct.pack("<Q", 0xDB4775248B80FB57)
_DATA_FILE = re.compile(r"\.data-\d{5}-of-\d{5}$")
_META_TEXT = re.compile(rb"^\s*(meta_info_def|graph_def|saver_def|collection_def)\s*[:{]", re.M)
_GRAPH_TEXT = re.compile(rb"^\s*(node|versions|library)\s*[:{]", re.M)
SAVED_MODEL_FILES = ("saved_model.pb", "saved_model.pbtxt")


def identify(path: str) -> list[Found]:
    """What ``path`` is.

    Args:
      path: a file, a directory, or the prefix of a checkpoint; local or a URL that fsspec knows.

    Returns:
      One entry, or for a directory with several things (a checkpoint and event files) one for each.

    Raises:
      Failure: there is nothing, or nothing that is known.
    """
    if files.isdir(path):
        return _directory(path)
    prefix = _prefix(path)
    if prefix is not None:
        return [Found(Kind.CHECKPOINT, prefix)]
    if files.exists(path):
        return [Found(_file(path), path)]
    if files.glob(f"{path}-?????-of-?????"):
        return [Found(Kind.V1, path)]
    raise Failure(f"{path}: no such file, directory or checkpoint prefix")


def single(path: str, wanted: tuple[Kind, ...], what: str) -> Found:
    """The one thing of the wanted kinds at a path.

    Args:
      path: as for ``identify``.
      wanted: kinds that will do.
      what: those in words, for the error.

    Raises:
      Failure: there is none.
    """
    found = identify(path)
    for one in found:
        if one.kind in wanted:
            return one
    raise Failure(f"{path}: expected {what}; found {' and '.join(f.kind for f in found)}")


def _prefix(path: str) -> str | None:
    """The prefix of the bundle that a path belongs to."""
    if files.exists(f"{path}.index"):
        return path
    bare = path.removesuffix(".index") if path.endswith(".index") else _DATA_FILE.sub("", path)
    return bare if bare != path and files.exists(f"{bare}.index") else None


def _directory(path: str) -> list[Found]:
    base = path.rstrip("/")
    if any(files.exists(f"{base}/{name}") for name in SAVED_MODEL_FILES):
        return [Found(Kind.SAVED_MODEL, base)]
    found = []
    latest = latest_checkpoint(base)
    if latest is not None:
        found.append(Found(_kind_of_prefix(latest), latest))
    if next(event_files(base), None) is not None:
        found.append(Found(Kind.EVENTS, base))
    if not found:
        raise Failure(
            f"{path}: a directory without a 'checkpoint' file, event files or a saved_model.pb"
        )
    return found


def _kind_of_prefix(prefix: str) -> Kind:
    if files.exists(f"{prefix}.index"):
        return Kind.CHECKPOINT
    return identify(prefix)[0].kind


def latest_checkpoint(directory: str) -> str | None:
    """The prefix that the directory's ``checkpoint`` file names as the latest, if there is one."""
    state = f"{directory}/checkpoint"
    if not files.exists(state):
        return None
    with files.open_file(state, "rb") as stream:
        text = stream.read().decode("utf-8", "replace")
    found = re.search(r'^model_checkpoint_path:\s*"((?:[^"\\]|\\.)*)"', text, re.M)
    if found is None:
        return None
    name = found[1].encode().decode("unicode_escape").encode("latin-1").decode("utf-8", "replace")
    return name if name.startswith("/") or "://" in name else f"{directory}/{name}"


def event_files(path: str) -> Iterator[str]:
    """Event files at a path (a file or a directory, looked through), in order of their names."""
    if not files.isdir(path):
        yield path
        return
    names = sorted(files.listdir(path))
    for name in names:
        full = f"{path.rstrip('/')}/{name}"
        if "tfevents" in name and not files.isdir(full):
            yield full
    for name in names:
        full = f"{path.rstrip('/')}/{name}"
        if files.isdir(full):
            yield from event_files(full)


def _file(path: str) -> Kind:
    with files.open_file(path, "rb") as stream:
        head = stream.read(4096)
        end = stream.seek(0, 2)
        stream.seek(max(0, end - 8))
        tail = stream.read(8)
    if not head:
        raise Failure(f"{path}: the file is empty")
    kind = _by_bytes(path, head, tail)
    if kind is not None:
        return kind
    kind = _by_message(path)
    if kind is None:
        raise Failure(
            f"{path}: not a checkpoint, safetensors or torch file, GraphDef, MetaGraphDef,"
            " SavedModel or event file"
        )
    return kind


def _by_bytes(path: str, head: bytes, tail: bytes) -> Kind | None:
    if tail == _TABLE_MAGIC:
        return Kind.V1
    if b"brain.Event:" in head[:64]:
        return Kind.EVENTS
    length = int.from_bytes(head[:8], "little")
    if len(head) > 8 and 2 <= length < 1 << 32 and head[8:9] == b"{":
        return Kind.SAFETENSORS
    torch_suffix = path.endswith((".pt", ".pth", ".bin", ".ckpt"))
    if head[:4] == b"PK\x03\x04" or (torch_suffix and head[:1] == b"\x80"):
        return Kind.TORCH
    if path.endswith(SAVED_MODEL_FILES):
        return Kind.SAVED_MODEL
    if b"\0" not in head and _META_TEXT.search(head):
        return Kind.META_GRAPH
    if b"\0" not in head and _GRAPH_TEXT.search(head):
        return Kind.GRAPH
    return None


def _by_message(path: str) -> Kind | None:
    """GraphDef and MetaGraphDef look alike from afar: field 1 is a node here and facts there."""
    from penstock.cli.graph_files import message_kind

    with files.open_file(path, "rb") as stream:
        return {"graph": Kind.GRAPH, "metagraph": Kind.META_GRAPH}.get(message_kind(stream.read()))

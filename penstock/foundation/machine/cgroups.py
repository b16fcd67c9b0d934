"""The limits that cgroups set on this process: processor time and memory, versions 1 and 2.

A process is in one cgroup of each hierarchy, and a limit of any of its ancestors binds as well, so
what counts is the smallest along the path.  Where containers hide the ancestors, the mounted part
is all that can be read.  Often nothing is mounted; then there is no limit to be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from penstock.foundation.machine import proc

# Version 1 has no word for "unlimited": it reports the largest multiple of a page in 63 bits.
_UNLIMITED = 1 << 60


@dataclass(frozen=True)
class MemoryLimit:
    """The memory that the tightest of the cgroups allows, in bytes.

    Args:
      limit: of the cgroup with the smallest limit.
      left: the least that any of them still has, what can be dropped from its cache included.
    """

    limit: int
    left: int


@dataclass(frozen=True)
class _Mount:
    shown: PurePosixPath  # the cgroup that the mount shows at its top
    point: Path
    version: int
    controllers: frozenset[str]


def cpu_quota(root: Path = proc.ROOT) -> float | None:
    """How many cores' worth of time this process may use; None without a limit.

    Args:
      root: where ``proc`` and ``sys`` are.
    """
    quotas = []
    for folder, version in _folders("cpu", root):
        if version == 2:
            words = [*proc.text(folder / "cpu.max").split(), "", ""]
            amount, period = proc.number(words[0]), proc.number(words[1])
        else:
            amount = _number(folder / "cpu.cfs_quota_us")
            period = _number(folder / "cpu.cfs_period_us")
        if amount and period:
            quotas.append(amount / period)
    return min(quotas, default=None)


def memory_limit(root: Path = proc.ROOT) -> MemoryLimit | None:
    """The memory that this process may use; None without a limit.

    Args:
      root: where ``proc`` and ``sys`` are.
    """
    limits, left = [], []
    for folder, version in _folders("memory", root):
        limit = _number(folder / ("memory.max" if version == 2 else "memory.limit_in_bytes"))
        if limit is None or limit >= _UNLIMITED:
            continue
        used = _number(folder / ("memory.current" if version == 2 else "memory.usage_in_bytes"))
        key = "inactive_file" if version == 2 else "total_inactive_file"
        kept = max(0, (used or 0) - _statistic(folder / "memory.stat", key))
        limits.append(limit)
        left.append(max(0, limit - kept))
    return MemoryLimit(min(limits), min(left)) if limits else None


def _folders(controller: str, root: Path) -> Iterator[tuple[Path, int]]:
    """This process's cgroups and their ancestors as far as they are mounted, with the version."""
    paths = _paths(root)
    for mount in _mounts(root):
        if mount.version == 2:
            path = paths.get("")
        elif controller in mount.controllers:
            path = paths.get(controller)
        else:
            continue
        folder = mount.point
        yield folder, mount.version
        for part in _below(path, mount.shown):
            folder = folder / part
            yield folder, mount.version


def _below(path: PurePosixPath | None, shown: PurePosixPath) -> tuple[str, ...]:
    """The way from the top of a mount to a cgroup; nothing where the mount does not show it."""
    # ".." leads out of the cgroup namespace that the process sees.
    if path is None or ".." in path.parts or not path.is_relative_to(shown):
        return ()
    return path.relative_to(shown).parts


def _paths(root: Path) -> dict[str, PurePosixPath]:
    """The process's cgroup by controller; that of version 2 under the empty name."""
    found = {}
    for line in proc.text(root / "proc/self/cgroup").splitlines():
        parts = line.split(":", 2)
        if len(parts) == 3 and parts[2].startswith("/"):
            found.update(dict.fromkeys(parts[1].split(","), PurePosixPath(parts[2])))
    return found


def _mounts(root: Path) -> Iterator[_Mount]:
    for line in proc.text(root / "proc/self/mountinfo").splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if len(fields) < 5 or len(kind) < 3 or kind[0] not in ("cgroup", "cgroup2"):
            continue
        point = root / _unescaped(fields[4]).lstrip("/")
        shown = PurePosixPath(_unescaped(fields[3]))
        version = 2 if kind[0] == "cgroup2" else 1
        yield _Mount(shown, point, version, frozenset(kind[2].split(",")))


def _unescaped(text: str) -> str:
    """A field of mountinfo: blanks in it are written as octal numbers."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def _number(path: Path) -> int | None:
    return proc.number(proc.text(path).strip())


def _statistic(path: Path, key: str) -> int:
    for line in proc.text(path).splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == key:
            return proc.number(words[1]) or 0
    return 0

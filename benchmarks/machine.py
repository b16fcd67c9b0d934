"""What the machine is and what it is doing: what a measured figure depends on besides the code.

``state`` describes the machine once: processor, cores that can be used, quota, instruction sets,
load, pressure, environment variables that lower what the processor gives. Two ``Reading`` objects
tell who used the cores between them: this process's tree, or others. All of it is read from
``/proc`` and the cgroup files; where a file is missing, the figure is None.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path("/")
# Flags of /proc/cpuinfo that kernels are chosen by, from the least to the most.
INSTRUCTION_SETS = (
    *("sse4_2", "avx", "avx2", "fma", "avx_vnni"),
    *("avx512f", "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile"),
    *("asimd", "asimddp", "bf16", "sve", "sve2"),
)
# Environment variables that change how many threads run, how they wait, or which kernels do.
VARIABLES = (
    *("ATEN_", "DNNL_", "GOMP_", "KMP_", "MKL_", "OMP_", "ONEDNN_", "OPENBLAS_", "PENSTOCK_"),
    *("TF_ENABLE_ONEDNN_OPTS", "TF_NUM_", "TORCH", "XLA_FLAGS"),
)


def read(path: Path) -> str:
    """The text of a file of the system; empty where there is none."""
    try:
        return path.read_text()
    except OSError:
        return ""


def processor(root: Path = ROOT) -> tuple[str | None, list[str]]:
    """The processor's name and those of ``INSTRUCTION_SETS`` that it has."""
    name: str | None = None
    flags: list[str] = []
    for line in read(root / "proc/cpuinfo").splitlines():
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model") and name is None:
            name = value.strip()
        elif key.strip() in ("flags", "Features") and not flags:
            flags = value.split()
    return name, [each for each in INSTRUCTION_SETS if each in flags]


def quota(root: Path = ROOT) -> float | None:
    """Cores that the cgroups above this process allow it in all; None where they do not limit."""
    limits = []
    for line in read(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / "sys/fs/cgroup" / ("cpu" if controllers else "")
        folder = mount / path.strip("/")
        # Limits of the groups around it hold as well. In a container, the path may name a folder
        # that only the host sees: its own limits are then those of the mount.
        for each in [folder, *folder.parents]:
            limits.append(_limit(each))
            if each == mount:
                break
    found = [limit for limit in limits if limit is not None]
    return min(found) if found else None


def _limit(folder: Path) -> float | None:
    allowed, _, period = read(folder / "cpu.max").partition(" ")
    if not allowed:
        allowed = read(folder / "cpu.cfs_quota_us")
        period = read(folder / "cpu.cfs_period_us")
    if not allowed.strip().isdigit() or not period.strip().isdigit():
        return None  # "max", -1, or no such file
    return int(allowed) / int(period)


def usable_cores() -> int:
    """Cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pressure(root: Path = ROOT) -> float | None:
    """The share of the last ten seconds in which some process waited for a core, in percent."""
    for line in read(root / "proc/pressure/cpu").splitlines():
        if line.startswith("some"):
            return float(line.split("avg10=")[1].split()[0])
    return None


def state(root: Path = ROOT) -> dict[str, Any]:
    """The machine as it is now, for the results and for ``describe``."""
    name, sets = processor(root)
    load = read(root / "proc/loadavg").split()[:3]
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "usable_cores": usable_cores(),
        "quota": quota(root),
        "instruction_sets": sets,
        "load": [float(each) for each in load] or None,
        "pressure": pressure(root),
        "environment": {
            name: value for name, value in sorted(os.environ.items()) if name.startswith(VARIABLES)
        },
    }


def describe(found: dict[str, Any]) -> list[str]:
    """Lines that say what ``state`` found."""
    limit, waiting = found["quota"], found["pressure"]
    usable = f"{found['usable_cores']} of {found['cores'] or '?'} cores usable"
    load = " ".join(f"{each:.2f}" for each in found["load"] or []) or "?"
    variables = " ".join(f"{name}={value}" for name, value in found["environment"].items())
    return [
        f"machine: {found['processor'] or '?'}, {usable},"
        f" {'no quota' if limit is None else f'quota {limit:.3g} cores'}",
        f"instruction sets: {' '.join(found['instruction_sets']) or '?'}",
        f"before the run: load {load}, pressure {'?' if waiting is None else f'{waiting:.1f}%'}",
        f"set in the environment: {variables or 'nothing that matters'}",
    ]


class Reading(NamedTuple):
    """Clocks at one moment, in seconds.

    Attributes:
        wall: Elapsed time.
        busy: CPU time used by everybody on all cores, without what was stolen.
        steal: Time in which the hypervisor had the cores run something else.
        ours: CPU time of this process and its descendants, those that have ended included.
        competing: Of that, the CPU time of the given processes.
        waited: Time in which some process waited for a core; None where it is not counted.
    """

    wall: float
    busy: float
    steal: float
    ours: float
    competing: float
    waited: float | None


def reading(competitors: Iterable[int] = (), root: Path = ROOT) -> Reading | None:
    """The clocks now; None where the system does not tell.

    Args:
        competitors: Ids of processes, descendants of this one, that are told apart.
    """
    total = read(root / "proc/stat").partition("\n")[0].split()
    if len(total) < 9:
        return None
    tick = os.sysconf("SC_CLK_TCK")
    user, nice, system, _, _, interrupts, soft, steal = (int(each) / tick for each in total[1:9])
    used = _used_by_process(root)
    waited = None
    for line in read(root / "proc/pressure/cpu").splitlines():
        if line.startswith("some"):
            waited = int(line.split("total=")[1]) / 1e6
    return Reading(
        time.perf_counter(),
        user + nice + system + interrupts + soft,
        steal,
        sum(used[pid][1] for pid in _tree(os.getpid(), used)),
        sum(used[pid][1] for pid in competitors if pid in used),
        waited,
    )


def used_by(pids: Iterable[int], root: Path = ROOT) -> float:
    """CPU seconds of these processes and of their children that have ended."""
    found = (_used(root / "proc" / str(pid)) for pid in pids)
    return sum(each[1] for each in found if each is not None)


def _used(folder: Path) -> tuple[int, float] | None:
    """The parent of a process, and the CPU time of it and of its children that have ended."""
    # The name, in parentheses, may hold anything.
    fields = read(folder / "stat").rpartition(")")[2].split()
    if len(fields) < 15:
        return None
    return int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _used_by_process(root: Path) -> dict[int, tuple[int, float]]:
    found = {}
    for entry in os.listdir(str(root / "proc")):
        if entry.isdigit():
            used = _used(root / "proc" / entry)
            if used is not None:
                found[int(entry)] = used
    return found


def _tree(top: int, used: dict[int, tuple[int, float]]) -> list[int]:
    """A process and its descendants, of those that are known."""
    found = [top] if top in used else []
    for each in found:
        found += [pid for pid, (parent, _) in used.items() if parent == each]
    return found


def between(first: Reading | None, last: Reading | None) -> dict[str, float]:
    """Who used the cores between two readings.

    Returns:
        ``others``, ``ours`` and ``competing`` in cores used on average (ours without those that
        compete on our behalf), ``steal`` in cores, ``waiting`` as the share of time in which some
        process waited for a core. Empty where there is a reading missing.
    """
    if first is None or last is None or last.wall <= first.wall:
        return {}
    seconds = last.wall - first.wall
    ours = last.ours - first.ours
    competing = last.competing - first.competing
    others = max(0.0, last.busy - first.busy - ours)  # ticks are rounded in different places
    found = {"others": others, "ours": ours - competing, "competing": competing}
    found["steal"] = last.steal - first.steal
    if first.waited is not None and last.waited is not None:
        found["waiting"] = last.waited - first.waited
    return {name: value / seconds for name, value in found.items()}


def describe_use(use: dict[str, float]) -> str:
    """What ``between`` found, in a few words.

    >>> describe_use({"others": 0.031, "ours": 1.5, "competing": 0.0, "steal": 0.0})
    'others used 0.03 cores'
    >>> describe_use({"others": 0.0, "ours": 1.0, "competing": 0.98, "steal": 0.1, "waiting": 0.5})
    'others used 0.00 cores, busy processes 0.98, stolen 0.10, some process waited 50% of the time'
    """
    if not use:
        return "the machine does not tell who used its cores"
    parts = [f"others used {use['others']:.2f} cores"]
    if use["competing"]:
        parts.append(f"busy processes {use['competing']:.2f}")
    if use["steal"] >= 0.005:
        parts.append(f"stolen {use['steal']:.2f}")
    if use.get("waiting", 0.0) >= 0.005:
        parts.append(f"some process waited {use['waiting']:.0%} of the time")
    return ", ".join(parts)

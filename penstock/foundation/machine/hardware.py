"""What this machine has: processor, cores, memory, and how much of it this process may use.

Linux says all of it in ``/proc`` and its cgroups.  Elsewhere the standard library and, on macOS,
``sysctl`` say what they can; what nobody says is None.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from penstock.foundation.machine import cgroups, proc
from penstock.foundation.machine.instructions import arm_sets, capability, x86_sets

# Variables that make torch, oneDNN or MKL use fewer instructions than the processor has. What was
# measured under one setting says nothing about another.
LOWERING = (
    "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_CPU_ISA_HINTS",
    "DNNL_CPU_ISA_HINTS", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "MKL_DEBUG_CPU_TYPE",
)  # fmt: skip

_VENDORS = {
    "GenuineIntel": "Intel", "AuthenticAMD": "AMD", "HygonGenuine": "Hygon",
    "0x41": "ARM", "0x43": "Cavium", "0x46": "Fujitsu", "0x48": "HiSilicon", "0x4e": "NVIDIA",
    "0x51": "Qualcomm", "0x61": "Apple", "0x6d": "Microsoft", "0xc0": "Ampere",
}  # fmt: skip
# ARM's own designs, which clouds use under other labels: Linux gives them a number only.
_ARM_PARTS = {
    "0xd03": "Cortex-A53", "0xd08": "Cortex-A72", "0xd0b": "Cortex-A76", "0xd0c": "Neoverse-N1",
    "0xd40": "Neoverse-V1", "0xd49": "Neoverse-N2", "0xd4f": "Neoverse-V2", "0xd84": "Neoverse-V3",
    "0xd8e": "Neoverse-N3",
}  # fmt: skip


@dataclass(frozen=True)
class Processor:
    """The processor.

    Args:
      name: as its maker or the operating system calls it.
      vendor: who made it.
      architecture: ``x86_64``, ``aarch64`` and so on.
      model: family, model and stepping: what a name without a number leaves open.
      instruction_sets: by their usual names.
      virtual: whether a hypervisor shows itself; None where that is not told.
    """

    name: str
    vendor: str
    architecture: str
    model: str
    instruction_sets: tuple[str, ...]
    virtual: bool | None


@dataclass(frozen=True)
class Cores:
    """How many cores there are, and how many are this process's.

    Args:
      online: of the machine, as the operating system counts them (hardware threads).
      physical: without simultaneous multithreading; None where that is not told.
      allowed: by affinity (``taskset``, cpusets).
      quota: cores' worth of time that cgroups allow; None without a limit.
      usable: what a team of threads should not exceed.
    """

    online: int
    physical: int | None
    allowed: int
    quota: float | None
    usable: int


@dataclass(frozen=True)
class Memory:
    """Main memory in bytes; None where it is not told.

    Args:
      total: of the machine.
      available: what a process could still get, cgroup limits taken into account.
      limit: of the process's cgroups; None without a limit.
    """

    total: int | None
    available: int | None
    limit: int | None


def processor(root: Path = proc.ROOT) -> Processor:
    """The processor that this runs on; of several kinds, the first.

    Args:
      root: where ``proc`` is.
    """
    fields = _cpu_fields(root)
    if not fields and sys.platform == "darwin":
        return _mac_processor()
    architecture = platform.machine() or "unknown"
    if "Features" in fields:
        return _arm_processor(fields, architecture)
    flags = fields.get("flags", "").split()
    vendor = fields.get("vendor_id", "")
    model = "/".join(fields.get(key, "?") for key in ("cpu family", "model", "stepping"))
    return Processor(
        name=_one_line(fields.get("model name") or platform.processor() or architecture),
        vendor=_VENDORS.get(vendor, vendor) or "unknown",
        architecture=architecture,
        model=model if fields else "",
        instruction_sets=x86_sets(flags),
        virtual="hypervisor" in flags if flags else None,
    )


def _arm_processor(fields: Mapping[str, str], architecture: str) -> Processor:
    maker, part = fields.get("CPU implementer", ""), fields.get("CPU part", "")
    vendor = _VENDORS.get(maker, maker) or "unknown"
    design = _ARM_PARTS.get(part, part) if maker == "0x41" else part
    name = fields.get("model name") or f"{vendor} {design}".strip()
    model = "/".join(fields.get(f"CPU {key}", "?") for key in ("part", "variant", "revision"))
    sets = arm_sets(fields["Features"].split())
    return Processor(_one_line(name), vendor, architecture, model, sets, None)


def _mac_processor() -> Processor:
    name = _sysctl("machdep.cpu.brand_string") or platform.processor()
    said = f"{_sysctl('machdep.cpu.features')} {_sysctl('machdep.cpu.leaf7_features')}"
    # macOS writes SSE4.2, AVX1.0 and AVX512F for what Linux calls sse4_2, avx and avx512f.
    flags = [word.replace(".", "_") for word in said.lower().replace("avx1.0", "avx").split()]
    architecture = platform.machine()
    # Every 64-bit ARM processor has NEON.
    sets = arm_sets(["asimd"]) if architecture == "arm64" else x86_sets(flags)
    vendor = name.split()[0].removesuffix("(R)") if name else "unknown"
    return Processor(_one_line(name), vendor, architecture, "", sets, None)


def _sysctl(name: str) -> str:
    try:
        done = subprocess.run(
            ["sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def cores(root: Path = proc.ROOT) -> Cores:
    """The cores of this machine and those that this process may use.

    Args:
      root: where ``proc`` and ``sys`` are.
    """
    online = os.cpu_count() or 1
    quota = cgroups.cpu_quota(root)
    allowed = _allowed(online)
    return Cores(online, _physical(root), allowed, quota, _within(allowed, quota))


def usable_cores(root: Path = proc.ROOT) -> int:
    """How many threads may compute at the same time: affinity and quota taken into account.

    It reads a few files of ``/proc`` and the cgroups (less than a millisecond).  The answer changes
    when somebody changes them, so a caller keeps it for as long as suits it.

    Args:
      root: where ``proc`` and ``sys`` are.

    Returns:
      At least 1.
    """
    return _within(_allowed(os.cpu_count() or 1), cgroups.cpu_quota(root))


def _allowed(online: int) -> int:
    try:
        return len(os.sched_getaffinity(0)) or online
    except (AttributeError, OSError):  # macOS and Windows have none
        return online


def _within(allowed: int, quota: float | None) -> int:
    """Cores for a team of threads under a quota.

    A team larger than the quota runs ahead of it and is then stopped for the rest of the period
    (usually 100 ms), which a step of a millisecond cannot hide.  A smaller one leaves time unused.
    A step's threads work together for a part of it only: rounding up by less than half a core
    stays within the quota on average, rounding up by more does not.
    """
    if quota is None:
        return allowed
    whole = math.floor(quota)
    return max(1, min(allowed, whole + 1 if quota - whole > 0.5 else whole))


def _physical(root: Path) -> int | None:
    """Cores without their second hardware threads."""
    seen = set()
    for block in _cpu_blocks(root):
        if "core id" not in block:
            return None
        seen.add((block.get("physical id"), block["core id"]))
    return len(seen) or None


def memory(root: Path = proc.ROOT) -> Memory:
    """Main memory: all of it, and what this process could still get.

    Args:
      root: where ``proc`` and ``sys`` are.
    """
    fields = _meminfo(root)
    total = fields.get("MemTotal", _total_elsewhere())
    available = fields.get("MemAvailable", fields.get("MemFree"))
    bound = cgroups.memory_limit(root)
    if bound is None:
        return Memory(total, available, None)
    left = bound.left if available is None else min(available, bound.left)
    return Memory(total, left, bound.limit)


def _meminfo(root: Path) -> dict[str, int]:
    """The rows of ``/proc/meminfo`` in bytes."""
    rows = re.findall(r"^(\w+):[ \t]+(\d{1,15}) kB$", proc.text(root / "proc/meminfo"), re.M | re.A)
    return {name: int(count) * 1024 for name, count in rows}


def _total_elsewhere() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def lowering(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variables of the environment that make kernels use fewer instructions."""
    return {name: environ[name] for name in LOWERING if environ.get(name)}


def fingerprint(torch_version: str, environ: Mapping[str, str] = os.environ,
                root: Path = proc.ROOT) -> str:  # fmt: skip
    """A name for what was measured here: another name means that it has to be measured again.

    Args:
      torch_version: of the torch that was measured.
      environ: where the variables of ``LOWERING`` are looked up.
      root: where ``proc`` and ``sys`` are.

    Returns:
      Letters, digits, ``-`` and ``.``: fit for a file's name.
    """
    chip, usable = processor(root), usable_cores(root)
    facts = [chip.name, chip.vendor, chip.architecture, chip.model, *chip.instruction_sets]
    facts += [str(usable), torch_version]
    facts += [f"{name}={value}" for name, value in lowering(environ).items()]
    mark = hashlib.sha256("\0".join(facts).encode(errors="replace")).hexdigest()[:12]
    name = re.sub(r"[^a-z0-9]+", "-", chip.name.lower()).strip("-")[:40].strip("-")
    kernels = (capability(chip.instruction_sets) or chip.architecture).lower()
    return f"{name or 'processor'}-{re.sub('[^a-z0-9]+', '', kernels)}-{usable}c-{mark}"


def _cpu_fields(root: Path) -> dict[str, str]:
    blocks = _cpu_blocks(root)
    return blocks[0] if blocks else {}


def _cpu_blocks(root: Path) -> list[dict[str, str]]:
    """``/proc/cpuinfo``: what it says about each processor."""
    blocks = []
    for paragraph in re.split(r"\n\s*\n", proc.text(root / "proc/cpuinfo")):
        pairs = (line.partition(":") for line in paragraph.splitlines() if ":" in line)
        block = {key.strip(): value.strip() for key, _, value in pairs}
        # Some ARM kernels append a paragraph about the board.
        if "processor" in block:
            blocks.append(block)
    return blocks


def _one_line(text: str) -> str:
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())

"""What looks wrong: rules over the facts, each with what to do about it.

An error keeps Penstock from working, or from working at a useful speed.  A warning costs speed or
steadiness.  A note is worth knowing.  A rule is a function of the facts that yields findings; it is
one of ``RULES``.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from penstock.cli.doctor_facts import Facts
from penstock.cli.doctor_variables import KNOWN
from penstock.cli.output import size
from penstock.foundation.machine import hardware, spare
from penstock.foundation.machine.instructions import capability

_MIB, _GIB = 1 << 20, 1 << 30
# Others' use of the cores, and what the hypervisor takes of them, that a step's time shows.
_BUSY_CORES, _STOLEN_SHARE = 0.5, 0.05
_MEMORY_LOW, _MEMORY_OUT = _GIB, _GIB // 4
_DISK_LOW, _DISK_OUT = _GIB, 100 * _MIB
# Kernels of torch, from the fewest instructions to the most.
_CAPABILITIES = ("DEFAULT", "AVX2", "AVX512")
# Variables that say how many threads compute.
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Severity(StrEnum):
    """How much a finding matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Finding:
    """Something that looks wrong.

    Args:
      severity: how much it matters.
      code: its name, which stays the same.
      found: what was found.
      advice: what to do.
    """

    severity: Severity
    code: str
    found: str
    advice: str


def _error(code: str, found: str, advice: str) -> Finding:
    return Finding(Severity.ERROR, code, found, advice)


def _warning(code: str, found: str, advice: str) -> Finding:
    return Finding(Severity.WARNING, code, found, advice)


def _note(code: str, found: str, advice: str) -> Finding:
    return Finding(Severity.NOTE, code, found, advice)


def _imports(facts: Facts) -> Iterator[Finding]:
    if facts.torch_error is not None:
        yield _error(
            "torch-import",
            f"torch cannot be imported: {facts.torch_error}",
            "install a torch that is built for this processor and this Python:"
            " pip install --force-reinstall torch",
        )
    elif facts.choices_error is not None:
        yield _error(
            "penstock-import",
            f"Penstock cannot be imported: {facts.choices_error}",
            "install it again: pip install --force-reinstall penstock",
        )


def _packages(facts: Facts) -> Iterator[Finding]:
    for package in facts.packages:
        oldest = re.fullmatch(r">=\s*([0-9.]+)", package.needs)
        if package.version is None:
            if package.required:
                yield _error(
                    "package-missing",
                    f"{package.name} is not installed, and Penstock needs it",
                    f"pip install '{package.name}{package.needs}'",
                )
        elif oldest and _numbers(package.version) < _numbers(oldest[1]):
            report = _error if package.required else _warning
            yield report(
                "package-old",
                f"{package.name} is {package.version}; Penstock is written for {package.needs}",
                f"pip install --upgrade '{package.name}{package.needs}'",
            )


def _numbers(version: str) -> tuple[int, ...]:
    """A version as numbers to compare; what stands behind a ``+`` is the build's."""
    found = [int(digits[:9]) for digits in re.findall("[0-9]+", version.partition("+")[0])]
    return (*found, 0, 0, 0)[:3]


def _torch_kernels(facts: Facts) -> Iterator[Finding]:
    offered = capability(facts.machine.processor.instruction_sets)
    if facts.torch is None or offered is None:
        return
    used = facts.torch.capability
    # Set on purpose, ATEN_CPU_CAPABILITY is a finding of its own.
    lowered = any(each.name == "ATEN_CPU_CAPABILITY" and each.value for each in facts.environment)
    if not lowered and used in _CAPABILITIES and _rank(used) < _rank(offered):
        yield _error(
            "torch-capability",
            f"torch uses its {used} kernels, and the processor offers {offered}: this torch was"
            " built for another machine",
            "install torch from its own package index: pip install --force-reinstall torch",
        )
    if offered == "DEFAULT":
        yield _warning(
            "no-avx2",
            "the processor shows neither AVX2 nor FMA: kernels are several times slower",
            "on a virtual machine, let it see the host's processor (CPU model 'host')",
        )


def _rank(name: str) -> int:
    return _CAPABILITIES.index(name)


def _torch_build(facts: Facts) -> Iterator[Finding]:
    if facts.torch is None:
        return
    if facts.torch.debug or facts.torch.build_type.lower() == "debug":
        yield _warning(
            "torch-debug",
            "torch is a debug build: its kernels are slow",
            "install a release build: pip install --force-reinstall torch",
        )
    runtimes = facts.torch.openmp_runtimes
    if len(runtimes) > 1:
        yield _warning(
            "openmp-twice",
            f"{len(runtimes)} OpenMP runtimes are loaded in one process: {', '.join(runtimes)};"
            " each makes a team of its own for all cores",
            "look at LD_PRELOAD; take torch and NumPy both from pip, or both from conda",
        )


def _gpus(facts: Facts) -> Iterator[Finding]:
    torch, shown = facts.torch, facts.machine.gpus
    if torch is None or torch.gpus:
        return
    built = "CUDA" if torch.cuda else "ROCm" if torch.hip else None
    if shown and built is None:
        yield _warning(
            "gpu-unused",
            f"there is a GPU ({', '.join(shown)}), and torch is built without CUDA or ROCm",
            "install a build of torch for it: see https://pytorch.org/get-started/locally/",
        )
    elif shown and any(v.name == "CUDA_VISIBLE_DEVICES" for v in facts.environment):
        yield _note(
            "gpu-hidden",
            f"there is a GPU ({', '.join(shown)}), and CUDA_VISIBLE_DEVICES hides it",
            "unset CUDA_VISIBLE_DEVICES to use it",
        )
    elif shown:
        yield _warning(
            "gpu-unusable",
            f"there is a GPU ({', '.join(shown)}), and torch, built for {built}, cannot use it",
            "look at the driver: nvidia-smi or rocm-smi says its version, and"
            " python -c 'import torch; torch.zeros(1).cuda()' what is wrong",
        )
    elif built is not None:
        yield _note(
            "gpu-missing",
            f"torch is built for {built}, and there is no GPU: it is large, and slow to import",
            "a CPU build will do: pip install torch --index-url https://download.pytorch.org/whl/cpu",
        )


def _sharing(facts: Facts) -> Iterator[Finding]:
    use, cores = facts.machine.use, facts.machine.cores
    if use is not None and use.others > _BUSY_CORES:
        pressure = "" if use.pressure is None else f"; tasks waited {use.pressure:.0%} of the time"
        yield _warning(
            "busy",
            f"others use {use.others:.1f} of {use.cores} cores{pressure}",
            "end what need not run; figures that are measured now say little",
        )
    if use is not None and use.steal > _STOLEN_SHARE * use.cores:
        yield _warning(
            "steal",
            f"the hypervisor gives other machines {use.steal / use.cores:.0%} of the cores' time",
            "a machine with cores of its own is steadier",
        )
    if cores.quota is not None and cores.quota < cores.allowed:
        report = _warning if cores.quota < 1 else _note
        yield report(
            "quota",
            f"a cgroup allows {cores.quota:g} cores' worth of time on {cores.allowed} cores:"
            f" teams of more than {cores.usable} would be stopped for parts of each period",
            "allow a whole number of cores (docker --cpus, Kubernetes limits.cpu)",
        )


def _threads(facts: Facts) -> Iterator[Finding]:
    usable = facts.machine.cores.usable
    for each in facts.environment:
        if each.name not in _THREADS or not each.value:
            continue
        first = each.value.split(",")[0].strip()  # OpenMP: one number for each level of nesting
        if not re.fullmatch("[0-9]{1,9}", first) or int(first) == 0:
            yield _warning(
                "threads-unread",
                f"{each.name}={each.value} is no number of threads",
                f"set it to 1 .. {usable}, or unset it",
            )
        elif int(first) > usable:
            yield _warning(
                "threads-many",
                f"{each.name}={each.value}, and {usable} cores can be used: threads wait for each"
                " other's cores",
                f"set it to at most {usable}, or unset it: Penstock sizes its teams itself",
            )


def _spinning(facts: Facts) -> Iterator[Finding]:
    use, cores = facts.machine.use, facts.machine.cores
    shared = use is not None and use.others > _BUSY_CORES
    if not shared and (cores.quota is None or cores.quota >= cores.allowed):
        return
    for each in facts.environment:
        if (each.name, each.value.strip().lower()) in (
            ("OMP_WAIT_POLICY", "active"),
            ("GOMP_SPINCOUNT", "infinite"),
            ("GOMP_SPINCOUNT", "infinity"),
            ("KMP_BLOCKTIME", "infinite"),
        ):
            yield _warning(
                "spinning",
                f"{each.name}={each.value} while cores are shared: threads spin for others that"
                " have no core",
                f"unset {each.name}",
            )


def _lowered(facts: Facts) -> Iterator[Finding]:
    names = [v.name for v in facts.environment if v.name in hardware.LOWERING and v.value]
    if names:
        yield _warning(
            "lowered",
            f"{', '.join(names)} may keep kernels from instructions that the processor has",
            f"unless this is meant: unset {' '.join(names)}",
        )


def _variables(facts: Facts) -> Iterator[Finding]:
    for each in facts.environment:
        if each.name.startswith("PENSTOCK_") and each.meaning is None:
            names = [name for name in KNOWN if name.startswith("PENSTOCK_")]
            alike = difflib.get_close_matches(each.name, names, 1)
            yield _warning(
                "variable-unknown",
                f"{each.name} is set, and nothing reads it",
                f"is {alike[0]} meant?" if alike else f"unset {each.name}",
            )
        if each.name == "TF_CONFIG" and each.value.strip() and not _is_object(each.value):
            yield _error(
                "tf-config",
                "TF_CONFIG is no JSON object: a program that reads it fails",
                'unset it, or write {"cluster": {...}, "task": {"type": ..., "index": ...}}',
            )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _compiler(facts: Facts) -> Iterator[Finding]:
    tools = facts.machine.toolchain
    advice = (
        "only native forms of steps that prove hot need it, all else runs as it is:"
        " install g++ (Debian, Ubuntu) or gcc-c++ (Fedora)"
    )
    if not tools.compilers:
        yield _note("compiler-missing", "there is no C++ compiler", advice)
    elif not tools.builds:
        first = tools.compilers[0].command
        yield _note("compiler-broken", f"{first} builds no library: {tools.complaint}", advice)
    short = spare.lacking(facts.machine.memory, facts.machine.cores, 0.0)
    if tools.builds and short:
        yield _note(
            "native-waits",
            f"no step that proves hot is compiled: {short}",
            "PENSTOCK_NATIVE=on compiles with one core, too; nothing is lost but speed",
        )
    if tools.python_headers is None:
        yield _note(
            "headers-missing",
            "Python.h is not installed",
            "only native code needs it: install python3-dev (Debian, Ubuntu) or python3-devel",
        )


def _space(facts: Facts) -> Iterator[Finding]:
    memory, cache = facts.machine.memory, facts.cache
    if memory.available is not None and memory.available < _MEMORY_LOW:
        within = "" if memory.limit is None else f" (a cgroup allows {size(memory.limit)})"
        report = _error if memory.available < _MEMORY_OUT else _warning
        yield report(
            "memory-low",
            f"{size(memory.available)} of memory are left{within}",
            "end what need not run, or allow more",
        )
    if cache is None:
        return
    if not cache.writable:
        yield _warning(
            "cache-unwritable",
            f"the cache folder {cache.folder} cannot be written: every process measures anew",
            "set PENSTOCK_CACHE to a folder that can",
        )
    if cache.free is not None and cache.free < _DISK_LOW:
        report = _error if cache.free < _DISK_OUT else _warning
        yield report(
            "disk-low",
            f"{size(cache.free)} are left on the disk of the cache folder {cache.folder}",
            "make room, or set PENSTOCK_CACHE to a folder on another disk",
        )


def _interpreter(facts: Facts) -> Iterator[Finding]:
    python = facts.python
    if python.debug:
        yield _warning(
            "python-debug",
            f"Python {python.version} is a debug build: a step starts several times slower",
            "use a release build",
        )
    if python.optimized is False:
        yield _warning(
            "python-plain",
            f"Python {python.version} was built without --enable-optimizations: what Penstock does"
            " between kernels takes longer than with a packaged one",
            "use a packaged Python, or build one with --enable-optimizations (pyenv:"
            " PYTHON_CONFIGURE_OPTS=--enable-optimizations)",
        )


RULES: tuple[Callable[[Facts], Iterator[Finding]], ...] = (
    _imports,
    _packages,
    _torch_kernels,
    _torch_build,
    _gpus,
    _sharing,
    _threads,
    _spinning,
    _lowered,
    _variables,
    _compiler,
    _space,
    _interpreter,
)


def findings(facts: Facts) -> list[Finding]:
    """What looks wrong, errors first."""
    found = [finding for rule in RULES for finding in rule(facts)]
    return sorted(found, key=lambda finding: list(Severity).index(finding.severity))

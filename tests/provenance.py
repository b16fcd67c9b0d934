"""What figures and failures came from, in a line or two: processor, kernels, threads, settings.

Kernels of another instruction set, or a sum shared by other threads, round in another order; what
a run was lowered to stands beside what it found.
"""

from __future__ import annotations

import os
from importlib import metadata
from pathlib import Path

# What chooses kernels, or says how many threads they take (`make test ISA= THREADS=` sets some).
VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "ONEDNN_MAX_CPU_ISA",
    "MKL_ENABLE_INSTRUCTIONS",
    "MKL_CBWR",
    "OMP_NUM_THREADS",
    "OMP_DYNAMIC",
    "OMP_WAIT_POLICY",
    "MKL_NUM_THREADS",
)
# As /proc/cpuinfo names them: those that kernels are written for.
INSTRUCTIONS = ("sse4_2", "avx", "avx2", "fma", "avx512f", "avx512_bf16", "amx_tile")


def _processor_fields() -> dict[str, str]:
    """The fields of the first processor, in small letters; none where there is no such file."""
    path = Path("/proc/cpuinfo")
    lines = path.read_text().split("\n\n")[0].splitlines() if path.exists() else []
    pairs = (line.partition(":") for line in lines)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def processor() -> str:
    """The processor's name, the cores that this process may use, and its instruction sets."""
    fields = _processor_fields()
    flags = (fields.get("flags") or fields.get("features") or "").split()
    known = " ".join(name for name in INSTRUCTIONS if name in flags)
    name = fields.get("model name", "unknown processor")
    return f"{name}, {len(os.sched_getaffinity(0))} cores ({known or 'instruction sets unknown'})"


def settings() -> str:
    """The variables that are set, or that none is."""
    found = [f"{name}={os.environ[name]}" for name in VARIABLES if name in os.environ]
    return " ".join(found) or "none that lowers kernels or their threads"


def header() -> list[str]:
    """What is known without importing torch, which takes seconds."""
    torch = metadata.version("torch")
    return [f"processor: {processor()}", f"torch: {torch}", f"set: {settings()}"]


def kernels() -> str:
    """Which kernels ATen chose in this process, and how many threads they take."""
    import torch

    capability = torch.backends.cpu.get_cpu_capability()
    threads = torch.get_num_threads()
    return f"torch {torch.__version__}, {capability} kernels, {threads} thread(s)"

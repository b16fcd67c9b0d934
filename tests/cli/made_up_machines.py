"""A machine with which nothing is wrong, as ``penstock doctor`` sees one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.cli.doctor_facts import Cache, CacheFile, Facts, Machine, Package, Python
from penstock.cli.doctor_inside import Choices, Torch
from penstock.cli.doctor_variables import variables
from penstock.foundation.machine import hardware, load
from penstock.foundation.machine.compilers import Compiler, Toolchain
from penstock.foundation.machine.instructions import x86_sets

GIB = 1 << 30
AVX2 = x86_sets("sse4_2 avx f16c fma avx2".split())

GOOD = Facts(
    penstock="0.1.0",
    fingerprint="a-processor-avx2-4c-0123456789ab",
    machine=Machine(
        system="Linux 6.1",
        processor=hardware.Processor("A processor", "AMD", "x86_64", "25/1/1", AVX2, True),
        cores=hardware.Cores(online=4, physical=4, allowed=4, quota=None, usable=4),
        use=load.Use(seconds=0.5, cores=4, own=0.1, others=0.2, steal=0.0, pressure=0.01),
        memory=hardware.Memory(16 * GIB, 8 * GIB, None),
        gpus=(),
        toolchain=Toolchain((Compiler("c++", "/usr/bin/c++", "c++ 12.2"),), True, "", "/include"),
    ),
    python=Python("3.11.7", "CPython", "/usr/bin/python3", "GCC 12.2.0", True, False, False),
    torch=Torch(
        version="2.13.0+cpu", folder="/site-packages/torch", cuda=None, hip=None, debug=False,
        compiler="GCC 13.3", build_type="Release", built_for=("AVX", "AVX2"), blas="mkl",
        mkl="2024.2", onednn="v3.12.0", openmp="4.5", capability="AVX2", threads=4,
        interop_threads=4, gpus=(), openmp_runtimes=("/torch/lib/libgomp.so.1",),
        import_seconds=1.5,
    ),
    torch_error=None,
    packages=(
        Package("torch", "2.13.0+cpu", ">=2.6", True),
        Package("numpy", "2.0rc1", ">=1.26", True),
        Package("protobuf", "5.27", "", True),
        Package("ray", None, ">=2.40", False),
    ),
    choices=Choices(
        [{"form": "128x65x256", "chosen": "mm", "times": {"mm": 63.0, "linear": 82.5}}],
        {"cores": 4, "team": 4, "waits": "spinning", "why": "nobody else uses the cores"},
        2.5,
    ),
    choices_error=None,
    environment=tuple(variables({"OMP_NUM_THREADS": "1", "PENSTOCK_KEEP_MEMORY": "0"})),
    cache=Cache("/home/me/.cache/penstock", True, 50 * GIB, (CacheFile("products", 900, 7200.0),)),
)  # fmt: skip


def but(**changes: Any) -> Facts:
    """The good machine, but for some facts: those of a part are given as a dict.

    ``torch={"debug": True}`` changes a field of ``torch``, ``machine={"use": {...}}`` one of
    ``machine.use``; ``environ`` are the variables that are set.
    """
    if "environ" in changes:
        changes["environment"] = tuple(variables(changes.pop("environ")))
    return _changed(GOOD, changes)


def _changed(part: Any, changes: dict[str, Any]) -> Any:
    done = {
        name: _changed(getattr(part, name), value) if isinstance(value, dict) else value
        for name, value in changes.items()
    }
    return replace(part, **done)

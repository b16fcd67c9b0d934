"""Made-up machines, hostile ones, and this one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from penstock.foundation.machine import hardware
from tests.foundation.machine.made_up import AVX512, MEMINFO, cgroup2, cpuinfo, write

ROOT = Path(__file__).resolve().parents[3]
GRAVITON = (
    "processor\t: 0\nBogoMIPS\t: 243.75\n"
    "Features\t: fp asimd fphp asimdhp asimddp sve bf16 i8mm\n"
    "CPU implementer\t: 0x41\nCPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n\n"
    "Hardware\t: some board\n"
)


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets how many cores affinity and the machine have."""

    def choose(count: int) -> None:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(count)), raising=False)
        monkeypatch.setattr(os, "cpu_count", lambda: 8)

    return choose


def test_an_x86_processor(tmp_path: Path) -> None:
    chip = hardware.processor(write(tmp_path, {"proc/cpuinfo": cpuinfo()}))
    assert (chip.name, chip.vendor) == ("AMD Ryzen 5 3600 6-Core Processor", "AMD")
    assert chip.model == "23/113/0" and chip.virtual is False
    assert chip.instruction_sets == ("SSE4.2", "AVX", "F16C", "FMA", "AVX2")
    assert hardware.cores(tmp_path).physical == 2
    write(tmp_path, {"proc/cpuinfo": cpuinfo(AVX512 + " hypervisor")})
    chip = hardware.processor(tmp_path)
    assert "AMX-BF16" in chip.instruction_sets and chip.virtual is True


def test_an_arm_processor(tmp_path: Path) -> None:
    chip = hardware.processor(write(tmp_path, {"proc/cpuinfo": GRAVITON}))
    assert (chip.name, chip.vendor, chip.model) == ("ARM Neoverse-V1", "ARM", "0xd40/0x1/1")
    assert chip.instruction_sets == ("NEON", "FP16", "DotProd", "I8MM", "BF16", "SVE")
    assert chip.virtual is None and hardware.cores(tmp_path).physical is None


def test_a_mac(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {
        "machdep.cpu.brand_string": "Intel(R) Core(TM) i7-8750H CPU @ 2.20GHz",
        "machdep.cpu.features": "FPU SSE4.1 SSE4.2 FMA AVX1.0 F16C",
        "machdep.cpu.leaf7_features": "AVX2 BMI2",
    }
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(hardware, "_sysctl", lambda name: said.get(name, ""))
    monkeypatch.setattr(hardware.platform, "machine", lambda: "x86_64")
    chip = hardware.processor(tmp_path)
    assert chip.vendor == "Intel" and chip.virtual is None
    assert chip.instruction_sets == ("SSE4.2", "AVX", "F16C", "FMA", "AVX2")
    monkeypatch.setattr(hardware, "_sysctl", lambda _: "Apple M2")
    monkeypatch.setattr(hardware.platform, "machine", lambda: "arm64")
    chip = hardware.processor(tmp_path)
    assert (chip.name, chip.vendor, chip.instruction_sets) == ("Apple M2", "Apple", ("NEON",))


def test_a_system_that_tells_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.delattr(os, "sysconf", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    monkeypatch.setattr(sys, "platform", "win32")
    chip = hardware.processor(tmp_path)
    assert chip.name and chip.instruction_sets == () and chip.virtual is None
    assert hardware.cores(tmp_path) == hardware.Cores(6, None, 6, None, 6)
    assert hardware.memory(tmp_path) == hardware.Memory(None, None, None)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert hardware.usable_cores(tmp_path) == 1


@pytest.mark.parametrize(
    ("cores", "quota", "usable"),
    [
        (4, None, 4), (1, None, 1), (4, 4.0, 4), (4, 3.0, 3), (4, 12.0, 4), (2, 0.1, 1),
        (4, 0.6, 1), (4, 1.0, 1), (4, 1.5, 1), (4, 1.51, 2), (4, 2.25, 2), (4, 3.75, 4),
        (3, 3.75, 3),
    ],
)  # fmt: skip
def test_usable_cores(
    tmp_path: Path, allowed: Callable[[int], None], cores: int, quota: float | None, usable: int
) -> None:
    allowed(cores)
    if quota is not None:
        write(tmp_path, cgroup2("/a", {"a/cpu.max": f"{round(quota * 100_000)} 100000"}))
    assert hardware.usable_cores(tmp_path) == usable
    found = hardware.cores(tmp_path)
    assert (found.online, found.allowed, found.quota, found.usable) == (8, cores, quota, usable)


def test_affinity_that_cannot_be_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: int) -> set[int]:
        raise PermissionError

    monkeypatch.setattr(os, "sched_getaffinity", refused, raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    assert hardware.usable_cores(tmp_path) == 8


def test_memory(tmp_path: Path) -> None:
    write(tmp_path, {"proc/meminfo": MEMINFO})
    total, available = 16_384_000 * 1024, 8_192_000 * 1024
    assert hardware.memory(tmp_path) == hardware.Memory(total, available, None)
    limits = {"a/memory.max": "1000000", "a/memory.current": "400000"}
    write(tmp_path, cgroup2("/a", limits))
    assert hardware.memory(tmp_path) == hardware.Memory(total, 600_000, 1_000_000)
    write(tmp_path, {"proc/meminfo": MEMINFO.replace("MemAvailable", "Other")})
    write(tmp_path, cgroup2("/a", {"a/memory.max": "max"}))
    assert hardware.memory(tmp_path).available == 1_024_000 * 1024


@given(content=st.binary(max_size=300))
def test_any_bytes_at_all(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    root = tmp_path_factory.mktemp("machine")
    names = ("proc/cpuinfo", "proc/meminfo", "proc/self/cgroup", "proc/self/mountinfo")
    write(root, dict.fromkeys(names, content))
    assert hardware.processor(root).name.isprintable()
    assert hardware.usable_cores(root) >= 1
    hardware.memory(root)
    assert re.fullmatch(r"[a-z0-9.-]+", hardware.fingerprint("2", {}, root))


@pytest.mark.parametrize(
    "content",
    [
        cpuinfo(name="evil\x1b[31m name\x07"),
        "processor\t: 0\n",
        "processor : 0\nflags:\nmodel name:\n",
        "processor\t: 0\nmodel name\t: " + "x" * 100_000 + "\n",
        "MemTotal: 99999999999999999999999999 kB\nprocessor",
    ],
)
def test_strange_contents(tmp_path: Path, content: str) -> None:
    write(tmp_path, {"proc/cpuinfo": content, "proc/meminfo": content})
    chip = hardware.processor(tmp_path)
    assert chip.name and chip.name.isprintable()
    assert len(hardware.fingerprint("2.13.0", {}, tmp_path)) < 100
    hardware.memory(tmp_path)


def test_fingerprints_tell_machines_apart(tmp_path: Path, allowed: Callable[[int], None]) -> None:
    allowed(4)
    here = write(tmp_path / "a", {"proc/cpuinfo": cpuinfo()})
    there = write(tmp_path / "b", {"proc/cpuinfo": cpuinfo(AVX512)})
    first = hardware.fingerprint("2.13.0", {}, here)
    assert first.startswith("amd-ryzen-5-3600-6-core-processor-avx2-4c-")
    assert first == hardware.fingerprint("2.13.0", {"HOME": "/", "MKL_CBWR": ""}, here)
    found = [
        first,
        hardware.fingerprint("2.13.0", {}, there),
        hardware.fingerprint("2.12", {}, here),
    ]
    for name in hardware.LOWERING:
        found += [hardware.fingerprint("2.13.0", {name: value}, here) for value in ("a", "b")]
    allowed(2)
    found.append(hardware.fingerprint("2.13.0", {}, here))
    assert len(set(found)) == len(found)


def test_lowering() -> None:
    environ = {"ATEN_CPU_CAPABILITY": "avx2", "MKL_CBWR": "", "PATH": "/"}
    assert hardware.lowering(environ) == {"ATEN_CPU_CAPABILITY": "avx2"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_this_machine() -> None:
    chip, found, memory = hardware.processor(), hardware.cores(), hardware.memory()
    assert chip.name and chip.vendor and chip.architecture == os.uname().machine
    assert 1 <= found.usable <= found.allowed <= found.online
    assert found.usable == hardware.usable_cores()
    assert memory.total is not None and memory.available is not None
    assert 0 < memory.available <= memory.total


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="no affinity here")
def test_a_process_that_may_use_one_core() -> None:
    one = min(os.sched_getaffinity(0))
    code = (
        f"import os; os.sched_setaffinity(0, {{{one}}})\n"
        "from penstock.foundation.machine import hardware; print(hardware.cores().allowed, "
        "hardware.usable_cores())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100,
        check=True,
    )  # fmt: skip
    assert done.stdout.split() == ["1", "1"]

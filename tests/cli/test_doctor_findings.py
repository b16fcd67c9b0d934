"""Each finding of ``penstock doctor``: on the machine that has it, and on none that has not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from penstock.cli import doctor_findings
from penstock.cli.doctor_facts import Cache, Package
from penstock.cli.doctor_findings import Severity, findings
from penstock.foundation.machine.compilers import Compiler, Toolchain
from penstock.foundation.machine.instructions import x86_sets
from tests.cli.made_up_machines import AVX2, GIB, GOOD, but

AVX512 = (*AVX2, *x86_sets("avx512f avx512bw avx512dq avx512vl".split()))
NO_TOOLS = Toolchain((), None, "", "/include")
BROKEN_TOOLS = Toolchain((Compiler("cc", "/bin/cc", "cc 1"),), False, "no cmath", "/include")
QUOTA = {"quota": 2.5, "usable": 2}


def use(**changes: Any) -> dict[str, Any]:
    """A machine on which others do that."""
    return {"machine": {"use": changes}}


def cores(**changes: Any) -> dict[str, Any]:
    """A machine with these cores."""
    return {"machine": {"cores": changes}}


def package(name: str, version: str | None, needs: str, required: bool = True) -> dict[str, Any]:
    """A machine with one package."""
    return {"packages": (Package(name, version, needs, required),)}


def cache(writable: bool = True, free: int | None = 50 * GIB) -> dict[str, Any]:
    """A machine with this cache folder."""
    return {"cache": Cache("/cache", writable, free, ())}


# Severity, code, a part of what is said, and what is different from the good machine.
CASES: list[tuple[str, str, str, dict[str, Any]]] = [
    ("error", "torch-import", "SIGILL", {"torch": None, "torch_error": "SIGILL",
                                         "choices": None, "choices_error": "SIGILL"}),
    ("error", "penstock-import", "crc32c", {"choices": None, "choices_error": "no crc32c"}),
    ("error", "package-missing", "numpy is not installed", package("numpy", None, ">=1.26")),
    ("error", "package-old", "torch is 2.5.1", package("torch", "2.5.1+cpu", ">=2.6")),
    ("error", "package-old", "numpy is 1.9", package("numpy", "1.9.9", ">=1.26")),
    ("warning", "package-old", "ray is 2.3", package("ray", "2.3", ">=2.40", False)),
    ("error", "torch-capability", "its DEFAULT kernels, and the processor offers AVX2",
     {"torch": {"capability": "DEFAULT"}}),
    ("error", "torch-capability", "its AVX2 kernels, and the processor offers AVX512",
     {"machine": {"processor": {"instruction_sets": AVX512}}}),
    ("warning", "no-avx2", "neither AVX2 nor FMA",
     {"machine": {"processor": {"instruction_sets": ("SSE4.2",)}},
      "torch": {"capability": "DEFAULT"}}),
    ("warning", "torch-debug", "debug build", {"torch": {"debug": True}}),
    ("warning", "torch-debug", "debug build", {"torch": {"build_type": "Debug"}}),
    ("warning", "openmp-twice", "/b/libiomp5.so",
     {"torch": {"openmp_runtimes": ("/a/libgomp.so.1", "/b/libiomp5.so")}}),
    ("warning", "gpu-unused", "NVIDIA H200", {"machine": {"gpus": ("NVIDIA H200",)}}),
    ("warning", "gpu-unusable", "built for CUDA",
     {"machine": {"gpus": ("NVIDIA H200",)}, "torch": {"cuda": "12.4"}}),
    ("warning", "gpu-unusable", "built for ROCm",
     {"machine": {"gpus": ("AMD GPU",)}, "torch": {"hip": "6.1"}}),
    ("note", "gpu-hidden", "CUDA_VISIBLE_DEVICES",
     {"machine": {"gpus": ("NVIDIA H200",)}, "torch": {"cuda": "12.4"},
      "environ": {"CUDA_VISIBLE_DEVICES": ""}}),
    ("note", "gpu-missing", "built for CUDA", {"torch": {"cuda": "12.4"}}),
    ("warning", "busy", "others use 0.6 of 4 cores; tasks waited 1%", use(others=0.6)),
    ("warning", "busy", "others use 3.0 of 4 cores", use(others=3.0, pressure=None)),
    ("warning", "steal", "6% of the cores' time", use(steal=0.25)),
    ("note", "quota", "2.5 cores' worth of time on 4 cores", cores(**QUOTA)),
    ("warning", "quota", "0.5 cores' worth", cores(quota=0.5, usable=1)),
    ("warning", "threads-many", "OMP_NUM_THREADS=5", {"environ": {"OMP_NUM_THREADS": "5"}}),
    ("warning", "threads-many", "MKL_NUM_THREADS=64", {"environ": {"MKL_NUM_THREADS": "64"}}),
    ("warning", "threads-unread", "OMP_NUM_THREADS=all", {"environ": {"OMP_NUM_THREADS": "all"}}),
    ("warning", "threads-unread", "OMP_NUM_THREADS=0", {"environ": {"OMP_NUM_THREADS": "0"}}),
    ("warning", "spinning", "OMP_WAIT_POLICY=ACTIVE",
     {**cores(**QUOTA), "environ": {"OMP_WAIT_POLICY": "ACTIVE"}}),
    ("warning", "spinning", "OMP_WAIT_POLICY=active",
     {**use(others=1.0), "environ": {"OMP_WAIT_POLICY": "active"}}),
    ("warning", "spinning", "GOMP_SPINCOUNT=infinite",
     {**use(others=1.0), "environ": {"GOMP_SPINCOUNT": "infinite"}}),
    ("warning", "lowered", "ONEDNN_MAX_CPU_ISA", {"environ": {"ONEDNN_MAX_CPU_ISA": "AVX2"}}),
    ("warning", "lowered", "ATEN_CPU_CAPABILITY",
     {"environ": {"ATEN_CPU_CAPABILITY": "default"}, "torch": {"capability": "DEFAULT"}}),
    ("warning", "variable-unknown", "PENSTOCK_DATAFLO ", {"environ": {"PENSTOCK_DATAFLO": "1"}}),
    ("warning", "variable-unknown", "PENSTOCK_ZZZZ", {"environ": {"PENSTOCK_ZZZZ": "1"}}),
    ("error", "tf-config", "no JSON object", {"environ": {"TF_CONFIG": "{'cluster': 1}"}}),
    ("error", "tf-config", "no JSON object", {"environ": {"TF_CONFIG": "[" * 100_000}}),
    ("note", "compiler-missing", "no C++ compiler", {"machine": {"toolchain": NO_TOOLS}}),
    ("note", "compiler-broken", "no cmath", {"machine": {"toolchain": BROKEN_TOOLS}}),
    ("note", "native-waits", "1536 MiB of memory are left",
     {"machine": {"memory": {"available": 3 << 29}}}),
    ("note", "headers-missing", "Python.h",
     {"machine": {"toolchain": {"python_headers": None}}}),
    ("warning", "memory-low", "500.0 MiB", {"machine": {"memory": {"available": 500 << 20}}}),
    ("error", "memory-low", "a cgroup allows 512.0 MiB",
     {"machine": {"memory": {"available": 100 << 20, "limit": 512 << 20}}}),
    ("warning", "disk-low", "500.0 MiB", cache(free=500 << 20)),
    ("error", "disk-low", "1.0 MiB", cache(free=1 << 20)),
    ("warning", "cache-unwritable", "/cache cannot be written", cache(writable=False)),
    ("warning", "python-debug", "debug build", {"python": {"debug": True}}),
    ("warning", "python-plain", "--enable-optimizations", {"python": {"optimized": False}}),
]  # fmt: skip
EACH = pytest.mark.parametrize(
    ("severity", "code", "part", "changes"), CASES, ids=[f"{c[1]}-{c[2][:20]}" for c in CASES]
)


def test_nothing_is_wrong_with_a_good_machine() -> None:
    assert findings(GOOD) == []


@EACH
def test_a_finding(severity: str, code: str, part: str, changes: dict[str, Any]) -> None:
    found = [each for each in findings(but(**changes)) if each.code == code]
    assert [each.severity for each in found] == [severity], found
    assert part in found[0].found and found[0].advice


@EACH
def test_a_finding_comes_alone(
    severity: str, code: str, part: str, changes: dict[str, Any]
) -> None:
    expected = {code}
    if code == "spinning":  # these machines are shared, which is a finding, too
        expected |= {"busy"} if "others" in str(changes) else {"quota"}
    if code == "memory-low" or part.startswith("0.5 cores"):  # too little for the compiler, too
        expected.add("native-waits")
    assert {each.code for each in findings(but(**changes))} == expected


@pytest.mark.parametrize(
    "changes",
    [
        package("torch", "2.6.0a0+git", ">=2.6"),
        package("torch", "10", ">=2.6"),
        package("numpy", "nonsense", "==1.26,<3"),
        package("ray", None, ">=2.40", False),
        {"machine": {"use": None}},
        use(others=0.5, steal=0.2, pressure=None),
        cores(quota=4.0),
        cores(quota=16.0),
        {"environ": {"OMP_NUM_THREADS": "", "MKL_NUM_THREADS": "4,9", "MKL_CBWR": ""}},
        {"environ": {"OMP_WAIT_POLICY": "ACTIVE", "GOMP_SPINCOUNT": "infinite"}},
        {**use(others=0.4), "environ": {"OMP_WAIT_POLICY": "PASSIVE"}},
        {"environ": {"TF_CONFIG": '{"cluster": {}}', "PENSTOCK_BIND": "127.0.0.1"}},
        {"environ": {"TF_CONFIG": " "}},
        {"environ": {"CUDA_VISIBLE_DEVICES": ""}},
        {"machine": {"memory": {"total": None, "available": None}}},
        cache(free=None),
        {"cache": None},
        {"python": {"optimized": None}},
        {"machine": {"processor": {"instruction_sets": ("NEON", "SVE")}},
         "torch": {"capability": "SVE256"}},
        {"machine": {"processor": {"instruction_sets": ()}}, "torch": {"capability": "DEFAULT"}},
        {"torch": {"capability": "AVX512"}},
    ],
)  # fmt: skip
def test_nothing_is_wrong_with_these_either(changes: dict[str, Any]) -> None:
    assert findings(but(**changes)) == []


def test_a_gpu_that_torch_uses() -> None:
    from penstock.cli.doctor_inside import Gpu

    gpu = (Gpu("NVIDIA H200", 140 * GIB),)
    facts = but(machine={"gpus": ("NVIDIA H200",)}, torch={"cuda": "12.4", "gpus": gpu})
    assert findings(facts) == []


def test_errors_come_first() -> None:
    facts = but(
        environ={"TF_CONFIG": "no"},
        python={"optimized": False},
        machine={"toolchain": NO_TOOLS},
        torch={"debug": True},
    )
    order = [each.severity for each in findings(facts)]
    assert order == [Severity.ERROR, Severity.WARNING, Severity.WARNING, Severity.NOTE]


def test_advice_names_what_was_meant() -> None:
    (found,) = findings(but(environ={"PENSTOCK_TOKN": "x"}))
    assert found.advice == "is PENSTOCK_TOKEN meant?"
    (found,) = findings(but(environ={"PENSTOCK_QQQQQQQQQQQ": "x"}))
    assert found.advice == "unset PENSTOCK_QQQQQQQQQQQ"


def test_every_finding_is_tested_and_on_the_page() -> None:
    source = Path(doctor_findings.__file__).read_text()
    codes = set(re.findall(r'(?:_error|_warning|_note|report)\(\s*"([a-z0-9-]+)"', source))
    assert codes == {code for _, code, _, _ in CASES}
    page = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text()
    rows = re.findall(r"^\| `([a-z0-9-]+)` \| ([a-z, ]+) \|", page, re.M)
    assert {code for code, _ in rows} == codes
    for code, severities in rows:
        assert set(severities.split(", ")) == {each for each, name, _, _ in CASES if name == code}

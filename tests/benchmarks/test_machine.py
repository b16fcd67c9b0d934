"""What is read of the machine: from files as systems have them, and from this one."""

from __future__ import annotations

import doctest
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks import machine
from benchmarks.machine import Reading

CPUINFO = """processor\t: 0
model name\t: AMD EPYC 7B13
flags\t\t: fpu sse4_2 avx avx2 fma hypervisor

processor\t: 1
model name\t: AMD EPYC 7B13
flags\t\t: fpu sse4_2 avx avx2 fma hypervisor
"""
PRESSURE = """some avg10=12.50 avg60=8.00 avg300=1.00 total=2500000
full avg10=0.00 avg60=0.00 avg300=0.00 total=0
"""


def system(root: Path, **files: str) -> Path:
    """A file system with these files; in names, "__" stands for a slash and "DOT" for a dot."""
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("DOT", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_doctests() -> None:
    result = doctest.testmod(machine)
    assert result.attempted and not result.failed


def test_the_state_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(machine.VARIABLES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", "0")
    root = system(
        tmp_path,
        proc__cpuinfo=CPUINFO,
        proc__loadavg="1.50 0.75 0.25 2/85 4952\n",
        proc__pressure__cpu=PRESSURE,
        proc__self__cgroup="0::/\n",
    )
    found = machine.state(root)
    assert found["processor"] == "AMD EPYC 7B13"
    assert found["instruction_sets"] == ["sse4_2", "avx", "avx2", "fma"]
    assert (found["load"], found["pressure"], found["quota"]) == ([1.5, 0.75, 0.25], 12.5, None)
    assert found["usable_cores"] == machine.usable_cores() > 0
    assert found["environment"] == {"OMP_NUM_THREADS": "1", "TF_ENABLE_ONEDNN_OPTS": "0"}
    first, sets, load, variables = machine.describe(found)
    assert first.startswith("machine: AMD EPYC 7B13, ") and first.endswith(" usable, no quota")
    assert sets == "instruction sets: sse4_2 avx avx2 fma"
    assert load == "before the run: load 1.50 0.75 0.25, pressure 12.5%"
    assert variables == "set in the environment: OMP_NUM_THREADS=1 TF_ENABLE_ONEDNN_OPTS=0"


def test_a_system_that_tells_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(machine.VARIABLES):
            monkeypatch.delenv(name)
    found = machine.state(tmp_path)
    assert (found["processor"], found["load"], found["pressure"]) == (None, None, None)
    assert machine.describe(found)[2:] == [
        "before the run: load ?, pressure ?",
        "set in the environment: nothing that matters",
    ]
    assert machine.reading(root=tmp_path) is None
    assert machine.between(None, None) == {}
    assert machine.describe_use({}) == "the machine does not tell who used its cores"


# Files, and how many cores they allow.
QUOTAS: list[tuple[dict[str, str], float | None]] = [
    ({"proc__self__cgroup": "0::/a\n", "sys__fs__cgroup__a__cpuDOTmax": "max 100000"}, None),
    ({"proc__self__cgroup": "0::/a\n", "sys__fs__cgroup__a__cpuDOTmax": "150000 100000"}, 1.5),
    # A group around it allows less.
    (
        {
            "proc__self__cgroup": "0::/pod/job\n",
            "sys__fs__cgroup__pod__job__cpuDOTmax": "400000 100000",
            "sys__fs__cgroup__pod__cpuDOTmax": "200000 100000",
        },
        2.0,
    ),
    # A container whose own group is what is mounted.
    ({"proc__self__cgroup": "0::/a/b\n", "sys__fs__cgroup__cpuDOTmax": "50000 100000"}, 0.5),
    # The first version of cgroups.
    (
        {
            "proc__self__cgroup": "4:memory:/m\n2:cpu,cpuacct:/a\n0::/\n",
            "sys__fs__cgroup__cpu__a__cpuDOTcfs_quota_us": "75000",
            "sys__fs__cgroup__cpu__a__cpuDOTcfs_period_us": "50000",
        },
        1.5,
    ),
    (
        {
            "proc__self__cgroup": "2:cpu:/\n",
            "sys__fs__cgroup__cpu__cpuDOTcfs_quota_us": "-1",
            "sys__fs__cgroup__cpu__cpuDOTcfs_period_us": "100000",
        },
        None,
    ),
]


@pytest.mark.parametrize("files, cores", QUOTAS)
def test_quotas(tmp_path: Path, files: dict[str, str], cores: float | None) -> None:
    assert machine.quota(system(tmp_path, **files)) == cores


def stat(pid: int, parent: int, own: int, ended: int) -> str:
    """A process's line: ticks of its own in user mode, and of its children that have ended."""
    return f"{pid} (a) b) R {parent} 1 1 0 -1 0 0 0 0 0 {own} 0 {ended} 0 20 0 1 0\n"


def test_clocks_tell_our_processes_from_others(tmp_path: Path) -> None:
    us, tick = os.getpid(), os.sysconf("SC_CLK_TCK")
    processes: dict[str, Any] = {
        f"proc__{us}__stat": stat(us, 1, 100, 20),
        f"proc__{us + 1}__stat": stat(us + 1, us, 30, 0),
        f"proc__{us + 2}__stat": stat(us + 2, us + 1, 5, 1),
        f"proc__{us + 3}__stat": stat(us + 3, 1, 1000, 0),
    }
    root = system(
        tmp_path,
        proc__stat="cpu 1000 200 300 9000 50 10 20 40 0 0\ncpu0 1 2 3\n",
        proc__pressure__cpu=PRESSURE,
        **processes,
    )
    found = machine.reading([us + 1], root)
    assert found is not None
    assert found.busy * tick == pytest.approx(1530) and found.steal * tick == pytest.approx(40)
    assert found.ours * tick == pytest.approx(156) and found.competing * tick == pytest.approx(30)
    assert found.waited == 2.5


def test_use_between_two_readings() -> None:
    first = Reading(10.0, 100.0, 1.0, 50.0, 20.0, 5.0)
    last = Reading(14.0, 107.0, 1.4, 56.0, 23.0, 6.0)
    assert machine.between(first, last) == pytest.approx(
        {"others": 0.25, "ours": 0.75, "competing": 0.75, "steal": 0.1, "waiting": 0.25}
    )
    blind = machine.between(first._replace(waited=None), last)
    assert "waiting" not in blind


@pytest.mark.skipif(not Path("/proc/stat").exists(), reason="no /proc")
def test_this_machine_counts_what_a_child_used() -> None:
    before = machine.reading()
    code = "import time\nwhile time.process_time() < 0.3: pass"
    subprocess.run([sys.executable, "-S", "-c", code], check=True)
    started = time.process_time()
    while time.process_time() - started < 0.1:
        pass
    after = machine.reading()
    assert before is not None and after is not None
    # Of the child that has ended and of this process; ticks are hundredths of a second.
    assert after.ours - before.ours >= 0.37
    assert after.busy - before.busy >= 0.37

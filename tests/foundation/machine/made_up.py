"""Machines that are not there: trees of the files that a kernel shows."""

from __future__ import annotations

from pathlib import Path

# A desktop processor without AVX-512, two cores with two threads each.
ZEN2 = "fpu sse sse2 sse4_1 sse4_2 avx f16c fma avx2 bmi2"
AVX512 = f"{ZEN2} avx512f avx512cd avx512bw avx512dq avx512vl avx512_vnni amx_tile amx_bf16"


def cpuinfo(flags: str = ZEN2, name: str = "AMD Ryzen 5 3600 6-Core Processor") -> str:
    """``/proc/cpuinfo`` of an x86 machine with four hardware threads on two cores."""
    return "\n".join(
        f"processor\t: {number}\nvendor_id\t: AuthenticAMD\ncpu family\t: 23\nmodel\t\t: 113\n"
        f"model name\t: {name}\nstepping\t: 0\nphysical id\t: 0\ncore id\t\t: {number // 2}\n"
        f"flags\t\t: {flags}\npower management:\n"
        for number in range(4)
    )


MEMINFO = "MemTotal:       16384000 kB\nMemFree:         1024000 kB\nMemAvailable:    8192000 kB\n"


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    """Makes the files below ``root`` and returns it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def cgroup2(path: str, limits: dict[str, str], shown: str = "/") -> dict[str, str | bytes]:
    """Files of a process in the version 2 cgroup ``path``, and of cgroups' own (``a/cpu.max``)."""
    return {
        "proc/self/cgroup": f"0::{path}\n",
        "proc/self/mountinfo": (
            "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
            f"30 22 0:26 {shown} /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n"
        ),
        **{f"sys/fs/cgroup/{name}": text for name, text in limits.items()},
    }


def cgroup1(path: str, limits: dict[str, str], shown: str = "/") -> dict[str, str | bytes]:
    """The same of version 1: limits are ``cpu/a/cpu.cfs_quota_us``, ``memory/...`` and so on."""
    mount = "/sys/fs/cgroup"
    return {
        "proc/self/cgroup": f"5:memory:{path}\n4:cpu,cpuacct:{path}\n1:name=systemd:/x\n0::/\n",
        "proc/self/mountinfo": (
            f"31 23 0:28 / {mount} rw - tmpfs tmpfs rw\n"
            f"32 31 0:29 {shown} {mount}/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
            f"33 31 0:30 {shown} {mount}/memory rw - cgroup cgroup rw,memory\n"
            f"34 31 0:31 / {mount}/unified rw - cgroup2 cgroup2 rw\n"
        ),
        **{f"sys/fs/cgroup/{name}": text for name, text in limits.items()},
    }

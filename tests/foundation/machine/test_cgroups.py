"""Limits of made-up cgroups: nested ones, both versions, hidden ancestors, nonsense."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.foundation.machine.cgroups import MemoryLimit, cpu_quota, memory_limit
from tests.foundation.machine.made_up import cgroup1, cgroup2, write

GIB = 1 << 30


def test_no_cgroup_is_no_limit(tmp_path: Path) -> None:
    assert cpu_quota(tmp_path) is None and memory_limit(tmp_path) is None
    write(
        tmp_path, {"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": "22 1 8:1 / / rw - x y z\n"}
    )
    assert cpu_quota(tmp_path) is None and memory_limit(tmp_path) is None


def test_version_2(tmp_path: Path) -> None:
    write(tmp_path, cgroup2("/job", {"job/cpu.max": "150000 100000\n"}))
    assert cpu_quota(tmp_path) == 1.5


@pytest.mark.parametrize(
    ("outer", "middle", "inner", "quota"),
    [
        ("max 100000", "max 100000", "max 100000", None),
        ("max 100000", "50000 100000", "max 100000", 0.5),
        ("800000 100000", "400000 100000", "600000 100000", 4.0),
        ("800000 100000", "400000 50000", "300000 100000", 3.0),
    ],
)
def test_the_smallest_along_the_path(
    tmp_path: Path, outer: str, middle: str, inner: str, quota: float | None
) -> None:
    limits = {"a/cpu.max": outer, "a/b/cpu.max": middle, "a/b/c/cpu.max": inner}
    write(tmp_path, cgroup2("/a/b/c", {**limits, "other/cpu.max": "1000 100000"}))
    assert cpu_quota(tmp_path) == quota


def test_version_1_with_its_controllers_mounted_together(tmp_path: Path) -> None:
    limits = {
        "cpu/a/cpu.cfs_quota_us": "250000\n", "cpu/a/cpu.cfs_period_us": "100000\n",
        "cpu/a/b/cpu.cfs_quota_us": "-1\n", "cpu/a/b/cpu.cfs_period_us": "100000\n",
    }  # fmt: skip
    write(tmp_path, cgroup1("/a/b", limits))
    assert cpu_quota(tmp_path) == 2.5


def test_a_container_that_sees_its_own_cgroup_as_the_top(tmp_path: Path) -> None:
    # Without a cgroup namespace the path is the host's, and the mount shows a part of it.
    files = cgroup1(
        "/docker/4f2a",
        {"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"},
        shown="/docker/4f2a",
    )
    assert cpu_quota(write(tmp_path, files)) == 2.0


@pytest.mark.parametrize("path", ["/../../elsewhere", "/host/only", "/not/mounted/here"])
def test_a_path_that_is_not_mounted_leaves_the_top(tmp_path: Path, path: str) -> None:
    files = cgroup2(path, {"cpu.max": "300000 100000"}, shown="/pod/this")
    files["elsewhere/cpu.max"] = "1000 100000"
    assert cpu_quota(write(tmp_path, files)) == 3.0


def test_blanks_in_names(tmp_path: Path) -> None:
    files = cgroup2("/a job/x", {"a job/x/cpu.max": "100000 100000"})
    assert cpu_quota(write(tmp_path, files)) == 1.0
    other = tmp_path / "other"
    mountinfo = "30 22 0:26 / /sys/fs/c\\040group rw - cgroup2 cgroup2 rw\n"
    files = {
        "proc/self/cgroup": "0::/\n",
        "proc/self/mountinfo": mountinfo,
        "sys/fs/c group/cpu.max": "100000 200000",
    }
    assert cpu_quota(write(other, files)) == 0.5


@pytest.mark.parametrize(
    "content",
    [
        "", "\n", "max", "100000", "0 100000", "100000 0", "-5 100000", "1e5 100000", "x y z",
        "١٢٣ 100000", "9" * 5000 + " 1", b"\xff\xfe\x00\x01",
    ],
    ids=repr,
)  # fmt: skip
def test_nonsense_is_no_quota(tmp_path: Path, content: str | bytes) -> None:
    files = cgroup2("/a", {"cpu.max": "max 100000"})
    write(tmp_path, {**files, "sys/fs/cgroup/a/cpu.max": content})
    assert cpu_quota(tmp_path) is None


@pytest.mark.parametrize(
    "files",
    [
        {"proc/self/cgroup": ":::\n0:\n\n0::relative\n", "proc/self/mountinfo": "- - -\n - \n1 2"},
        {"proc/self/cgroup": b"0::/\x00\xff\n", "proc/self/mountinfo": b"\x00\xff - cgroup2 a b\n"},
        {"proc/self/cgroup/a-folder": "", "proc/self/mountinfo/a-folder": ""},
    ],
)
def test_nonsense_about_mounts(tmp_path: Path, files: dict[str, str | bytes]) -> None:
    write(tmp_path, files)
    assert cpu_quota(tmp_path) is None and memory_limit(tmp_path) is None


def test_a_name_with_a_nul(tmp_path: Path) -> None:
    write(tmp_path, cgroup2("/a\0b", {"cpu.max": "100000 100000"}))
    assert cpu_quota(tmp_path) == 1.0


def test_memory_version_2(tmp_path: Path) -> None:
    limits = {
        "a/memory.max": f"{4 * GIB}\n", "a/memory.current": f"{3 * GIB}\n",
        "a/memory.stat": f"anon 5\ninactive_file {GIB}\nfile 1 2\n",
        "a/b/memory.max": "max\n", "a/b/memory.current": f"{3 * GIB}\n",
    }  # fmt: skip
    write(tmp_path, cgroup2("/a/b", limits))
    assert memory_limit(tmp_path) == MemoryLimit(4 * GIB, 2 * GIB)


def test_memory_version_1_and_its_word_for_unlimited(tmp_path: Path) -> None:
    limits = {
        "memory/a/memory.limit_in_bytes": "9223372036854771712\n",
        "memory/a/memory.usage_in_bytes": "5\n",
    }
    write(tmp_path, cgroup1("/a/b", limits))
    assert memory_limit(tmp_path) is None
    limits = {
        "memory/a/b/memory.limit_in_bytes": f"{2 * GIB}\n",
        "memory/a/b/memory.usage_in_bytes": f"{3 * GIB}\n",
    }
    write(tmp_path, cgroup1("/a/b", limits))
    assert memory_limit(tmp_path) == MemoryLimit(2 * GIB, 0)


def test_an_outer_memory_cgroup_may_have_less_left(tmp_path: Path) -> None:
    limits = {
        "a/memory.max": str(8 * GIB), "a/memory.current": str(7 * GIB),
        "a/b/memory.max": str(4 * GIB), "a/b/memory.current": str(GIB),
    }  # fmt: skip
    assert memory_limit(write(tmp_path, cgroup2("/a/b", limits))) == MemoryLimit(4 * GIB, GIB)


def test_this_machine() -> None:
    quota, limit = cpu_quota(), memory_limit()
    assert quota is None or 0 < quota < 100_000
    assert limit is None or 0 <= limit.left <= limit.limit

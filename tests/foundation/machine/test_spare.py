"""When a machine can spare what compiling takes."""

from __future__ import annotations

import pytest

from penstock.foundation.machine import hardware, spare

GIB = 1 << 30


@pytest.mark.parametrize(
    ("left", "cores", "quota", "used", "said"),
    [
        (8 * GIB, 2, None, 2.0, ""),
        (None, 2, None, 0.0, ""),
        (GIB, 2, None, 0.0, "1024 MiB of memory are left, 2048 are needed"),
        (8 * GIB, 1, None, 0.0, "there is one core"),
        (8 * GIB, 2, 2.0, 1.0, ""),
        (8 * GIB, 2, 2.0, 1.5, "this process uses 1.5 of the 2 cores that its cgroup allows"),
        (8 * GIB, 8, 8.0, 7.5, "this process uses 7.5 of the 8 cores that its cgroup allows"),
    ],
)
def test_what_is_lacking(
    monkeypatch: pytest.MonkeyPatch, left: int | None, cores: int, quota: float | None,
    used: float, said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(hardware, "memory", lambda: hardware.Memory(64 * GIB, left, None))
    allowed = hardware.Cores(64, 32, cores, quota, cores)
    monkeypatch.setattr(hardware, "cores", lambda: allowed)
    monkeypatch.setattr(spare, "own_use", lambda: used)
    assert spare.why_not_now(asked=False) == said
    # Who asks for native forms gives them the time.
    assert spare.why_not_now(asked=True) == (said if "memory" in said else "")


def test_own_use_is_of_cores() -> None:
    assert 0.0 < spare.own_use() < 1024

"""Which TensorFlow rows are held to, and what becomes of a row where its two builds differ."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from penstock.foundation.opdef import registry
from tests.conformance import builds, peers
from tests.conformance.judge import Verdict
from tests.ops.opcase import OpCase, real

POOL = OpCase("MaxPool", [real(1, 2, 2, 1)], id="MaxPool_9").bind("float32")
MATMUL = OpCase("MatMul", [real(2, 3), real(3, 4)], id="MatMul_0").bind("float32")
REFUSED = "TensorFlow raises InvalidArgumentError (only NHWC)"
REASON = "one of them has no NCHW"


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A table of one reason, and a build that gives each job back; what it was asked for."""
    asked: list[Any] = []

    def run_jobs(peer: str, jobs: list[Any], runner: Path) -> dict[str, Any]:
        asked.append((peer, jobs))
        return {job["id"]: job for job in jobs}

    monkeypatch.setattr(builds, "DIFFERENT", (("AvgPool MaxPool", "only NHWC", REASON),))
    monkeypatch.setattr(peers, "run_jobs", run_jobs)
    return asked


def _settled(verdicts: list[Verdict], again: list[str], reference: str = "tf2") -> dict[str, Any]:
    return dict(
        builds.settled(
            verdicts, reference, lambda v: {"id": v.bound.id}, lambda v, _: Verdict(v.bound, again)
        )
    )


def test_a_row_that_agrees_with_the_other_build(other: list[Any]) -> None:
    verdicts = [Verdict(POOL, [REFUSED]), Verdict(MATMUL)]
    found = _settled(verdicts, [])
    assert list(found) == [POOL.id]
    assert found[POOL.id].other_build == REASON and not found[POOL.id].differences
    assert other == [("tf2_eigen", [{"id": POOL.id}])]
    _settled(verdicts, [], "tf2_eigen")
    assert other[1][0] == "tf2"


def test_a_row_that_agrees_with_neither(other: list[Any]) -> None:
    assert not _settled([Verdict(POOL, [REFUSED])], ["output 0: 1 at [], expected 2"])
    assert len(other) == 1


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(POOL, ["output 0: 1 at [], expected 2"]),
        Verdict(POOL, [REFUSED, "gradient of input 0 is None"]),
        Verdict(MATMUL, [REFUSED]),
    ],
)
def test_no_reason_no_second_chance(verdict: Verdict, other: list[Any]) -> None:
    assert not _settled([verdict], [])
    assert not other


def test_reasons_name_ops_and_can_be_found() -> None:
    for ops, pattern, why in builds.DIFFERENT:
        assert why and re.compile(pattern)
        names = [] if ops == builds.ANY else ops.split()
        assert not [op for op in names if op not in registry.all_ops()]


def test_the_build_does_not_depend_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    assert set(builds.OTHER) == set(builds.REFERENCES.values())
    for given in ("0", "1"):
        monkeypatch.setenv("TF_ENABLE_ONEDNN_OPTS", given)
        for peer, wanted in (("tf2", "1"), ("tf2_eigen", "0")):
            assert peers._environment(peer)["TF_ENABLE_ONEDNN_OPTS"] == wanted


def test_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "about.py"
    script.write_text(
        "import sys\n"
        "print('To enable the following instructions: AVX2 FMA, in other', file=sys.stderr)\n"
        'print(\'{"version": "2.0", "git": "v2", "compiler": "cc", "onednn": true}\')\n'
    )
    monkeypatch.setattr(peers, "ABOUT", script)
    monkeypatch.setitem(peers.PEERS, "tf2", peers.Peer(Path(sys.executable)))
    line = "TensorFlow 2.0 (v2, cc), oneDNN kernels on; built without AVX2 FMA"
    assert peers.about("tf2") == line

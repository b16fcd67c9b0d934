"""Random calls of every row, in Penstock and in TensorFlow 1.15, a share of the rows a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.conformance import peers
from tests.differential.__main__ import beyond, of_shard, run, shown
from tests.differential.calls import all_calls
from tests.peers import TF115, needed

SHARDS = 40


@pytest.mark.long
@needed(TF115)
@pytest.mark.parametrize("shard", range(1, SHARDS + 1))
def test_calls_agree(shard: int) -> None:
    tallies, jobs = run(of_shard(list(all_calls().values()), shard, SHARDS), 200, 0)
    worse = [tally for tally in tallies if beyond(tally)]
    texts = [
        f"{shown(jobs[v.case])}: {'; '.join(v.differences)}" for t in worse for v in t.verdicts
    ]
    assert not worse, "\n".join([*(t.line() for t in worse), *texts])


def test_kept_results_serve_whatever_rows_run_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = all_calls()
    asked: list[str] = []

    def answer(peer: str, jobs: list[dict[str, Any]], **_: Any) -> dict[str, Any]:
        asked.extend(job["id"] for job in jobs if peer == "tf1")
        return {job["id"]: {"id": job["id"], "outputs": []} for job in jobs}

    monkeypatch.setattr(peers, "run_jobs", answer)
    run([rows["abs"], rows["operator:neg"]], 2, 0, tmp_path)
    asked.clear()
    run([rows["add"], rows["operator:neg"], rows["abs"]], 3, 0, tmp_path)
    assert asked == ["add/0/0", "add/0/1", "add/0/2", "operator:neg/0/2", "abs/0/2"]

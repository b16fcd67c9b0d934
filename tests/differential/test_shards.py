"""Random calls of every row, in Penstock and in TensorFlow 1.15, a share of the rows a test."""

from __future__ import annotations

import pytest

from tests.differential import answers
from tests.differential.__main__ import beyond, of_shard, run, shown
from tests.differential.calls import all_calls
from tests.peers import TF115, needed

SHARDS = 40


@pytest.mark.long
@needed(TF115)
@pytest.mark.parametrize("shard", range(1, SHARDS + 1))
def test_calls_agree(shard: int) -> None:
    rows = of_shard(list(all_calls().values()), shard, SHARDS)
    tallies, jobs = run(rows, 200, 0, answers.folder())
    worse = [tally for tally in tallies if beyond(tally)]
    texts = [
        f"{shown(jobs[v.case])}: {'; '.join(v.differences)}" for t in worse for v in t.verdicts
    ]
    assert not worse, "\n".join([*(t.line() for t in worse), *texts])

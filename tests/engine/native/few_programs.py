"""What ``test_suites`` runs by native forms, beside the same by lines: random and hard programs.

Where native forms are forced, the environment says so; see ``forced``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.conformance import program_jobs, programs, random_programs
from tests.engine.native import edges

SEEDS = range(int(os.environ.get("NATIVE_SEEDS", "40")))


def assert_same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, str):
        assert found == wanted
    else:
        one, other = np.asarray(found), np.asarray(wanted)
        assert one.dtype == other.dtype and one.shape == other.shape
        rtol = 1e-9 if other.dtype == np.float64 else 2e-4 if other.dtype == np.float32 else 0
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol / 20)


@pytest.mark.parametrize("name", list(edges.EDGES))
def test_edges(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = edges.run(edges.EDGES[name])
    monkeypatch.setenv("PENSTOCK_NATIVE", "off")
    assert_same(found, edges.run(edges.EDGES[name]))


def values_of(source: str, feeds: list[dict[str, Any]]) -> Any:
    with tf.Graph().as_default():
        built = program_jobs.build_text(tf, source)
        with tf.Session() as session:
            return program_jobs.packed(program_jobs.run_text(tf, session, built, feeds))


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source, feeds = random_programs.source(seed), random_programs.feeds_of(seed)
    found = values_of(source, feeds)
    monkeypatch.setenv("PENSTOCK_NATIVE", "off")
    assert programs.difference(found, values_of(source, feeds)) is None

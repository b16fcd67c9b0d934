"""Cut programs give what the same programs give uncut, wherever their nodes are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.compiler.passes.frames import Unstructured
from tests.compiler.partition.cluster import Cluster, as_asked, at_random
from tests.compiler.partition.programs import PROGRAMS, Steps
from tests.conformance import random_programs
from tests.suite.daily import long_but


def _values(build: Callable[[], Steps], cluster: Cluster) -> list[Any]:
    found = []
    with tf.Graph().as_default():
        for fetches, feed in build():
            found += [v for v in cluster.run(fetches, feed) if v is not None]
    return found


def _compare(cut: list[Any], whole: list[Any]) -> None:
    assert len(cut) == len(whole)
    for mine, theirs in zip(cut, whole, strict=True):
        assert np.asarray(mine).dtype == np.asarray(theirs).dtype
        if np.asarray(mine).dtype == object:
            assert np.asarray(mine).tolist() == np.asarray(theirs).tolist()
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("optimize", [True, False], ids=["optimized", "plain"])
@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_programs_as_they_ask_to_be_placed(name: str, optimize: bool) -> None:
    cluster = Cluster(as_asked, optimize=optimize)
    cut = _values(PROGRAMS[name], cluster)
    _compare(cut, _values(PROGRAMS[name], Cluster(whole=True, optimize=optimize)))


def test_they_are_cut() -> None:
    """Else the comparison would say nothing."""
    for name in ("gradient_descent", "a_loop_over_tasks", "conditionals", "back_and_forth"):
        with tf.Graph().as_default():
            fetches, feed = PROGRAMS[name]()[1 if name != "back_and_forth" else 0]
            _, parts = Cluster().cut(fetches, feed)
        assert len(parts) >= 2, name


# Programs that take a second, which others have the nodes of.
_SLOW = {"a_recurrent_network", "adam", "arrays_and_maps", "layers_on_two_workers"}


@pytest.mark.parametrize("name", long_but(set(PROGRAMS) - _SLOW, sorted(PROGRAMS)))
def test_programs_placed_at_random(name: str) -> None:
    whole = _values(PROGRAMS[name], Cluster(whole=True))
    for seed in range(3):
        _compare(_values(PROGRAMS[name], Cluster(at_random(seed, together=True))), whole)


def _build(seed: int) -> Steps:
    scope: dict[str, Any] = {}
    exec(compile(random_programs.source(seed), f"<program {seed}>", "exec"), scope)
    feeds, fetches = scope["program"](tf)
    wanted = [tf.convert_to_tensor(f) for f in fetches if f is not None]
    runs = [
        (wanted, {feeds[k]: v for k, v in values.items()})
        for values in random_programs.feeds_of(seed)
    ]
    return [([tf.global_variables_initializer()], {}), *runs, (list(tf.global_variables()), {})]


def _compare_random(seed: int) -> bool:
    """Whether the program of a seed could be compared."""
    optimize = seed % 3 != 0
    try:
        whole = _values(lambda: _build(seed), Cluster(whole=True, optimize=optimize))
    except (Unstructured, tf.errors.OpError):
        return False  # it does not nest, or fails by itself
    _compare(_values(lambda: _build(seed), Cluster(at_random(seed), optimize=optimize)), whole)
    return True


@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("seed", long_but(range(4), range(12)))
def test_random_programs_with_random_placements(seed: int) -> None:
    if not _compare_random(seed):
        pytest.skip("the program fails uncut as well")


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.filterwarnings("ignore:Converting sparse IndexedSlices")
@pytest.mark.parametrize("first", range(100, 500, 80))
def test_many_random_programs_with_random_placements(first: int) -> None:
    compared = sum(_compare_random(seed) for seed in range(first, first + 80))
    assert compared > 70

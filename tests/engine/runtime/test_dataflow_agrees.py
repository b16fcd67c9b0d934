"""The dataflow executor and generated programs compute the same: gradients, arrays, random ones.

`PENSTOCK_CONTROL_FLOW_SEEDS=500` makes more random programs.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.autodiff import control_flow_programs as gradients
from tests.library.autodiff.control_flow_random import named
from tests.library.control_flow import random_programs, tensor_array_programs

SEEDS = int(os.environ.get("PENSTOCK_CONTROL_FLOW_SEEDS", "25"))
EXECUTORS = ("0", "1")


def _same(name: str, found: list[list[Any]]) -> None:
    for index, (one, other) in enumerate(zip(*found, strict=True)):
        assert (one is None) == (other is None), f"{name}: fetch {index}"
        if one is not None:
            np.testing.assert_allclose(
                one, other, rtol=1e-5, atol=1e-6, err_msg=f"{name}: fetch {index}"
            )


def _both(name: str, monkeypatch: pytest.MonkeyPatch) -> list[list[Any]]:
    """The values of a program with gradients, of the same graph run by each."""
    with tf.Graph().as_default() as graph, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fetches = gradients.dense(tf, named(name)(tf))
        start = tf.global_variables_initializer()
    names = {op.name for op in graph.get_operations()}
    feeds = {f"{name}:0": value for name, value in gradients.FEEDS.items() if name in names}
    found = []
    for which in EXECUTORS:
        monkeypatch.setenv("PENSTOCK_DATAFLOW", which)
        with tf.Session(graph=graph) as session:
            session.run(start)
            wanted = iter(session.run([f for f in fetches if f is not None], feeds))
        found.append([None if f is None else next(wanted) for f in fetches])
    return found


@pytest.mark.parametrize("name", sorted(gradients.PROGRAMS))
def test_gradients(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _same(name, _both(name, monkeypatch))


@pytest.mark.long
def test_random_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(SEEDS):
        _same(f"random_{seed}", _both(f"random_{seed}", monkeypatch))


@pytest.mark.long
def test_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(2 * SEEDS):
        found = []
        for which in EXECUTORS:
            monkeypatch.setenv("PENSTOCK_DATAFLOW", which)
            found.append(random_programs.run(tf, seed))
        _same(f"seed {seed}", found)


def _ran(run: Any, argument: int, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found = []
    for which in EXECUTORS:
        monkeypatch.setenv("PENSTOCK_DATAFLOW", which)
        found.append(run(tf, lambda _: tf.Session(), argument))
    return found


@pytest.mark.long
def test_tensor_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(2 * SEEDS):
        one, other = _ran(tensor_array_programs.run_sequence, seed, monkeypatch)
        assert one == other, f"seed {seed}"
    for seed in range(SEEDS):
        found = _ran(tensor_array_programs.run_gradient, seed, monkeypatch)
        _same(f"gradient {seed}", found)


@pytest.mark.long
@pytest.mark.timeout(900)
@pytest.mark.parametrize("part", range(5))
def test_many_random_programs(part: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(100 * part, 100 * (part + 1)):
        found = []
        for which in EXECUTORS:
            monkeypatch.setenv("PENSTOCK_DATAFLOW", which)
            found.append(random_programs.run(tf, seed))
        _same(f"seed {seed}", found)
    for seed in range(40 * part, 40 * (part + 1)):
        _same(f"random_{seed}", _both(f"random_{seed}", monkeypatch))

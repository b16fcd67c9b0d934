"""Gradients through conditionals and loops against TensorFlow: values, nodes, graphs that travel.

Each program of `control_flow_programs.py` and `control_flow_nested.py`, and random ones, is built
here and there. Compared are the values that Penstock computes, those of TensorFlow, and those that
TensorFlow computes from Penstock's graph; and, where Penstock builds the same, the nodes. One
process runs TensorFlow. `PENSTOCK_CONTROL_FLOW_SEEDS=500` makes more random programs.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.autodiff import control_flow_programs as programs
from tests.library.autodiff.control_flow_random import named
from tests.peers import PYTHON, needs

PEER = Path(__file__).with_name("control_flow_peer.py")
SEEDS = int(os.environ.get("PENSTOCK_CONTROL_FLOW_SEEDS", "30"))
NAMES = [*programs.PROGRAMS, *(f"random_{seed}" for seed in range(SEEDS))]

pytestmark = pytest.mark.long


def _nodes(graph: Any) -> list[tuple[str, str, list[str], list[str]]]:
    return [
        (op.name, op.type, [t.name for t in op.inputs], sorted(c.name for c in op.control_inputs))
        for op in graph.get_operations()
    ]


def _run(graph: Any, fetches: list[Any], init: Any) -> list[Any]:
    names = {op.name for op in graph.get_operations()}
    feeds = {f"{name}:0": value for name, value in programs.FEEDS.items() if name in names}
    with tf.Session(graph=graph) as session:
        if init is not None:
            session.run(init)
        return [None if f is None else session.run(f, feeds) for f in fetches]


def _built(name: str) -> dict[str, Any]:
    with tf.Graph().as_default() as graph, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fetches = programs.dense(tf, named(name)(tf))
        nodes = _nodes(graph)
        init = tf.global_variables_initializer() if tf.global_variables() else None
    try:
        values: Any = _run(graph, fetches, init)
    except Exception as error:
        values = f"{type(error).__name__}: {error}"
    return {
        "graph": graph.as_graph_def().SerializeToString(),
        "fetches": [None if f is None else f.name for f in fetches],
        "init": None if init is None else init.name,
        "nodes": nodes,
        "values": values,
    }


@pytest.fixture(scope="module")
def ours() -> dict[str, dict[str, Any]]:
    return {name: _built(name) for name in NAMES}


@pytest.fixture(scope="module", params=["tf1", "tf2"])
def answers(
    request: Any, ours: dict[str, Any], tmp_path_factory: Any
) -> Iterator[tuple[str, dict[str, Any]]]:
    which = request.param
    needs(PYTHON[which])
    folder = tmp_path_factory.mktemp(which)
    for name, built in ours.items():
        carried = {key: built[key] for key in ("graph", "fetches", "init")}
        (folder / f"{name}.pickle").write_bytes(pickle.dumps(carried, protocol=4))
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    command = [str(PYTHON[which]), str(PEER), str(folder), *ours]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    yield which, pickle.loads((folder / "answers.pickle").read_bytes())


def _check(found: Any, wanted: Any, what: str) -> None:
    assert not isinstance(found, str), f"{what}: {found}"
    for index, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert (one is None) == (other is None), f"{what}: fetch {index} is {one}, not {other}"
        if one is not None:
            np.testing.assert_allclose(
                one, other, rtol=1e-4, atol=1e-5, err_msg=f"{what}: fetch {index}"
            )


@pytest.mark.parametrize("name", NAMES)
def test_values_are_tensorflows(name: str, ours: Any, answers: Any) -> None:
    which, told = answers
    answer = told[name]
    if name in programs.BEYOND:
        if which == "tf1":
            assert isinstance(answer["values"], str), "TensorFlow can do this now"
        _check(ours[name]["values"], answer["carried"], f"{name} against its graph in {which}")
        return
    assert not isinstance(answer["values"], str), answer["values"]
    wanted = answer["values"][0]
    _check(answer["carried"], wanted, f"{name}, Penstock's graph in {which}")
    _check(ours[name]["values"], wanted, f"{name} against {which}")


@pytest.mark.parametrize(
    "name", sorted(set(programs.PROGRAMS) - programs.OTHER_NODES - programs.BEYOND)
)
def test_nodes_are_tensorflows(name: str, ours: Any, answers: Any) -> None:
    which, told = answers
    if which != "tf1":
        pytest.skip("TensorFlow 2 names and types some nodes otherwise")
    assert ours[name]["nodes"] == told[name]["values"][1]

"""TensorArrays and functions over rows against TensorFlow: graphs, values, errors, gradients."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.library.control_flow import tensor_array_programs as programs
from tests.peers import PYTHON, needs

SEQUENCES, GRADIENTS, ROWS = (0, 600), (0, 150), (1, 4)

pytestmark = pytest.mark.long


def _theirs(which: str, *arguments: Any) -> Any:
    needs(PYTHON[which])
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(PYTHON[which]), str(programs.__file__), *map(str, arguments)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


def _session(_: Any) -> Any:
    return tf.Session()


def test_graphs_are_tensorflows() -> None:
    theirs = _theirs("tf1", "graphs")
    assert set(theirs) == set(programs.GRAPHS)
    for name, build in programs.GRAPHS.items():
        ours = {node[0]: node for node in json.loads(json.dumps(programs.nodes(tf, build)))}
        for node in theirs[name]:
            assert ours.pop(node[0], None) == node, name
        assert not ours, name


def test_random_sequences() -> None:
    first, count = SEQUENCES
    ended = 0
    for seed, theirs in enumerate(_theirs("tf2", "sequences", first, count), first):
        ours = json.loads(json.dumps(programs.run_sequence(tf, _session, seed)))
        assert ours == theirs, f"seed {seed}: {programs.sequence(seed)}"
        ended += theirs[1] is None
    assert ended > count / 4  # and not most of them in an error


def test_random_gradients() -> None:
    first, count = GRADIENTS
    for seed, theirs in enumerate(_theirs("tf2", "gradients", first, count), first):
        ours = programs.run_gradient(tf, _session, seed)
        for mine, wanted in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-6, err_msg=f"seed {seed}")


@pytest.mark.parametrize("which", ["tf1", "tf2"])
def test_functions_over_rows(which: str) -> None:
    first, count = ROWS
    for rows, theirs in enumerate(_theirs(which, "functionals", first, count), first):
        _compare(programs.run_functionals(tf, _session, rows), theirs, f"{rows} rows")


def _compare(ours: Any, theirs: Any, where: str) -> None:
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs), where
        for key in theirs:
            _compare(ours[key], theirs[key], f"{where}/{key}")
    elif isinstance(theirs, list) and theirs and isinstance(theirs[0], list | dict):
        assert len(ours) == len(theirs), where
        for index, one in enumerate(theirs):
            _compare(ours[index], one, f"{where}[{index}]")
    else:
        np.testing.assert_allclose(ours, theirs, rtol=2e-4, atol=1e-5, err_msg=where)

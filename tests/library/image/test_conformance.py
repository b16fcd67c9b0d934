"""``tf.image`` node by node and value by value as in TensorFlow 1.15."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests import tf1_programs
from tests.library.image.programs import DRAWN, ERRORS, OTHER_NODES, PROGRAMS, VAGUER, error_of, run
from tests.ops.tolerance import GRADIENT_FACTOR, difference

# Element types that TensorFlow 1.15 has no kernels for; what we do is in test_image.py.
REFUSED = ("convert_",)

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("image") / "found.json"
    found: dict[str, Any] = tf1_programs.ask("tests.library.image.programs", path)
    return found


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_nodes_and_values_are_tensorflows(name: str, theirs: dict[str, Any]) -> None:
    wanted = theirs["programs"][name]
    if "error" in wanted:
        assert name.startswith(REFUSED), wanted["error"]
        return
    found = json.loads(json.dumps(run(tf, PROGRAMS[name], name in DRAWN)))
    assert "error" not in found, found
    if name in VAGUER:
        assert [n[:4] for n in found["nodes"]] == [n[:4] for n in wanted["nodes"]]
    elif name not in OTHER_NODES:
        assert found["nodes"] == wanted["nodes"]
    assert found["kinds"] == wanted["kinds"]
    for kind, ours, value in zip(found["kinds"], found["values"], wanted["values"], strict=False):
        # Images of float64 are adjusted as float32.
        dtype = {"float16": "half", "float64": "float32"}.get(kind[0], kind[0])
        told = difference(np.array(value), np.array(ours), dtype, factor=GRADIENT_FACTOR)
        assert told is None, told


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_errors_are_tensorflows(name: str, theirs: dict[str, Any]) -> None:
    assert error_of(tf, ERRORS[name]) == theirs["errors"][name]

"""``tf.signal`` node by node and value by value as in TensorFlow 1.15, gradients as well."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from tests import tf1_programs
from tests.library.signal.programs import ERRORS, OTHER_NODES, PROGRAMS, VAGUER

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    found: dict[str, Any] = tf1_programs.ask(
        "tests.library.signal.programs", tmp_path_factory.mktemp("programs") / "found.json"
    )
    return found


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_nodes_and_values_are_tensorflows(name: str, theirs: dict[str, Any]) -> None:
    tf1_programs.check(
        tf1_programs.run(tf, PROGRAMS[name]),
        theirs["programs"][name],
        nodes=name not in OTHER_NODES,
        shapes=name not in VAGUER,
    )


@pytest.mark.parametrize("name", sorted(ERRORS))
def test_errors_are_tensorflows(name: str, theirs: dict[str, Any]) -> None:
    assert tf1_programs.error_of(tf, ERRORS[name]) == theirs["errors"][name]

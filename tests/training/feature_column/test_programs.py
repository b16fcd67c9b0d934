"""Feature columns make TensorFlow 1.15's nodes, variables, values and errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests import tf1_programs
from tests.training.feature_column import programs


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_program_runs(name: str) -> None:
    found = tf1_programs.run(tf, programs.PROGRAMS[name])
    assert "error" not in found, found


@pytest.mark.parametrize("name", programs.ERRORS)
def test_error_is_raised(name: str) -> None:
    assert tf1_programs.error_of(tf, programs.ERRORS[name]) in ("ValueError", "TypeError")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path: Path = tmp_path_factory.mktemp("tf115") / "found.json"
    return tf1_programs.ask("tests.training.feature_column.programs", path)


@pytest.mark.long
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_program_is_tensorflows(theirs: Any, name: str) -> None:
    tf1_programs.check(
        tf1_programs.run(tf, programs.PROGRAMS[name]), theirs["programs"][name], shapes=False
    )


@pytest.mark.long
@pytest.mark.parametrize("name", programs.ERRORS)
def test_error_is_tensorflows(theirs: Any, name: str) -> None:
    assert tf1_programs.error_of(tf, programs.ERRORS[name]) == theirs["errors"][name]

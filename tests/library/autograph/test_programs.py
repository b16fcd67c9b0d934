"""Converted programs: what TensorFlow 1.15 found of each, as ``tf.function`` and ``to_graph``."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests import peers
from tests.library.autograph import programs
from tests.library.eager.conftest import eagerly as eagerly

EXPECTED: dict[str, list[Any]] = json.loads(programs.EXPECTED.read_text())
# (name, mode), what Penstock finds, and why it is right.
DIFFERENT = {
    ("attribute_in_loop", "eager"): (["float32", 3.0], "1.15 fails: attributes are no state there"),
    ("attribute_in_loop", "graph"): (["float32", 3.0], "1.15 fails: attributes are no state there"),
    ("closure", "eager"): (["float32", 9.0], "Python's: 1.15 reads the variable as it was before"),
    ("closure", "graph"): (["float32", 9.0], "Python's: 1.15 reads the variable as it was before"),
    ("condition_float", "eager"): ("TypeError", "refused as it is built, not as it runs"),
    ("conditional_expression_types", "eager"): ("ValueError", "that of 1.15's graph mode"),
    ("list_append", "eager"): ("ValueError", "1.15 has a class of its own, which is a ValueError"),
    ("list_append", "graph"): ("ValueError", "1.15 has a class of its own, which is a ValueError"),
    ("while_none", "graph"): ("ValueError", "that of 1.15's eager mode"),
}


def check(name: str, mode: str, found: Any) -> None:
    known = DIFFERENT.get((name, mode))
    wanted = EXPECTED[name][mode == "graph"]
    if known is None:
        assert found == wanted
    elif isinstance(known[0], str):
        assert found["error"] == known[0] and "error" in wanted
    else:
        assert found == known[0]


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_function_gives_what_tensorflow_gives(name: str) -> None:
    check(name, "eager", programs.run(tf, name, True))


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_a_graph_gives_what_tensorflow_gives(name: str) -> None:
    check(name, "graph", programs.run(tf, name, False))


@pytest.mark.usefixtures("eagerly")
@pytest.mark.parametrize("name", [n for n, (e, _) in EXPECTED.items() if isinstance(e, list)])
def test_python_itself_gives_the_same(name: str) -> None:
    """Values known, nothing is converted: what a function's author sees without the decorator."""
    found = programs.PROGRAMS[name](tf, tf.constant(programs.X), tf.constant(programs.V))
    known = DIFFERENT.get((name, "eager"))
    values = programs.mapped(lambda t: tf.convert_to_tensor(t).numpy().tolist(), found)
    wanted = known[0] if known else EXPECTED[name][0]
    assert values == _values(wanted)


def _values(wanted: Any) -> Any:
    if isinstance(wanted[0], str):
        return wanted[1]
    return [_values(w) for w in wanted]


def test_there_are_enough() -> None:
    assert len(programs.PROGRAMS) >= 60
    assert sorted(EXPECTED) == sorted(programs.PROGRAMS)


@pytest.mark.long
def test_what_is_recorded_is_what_tensorflow_finds(tmp_path: Path) -> None:
    peers.needs()
    path = tmp_path / "found.json"
    command = [str(peers.TF115), "-m", "tests.library.autograph.programs", str(path)]
    subprocess.run(command, check=True, cwd=peers.ROOT, capture_output=True)
    assert json.loads(path.read_text()) == EXPECTED

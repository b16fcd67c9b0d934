"""Programs with estimators give what TensorFlow 1.15's give: nodes, files, events, values, errors.

``programs.json`` is what TensorFlow made of ``programs.py``; a long test asks it again.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from tests.peers import TF115, needs
from tests.suite.daily import long_but
from tests.training.estimator import programs

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "programs.json").read_text())
# Values of a few steps' training with float32.
TOLERANCE = 1e-5


def differences(ours: Any, theirs: Any, where: str = "") -> list[str]:
    """Where two trees of JSON differ; floats may by rounding."""
    if isinstance(ours, dict) and isinstance(theirs, dict) and set(ours) == set(theirs):
        return [d for key in ours for d in differences(ours[key], theirs[key], f"{where}/{key}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs))
        return [d for i, (a, b) in pairs for d in differences(a, b, f"{where}/{i}")]
    if isinstance(ours, float) and isinstance(theirs, float):
        same = abs(ours - theirs) <= TOLERANCE * max(1.0, abs(theirs))
    else:
        same = ours == theirs
    return [] if same else [f"{where}: {str(ours)[:300]}; theirs {str(theirs)[:300]}"]


@pytest.mark.parametrize(
    "program", long_but(programs.PROGRAMS[:-1], programs.PROGRAMS), ids=lambda p: p.__name__
)
def test_program(program: Any) -> None:
    found = json.loads(json.dumps(programs.plain(program(tf))))
    assert not differences(found, EXPECTED[program.__name__])


@pytest.mark.parametrize("name", programs.ERRORS)
def test_error(name: str) -> None:
    found = programs.error_of(tf, programs.ERRORS[name])
    kind, text = EXPECTED["errors"][name]
    assert found is not None
    assert found[0] == kind
    # TensorFlow's recognizable phrase comes first; what is behind it may say more.
    phrase = text.split("\n")[0][:25].rstrip(". ")
    assert found[1].startswith(phrase), (found[1], text)


@pytest.mark.long
def test_tensorflow_still_says_so(tmp_path: Path) -> None:
    needs(TF115)
    output = tmp_path / "found.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    command = [str(TF115), str(HERE / "programs.py"), str(output)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(output.read_text())
    messages = found.pop("errors"), {**EXPECTED}.pop("errors")
    assert not differences(found, {k: v for k, v in EXPECTED.items() if k != "errors"})
    assert {k: v[0] for k, v in messages[0].items()} == {k: v[0] for k, v in messages[1].items()}

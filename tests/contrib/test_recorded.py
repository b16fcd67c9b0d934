"""The packages of ``tf.contrib`` against what TensorFlow 1.15 finds (``recorded``)."""

import json
import subprocess

import pytest

import penstock as tf
from tests.contrib import recorded
from tests.peers import ROOT, TF115, needs

_ALL = [(module, name) for module in recorded.modules() for name in recorded.cases(module)]


@pytest.mark.parametrize("module, name", _ALL, ids=lambda v: v.replace("programs_", ""))
def test_finds_what_tensorflow_found(module, name):
    wanted = json.loads((recorded.EXPECTED / f"{module}.json").read_text())[name]
    case = recorded.cases(module)[name]
    recorded.check(recorded.run(tf, case), wanted, **getattr(case, "tolerance", {}))


@pytest.mark.long
@pytest.mark.parametrize("module", recorded.modules())
def test_what_is_recorded_is_what_tensorflow_finds(module, tmp_path):
    needs(TF115)
    path = tmp_path / "found.json"
    command = [str(TF115), "-m", "tests.contrib.recorded", module, str(path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    found = json.loads(path.read_text())
    recorded.check(json.loads((recorded.EXPECTED / f"{module}.json").read_text()), found)

"""The packages of ``tf.contrib`` against what TensorFlow 1.15 finds (``recorded``)."""

import json
import subprocess

import pytest

import penstock as tf
from tests.contrib import recorded
from tests.peers import ROOT, TF115, needs

# Programs that take seconds, where others of their module hold the same code.
_LONG = {
    ("estimator", "early_stopping"), ("learn", "network_names"), ("learn", "wide_and_deep_graphs"),
    ("learn", "wide_and_deep_values"), ("quantize", "losses_with_delays"),
    ("rnn_estimator", "classifier"), ("rnn_estimator", "clipped_gradients"),
    ("rnn_estimator", "estimator"), ("trees", "heads_and_limits"), ("trees", "in_memory"),
}  # fmt: skip


def _programs():
    for module in recorded.modules():
        short = module.removeprefix("programs_")
        for name in recorded.cases(module):
            marks = pytest.mark.long if (short, name) in _LONG else ()
            yield pytest.param(module, name, id=f"{short}-{name}", marks=marks)


@pytest.mark.parametrize("module, name", list(_programs()))
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
    wanted = json.loads((recorded.EXPECTED / f"{module}.json").read_text())
    assert sorted(found) == sorted(wanted)
    for name, case in recorded.cases(module).items():
        recorded.check(wanted[name], found[name], name, **getattr(case, "peer_tolerance", {}))

"""RunConfig reads TF_CONFIG and its arguments as TensorFlow 1.15's does.

``expected.json`` is what TensorFlow's said of the TF_CONFIGs and arguments in ``configs.py``.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

import penstock as tf
from tests.peers import TF115, needs
from tests.training.estimator import configs

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())


def test_all_configs() -> None:
    found = json.loads(json.dumps(configs.all_configs(tf)))
    assert set(found) == set(EXPECTED)
    different = {key: (found[key], EXPECTED[key]) for key in found if found[key] != EXPECTED[key]}
    assert not different


def test_tf_config_that_is_no_object(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("[1]", "{", "3"):
        monkeypatch.setenv("TF_CONFIG", text)
        with pytest.raises(ValueError, match="TF_CONFIG must be a JSON object"):
            tf.estimator.RunConfig()


_CLUSTER = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1"]}


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"cluster": _CLUSTER}, 'If "cluster" is set in TF_CONFIG, task type must be set'),
        (
            {"cluster": _CLUSTER, "task": {"type": "worker"}},
            'If "cluster" is set in TF_CONFIG, task index must be set',
        ),
        (
            {"cluster": _CLUSTER, "task": {"type": "worker", "index": -1}},
            "Task index must be non-negative number",
        ),
        (
            {"cluster": _CLUSTER, "task": {"type": "worker", "index": 2}},
            "2 is not a valid task_id for task_type worker in the cluster_spec:",
        ),
        (
            {"cluster": _CLUSTER, "task": {"type": "master", "index": 0}},
            "master is not a valid task_type in the cluster_spec:",
        ),
        (
            {"cluster": {**_CLUSTER, "master": ["e:1"]}, "task": {"type": "master", "index": 0}},
            "If `master` node exists in `cluster`, job `chief` is not supported",
        ),
        (
            {"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}},
            'If "cluster" is set in TF_CONFIG, it must have one "chief" node',
        ),
        (
            {"task": {"type": "worker", "index": 1}},
            'If "cluster" is not set in TF_CONFIG, task index must be 0',
        ),
        (
            {"task": {"type": "evaluator", "index": 0}},
            'If "cluster" is not set in TF_CONFIG, task type must be WORKER',
        ),
        ({"model_dir": ""}, "model_dir in TF_CONFIG should be non-empty"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_tf_config_is_refused_in_tensorflows_words(
    monkeypatch: pytest.MonkeyPatch, config: dict[str, object], words: str
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(config))
    with pytest.raises(ValueError) as caught:
        tf.estimator.RunConfig()
    assert str(caught.value).startswith(words)


def test_uid_tells_runs_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    make = tf.contrib.learn.RunConfig
    assert make().uid() == make(tf_random_seed=3, save_summary_steps=5).uid()
    assert make().uid() != make(model_dir="x").uid()
    assert make().uid(whitelist=["model_dir"]) == make(model_dir="x").uid(whitelist=["model_dir"])
    config = make(num_cores=3, gpu_memory_fraction=0.5)
    assert config.tf_config.intra_op_parallelism_threads == 3


@pytest.mark.long
def test_tensorflow_still_says_so(tmp_path: Path) -> None:
    needs(TF115)
    output = tmp_path / "found.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    environment.pop("PYTHONPATH", None)
    command = [str(TF115), str(HERE / "configs.py"), str(output)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    assert json.loads(output.read_text()) == EXPECTED

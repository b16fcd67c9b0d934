"""SavedModels of TensorFlow 2's ``tf.saved_model.save``: functions, resource variables, state."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

import penstock as tf
from tests.peers import PEERS, needed


@pytest.mark.long
@needed(PEERS)
def test_a_tf2_model_runs(tmp_path: Path) -> None:
    folder = str(tmp_path / "model")
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    command = [str(PEERS), str(Path(__file__).with_name("tf2_models.py")), folder]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    wanted = json.loads(done.stdout.splitlines()[-1])
    x = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]], np.float32)
    with tf.Session(graph=tf.Graph()) as sess:
        signature = tf.saved_model.load(sess, ["serve"], folder).signature_def["serving_default"]
        fetches = {key: info.name for key, info in signature.outputs.items()}
        for result in wanted:
            found = sess.run(fetches, {signature.inputs["x"].name: x})
            assert {key: value.tolist() for key, value in found.items()} == result

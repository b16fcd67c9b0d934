"""Other people's clients, and the command in a process of its own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from penstock.cli.main import app
from penstock.cluster.serving.server import Served
from tests.cluster.serving import models_of_tests
from tests.peers import PEERS, needs
from tests.suite import warm


@pytest.mark.long
def test_the_client_of_tensorflow_serving(tmp_path: Path) -> None:
    needs(PEERS)
    probe = [str(PEERS), "-c", "import tensorflow_serving.apis"]
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("no tensorflow-serving-api: `make peers` brings it with a new environment")
    models_of_tests.export_scaled(tmp_path / "scaled", 1, 2.0)
    models_of_tests.export_by_examples(tmp_path / "examples")
    served = {name: Served(str(tmp_path / name)) for name in ("scaled", "examples")}
    script = Path(__file__).with_name("tf_serving_client.py")
    with models_of_tests.serving(served, rest_port=None) as server:
        done = subprocess.run(
            [str(PEERS), str(script), server.grpc_address],
            capture_output=True, text=True, timeout=600, check=False,
            env=os.environ | {"CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert json.loads(done.stdout) == {
        "predict": {"y": [12.0], "rows": [[2.0, 4.0, 6.0]]},
        "version": 1,
        "words": {"joined": ["a!", "b!"]},
        "classify": [["yes", 0.25], ["no", 0.75]],
        "regress": [0.75],
        "several": [0.25],
        "metadata": ["rows", "y"],
        "status": [1, "AVAILABLE", 0],
        "error": "NOT_FOUND",
    }


@pytest.mark.long
def test_the_command(tmp_path: Path) -> None:
    models_of_tests.export_scaled(tmp_path / "scaled", 1, 2.0)
    command = [
        sys.executable, "-m", "penstock", "serve", str(tmp_path / "scaled"), "--rest-port", "0",
        "--grpc-port", "0", "--host", "127.0.0.1", "--label", "scaled:stable=1",
    ]  # fmt: skip
    with warm.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = [process.stdout.readline() for _ in range(3)]
            assert said[0].startswith("scaled: versions 1, from ")
            address = re.search(r"http://([^/]+)/", said[1])
            assert address is not None and said[2].startswith("gRPC: 127.0.0.1:")
            url = f"http://{address[1]}/v1/models/scaled/labels/stable:predict"
            body = json.dumps({"instances": [{"x": [1, 2, 3]}]}).encode()
            with urllib.request.urlopen(url, body, timeout=60) as response:
                found = json.load(response)
            assert found == {"predictions": [{"rows": [2.0, 4.0, 6.0], "y": 12.0}]}
        finally:
            process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["/no/such/folder"], "no such folder"),
        (["a:b=."], "is no name for a model"),
        (["m=.", "m=."], "two models are called m"),
        (["m=.", "--versions", "newest"], "no choice of versions"),
        (["m=.", "--label", "n:a=1"], "allowed is NAME:LABEL=N"),
        (["m=.", "--rest-port", "-1", "--grpc-port", "-1"], "nothing would listen"),
        (["m=.", "--rest-port", "70000"], "65535"),
        (["m=.", "--max-batch", "0"], "max-batch"),
        (["m=.", "--host", "0.0.0.0", "--grpc-port", "0"], "PENSTOCK_TLS_CERT"),
    ],
)
def test_wrong_options(words: list[str], why: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        app(["serve", *words], prog_name="penstock")
    said = capsys.readouterr().err
    assert end.value.code in (1, 2) and why in said and len(said.splitlines()) == 1

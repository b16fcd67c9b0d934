"""``penstock server``: a task of a cluster as a process."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

import penstock as tf
from penstock.cli.main import app
from tests.cli.test_process import COMMAND, ROOT, run
from tests.suite import warm
from tests.suite.clock import PATIENCE


def _free() -> str:
    with socket.create_server(("localhost", 0)) as held:
        return f"localhost:{held.getsockname()[1]}"


def _started(*words: str, **env: str) -> tuple[subprocess.Popen[str], str]:
    # What a shell starts in the background ignores the signal, and so would its children.
    former = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        process = warm.Popen(
            [*COMMAND, "server", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, "OMP_NUM_THREADS": "1", **env},
        )  # fmt: skip
    finally:
        signal.signal(signal.SIGINT, former)
    assert process.stdout and process.stderr
    target = process.stdout.readline().strip()
    assert target.startswith("grpc://"), process.stderr.read()
    return process, target


def _devices(target: str) -> list[str]:
    with tf.Graph().as_default(), tf.Session(target) as session:
        assert session.run(tf.constant(2) * 3) == 6
        return [each.name for each in session.list_devices()]


@pytest.mark.long
def test_a_task_serves_sessions_until_it_is_stopped() -> None:
    address = _free()
    process, target = _started("--cluster", f"worker|{address}", "--job", "worker", "--task", "0")
    try:
        assert target == f"grpc://{address}"
        assert _devices(target) == ["/job:worker/replica:0/task:0/device:CPU:0"]
    finally:
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(PATIENCE) == 130
        finally:
            process.kill()
            process.wait()


@pytest.mark.long
def test_tf_config_names_the_task_and_a_file_the_config(tmp_path: Path) -> None:
    config = tmp_path / "config.pbtxt"
    config.write_text('device_count { key: "CPU" value: 2 }')
    told = {"cluster": {"ps": {"4": _free()}}, "task": {"type": "ps", "index": 4}}
    process, target = _started("--config", str(config), TF_CONFIG=json.dumps(told))
    try:
        names = [f"/job:ps/replica:0/task:4/device:CPU:{n}" for n in (0, 1)]
        assert _devices(target) == names
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(("words", "said"), [
    ([], "--cluster is missing"),
    (["--cluster", "worker"], "allowed is JSON"),
    (["--cluster", "{"], "no JSON"),
    (["--cluster", "a|localhost:1", "--job", "b"], "the cluster has a"),
    (["--cluster", "a|localhost:1;localhost:2"], "task_index"),
    (["--cluster", "a|localhost:1", "--task", "3"], "Task 3 was not defined"),
    (["--cluster", '{"a": {"x": "localhost:1"}}'], "numbered"),
    (["--cluster", "a|localhost:1", "--config", "nonsense"], "no ConfigProto"),
])  # fmt: skip
def test_what_is_asked_wrongly(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        app(["server", *words], prog_name="penstock")
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.long
def test_another_protocol_is_not_spoken() -> None:
    said = run("server", "--cluster", "a|localhost:1", "--protocol", "carrier", code=1).stderr
    assert "no server speaks protocol 'carrier'" in said

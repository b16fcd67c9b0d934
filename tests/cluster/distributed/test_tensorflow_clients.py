"""Real TensorFlow processes as clients: the same results from Penstock's server as from theirs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cluster.distributed.server_process import ServerProcess, free_addresses
from tests.peers import PYTHON, ROOT, absence

PROGRAMS = Path(__file__).with_name("tensorflow_clients.py")
_SERVER = """
import sys
import tensorflow as tf
server = tf.compat.v1.train.Server({"local": [sys.argv[1]]}, job_name="local", task_index=0)
print("up", flush=True)
sys.stdin.read()
"""
_ENVIRON = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}


@contextmanager
def _theirs(python: Path) -> Iterator[str]:
    """TensorFlow's own server in a process of its own."""
    address = free_addresses(1)[0]
    process = subprocess.Popen(
        [python, "-c", _SERVER, address], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env=_ENVIRON,
    )  # fmt: skip
    try:
        assert process.stdout
        assert process.stdout.readline() == "up\n"
        yield f"grpc://{address}"
    finally:
        process.kill()
        process.wait()


@contextmanager
def _ours() -> Iterator[str]:
    server = ServerProcess({"local": free_addresses(1)}, "local", 0)
    try:
        server.wait_until_up()
        yield server.target
    finally:
        server.process.kill()
        server.process.wait()


def _results(python: Path, target: str) -> dict[str, Any]:
    done = subprocess.run(
        [python, "-W", "ignore", PROGRAMS, target], capture_output=True, text=True, env=_ENVIRON,
        timeout=600, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    return dict(rows)


def _failed(results: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in results.items()
        if isinstance(value, list) and value[:1] == ["the program failed"]
    }


def _differ(found: Any, expected: Any) -> bool:
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return any(_differ(*pair) for pair in zip(found, expected, strict=True))
    if isinstance(expected, float) and isinstance(found, float):
        return not np.isclose(found, expected, rtol=1e-5, atol=1e-6, equal_nan=True)
    return bool(found != expected)


@pytest.mark.long
@pytest.mark.parametrize("which", ["tf1", "tf2"])
def test_a_real_client_gets_what_its_own_server_gives(which: str) -> None:
    python = PYTHON[which]
    if absence(python):
        pytest.skip(absence(python))
    with _theirs(python) as target:
        expected = _results(python, target)
    with _ours() as target:
        found = _results(python, target)
    assert len(expected) >= 30
    assert not _failed(expected)
    different = {n: (found.get(n), v) for n, v in expected.items() if _differ(found.get(n), v)}
    assert not different, json.dumps(different, indent=1)


@pytest.mark.long
def test_penstock_s_own_client_runs_the_same_programs() -> None:
    """What a client of TensorFlow sees of a Penstock server, Penstock's own sees as well."""
    with _ours() as target:
        done = subprocess.run(
            [sys.executable, "-m", "penstock", "run", PROGRAMS, target], capture_output=True,
            text=True, timeout=600, cwd=ROOT,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        rows = dict(json.loads(line) for line in done.stdout.splitlines() if line[:2] == '["')
        assert not _failed(rows)
        assert len(rows) >= 30

"""The front end for Node: what it is generated from, its own tests, and a model that it trains."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests import spec
from tests.cluster.distributed.server_process import ServerProcess, free_addresses
from tests.peers import ROOT

FRONTENDS = ROOT / "frontends"
NODE = FRONTENDS / "node"
_STEPS = 40


def _generator() -> Any:
    found = importlib.util.spec_from_file_location("generate", FRONTENDS / "generate.py")
    assert found is not None and found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_generated_files_are_what_the_generator_writes() -> None:
    generator, table = _generator(), spec.load("op_defs.json")
    assert len(generator.OPS) >= 60
    assert (FRONTENDS / "messages.proto").read_text() == generator.messages_text()
    wanted = generator.ops_text({name: table[name] for name in generator.OPS})
    assert (NODE / "src" / "ops.ts").read_text() == wanted


# ---- with Node -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def built() -> Path:
    """The folder of what the TypeScript was compiled to."""
    if shutil.which("node") is None:
        pytest.skip("no node: the front end for Node needs it")
    compiler = NODE / "node_modules" / ".bin" / "tsc"
    if not compiler.exists():
        pytest.skip("no frontends/node/node_modules: `make frontends` makes it")
    subprocess.run([compiler, "-p", "."], cwd=NODE, check=True)
    return NODE / "build"


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    server = ServerProcess({"local": free_addresses(1)}, "local", 0)
    server.wait_until_up()
    yield server.target
    server.process.kill()
    server.process.wait()


@pytest.mark.long
def test_its_own_tests_pass(built: Path, target: str) -> None:
    done = subprocess.run(
        ["node", "--test", built / "test"], capture_output=True, text=True, check=False,
        env={**os.environ, "PENSTOCK_TARGET": target}, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:]


def _digits(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Files as MNIST's, of made-up digits."""
    dice = np.random.RandomState(5)
    labels = dice.randint(0, 10, 1000).astype(np.uint8)
    drawn = dice.rand(10, 28, 28)[labels] * 150 + dice.rand(1000, 28, 28) * 100
    images = drawn.astype(np.uint8)
    head = struct.pack(">IIII", 0x803, *images.shape)
    (folder / "train-images-idx3-ubyte").write_bytes(head + images.tobytes())
    head = struct.pack(">II", 0x801, len(labels))
    (folder / "train-labels-idx1-ubyte").write_bytes(head + labels.tobytes())
    return images, labels


def _curve(target: str, images: np.ndarray, labels: np.ndarray) -> list[float]:
    """The losses of the same training by Python."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 784])
        y = tf.placeholder(tf.float32, [None, 10])
        w = tf.Variable(tf.zeros([784, 10]))
        b = tf.Variable(tf.zeros([10]))
        loss = tf.reduce_mean(
            tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=tf.matmul(x, w) + b)
        )
        step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        found = []
        with tf.Session(target) as session:
            session.run(tf.global_variables_initializer())
            for n in range(_STEPS):
                at = np.arange(n * 100, n * 100 + 100) % len(labels)
                feed = {
                    x: images[at].reshape(100, 784).astype(np.float32) / np.float32(255),
                    y: np.eye(10, dtype=np.float32)[labels[at]],
                }
                found.append(float(session.run([loss, step], feed)[0]))
        return found


@pytest.mark.long
def test_softmax_is_trained_as_python_trains_it(built: Path, target: str, tmp_path: Path) -> None:
    images, labels = _digits(tmp_path)
    expected = _curve(target, images, labels)
    tf.Session.reset(target)
    done = subprocess.run(
        ["node", built / "examples" / "softmax.js", target, tmp_path, str(_STEPS)],
        capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip
    found = [json.loads(line)["loss"] for line in done.stdout.splitlines()]
    assert expected[-1] < expected[0] / 2
    np.testing.assert_allclose(found, expected, rtol=1e-5)

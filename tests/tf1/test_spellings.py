"""Spellings of TensorFlow 0.x give the nodes and values of today's, which are TensorFlow 1.15's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import penstock
from penstock.tf1 import restoring, spellings
from penstock.tf1.front import Front
from tests.peers import TF115, needs
from tests.tf1 import old_spellings
from tests.tf1.processes import ROOT, run


@pytest.fixture
def tf(monkeypatch: pytest.MonkeyPatch) -> Front:
    """A front of version 0.12; what it adds to Penstock's namespaces is taken away again."""
    for namespace in ("nn", "image"):
        module = getattr(penstock, namespace)
        monkeypatch.setattr(module, "__getattr__", None, raising=False)
        monkeypatch.delattr(module, "__getattr__")
        for name in spellings.orders(namespace, "0.12.1"):
            monkeypatch.setattr(module, name, getattr(module, name))
    monkeypatch.setattr(restoring, "used", {})
    return Front("0.12.1")


@pytest.mark.parametrize("name", [*old_spellings.PAIRS, *old_spellings.BEFORE_1])
def test_the_old_spelling_builds_what_the_new_one_does(name: str, tf: Front) -> None:
    old, new = {**old_spellings.PAIRS, **old_spellings.BEFORE_1}[name]
    ours = old_spellings.values(tf, {name: old})
    told = set(restoring.used)
    assert ours == old_spellings.values(penstock, {name: new})
    assert told if name != "split_new" else not told


@pytest.mark.long
def test_the_new_spellings_are_tensorflows() -> None:
    needs(TF115)
    command = [str(TF115), "-m", "tests.tf1.old_spellings"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    ours = old_spellings.values(penstock, old_spellings.NEW)
    for name, (value, nodes) in theirs.items():
        np.testing.assert_allclose(ours[name][0], value, rtol=1e-5, atol=1e-6, err_msg=name)
        assert [list(node) for node in ours[name][1]] == nodes, name


def test_every_old_name_is_there(tf: Front) -> None:
    for name in (*spellings.RENAMED, *spellings.WRITTEN):
        found = tf
        for part in name.split("."):
            found = getattr(found, part)
        assert found is not None
    assert tf.InvalidArgumentError is penstock.errors.InvalidArgumentError
    assert tf.nn.seq2seq is penstock.contrib.legacy_seq2seq
    assert tf.models.rnn.rnn_cell.GRUCell is penstock.library.nn.rnn_cell.GRUCell
    assert tf.models.rnn.rnn.rnn is penstock.library.nn.static_rnn
    assert tf.RegisterShape("Mine")(len) is len


def test_what_is_gone_says_what_to_write(tf: Front) -> None:
    with pytest.raises(AttributeError, match="'LegacySync.*'; write tf.train.SyncReplicasOpt"):
        tf.LegacySyncReplicasOptimizer


def test_version_1_keeps_its_own_orders() -> None:
    assert "reverse" not in spellings.orders("", "1.15.0")
    assert "zeros_initializer" not in spellings.orders("", "1.15.0")


def test_an_initializer_of_a_shape_stays_an_initializer_as_well(tf: Front) -> None:
    initializer = tf.ones_initializer(dtype=penstock.int32)
    assert isinstance(initializer, penstock.ones_initializer)
    assert initializer([2]).dtype == penstock.int32
    assert set(spellings.orders("nn", "1.4.0")) == {"nce_loss", "sampled_softmax_loss"}


@pytest.mark.long
def test_a_program_of_0_12(tmp_path: Path) -> None:
    program = tmp_path / "old.py"
    program.write_text(
        "import numpy as np\n"
        "import tensorflow as tf\n"
        "x = tf.placeholder(tf.float32, [None, 4])\n"
        "y = tf.placeholder(tf.float32, [None, 2])\n"
        "left, right = tf.split(1, 2, x)\n"
        "w = tf.Variable(tf.ones([4, 2]))\n"
        "logits = tf.matmul(tf.concat(1, [right, left]), w)\n"
        "loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits, y))\n"
        "tf.scalar_summary('loss', loss)\n"
        "step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)\n"
        "with tf.Session() as sess:\n"
        "    sess.run(tf.initialize_all_variables())\n"
        "    feed = {x: np.ones((3, 4)), y: np.eye(2)[[0, 1, 1]]}\n"
        "    for _ in range(3): sess.run(step, feed)\n"
        "    print('%.4f' % sess.run(loss, feed))\n"
    )
    done = run("--tf-version", "0.12.1", str(program))
    logits, labels = np.full(2, 4.0), np.array([1 / 3, 2 / 3])
    for _ in range(3):
        logits -= 4 * 0.1 * (np.exp(logits) / np.exp(logits).sum() - labels)
    loss = -(labels * np.log(np.exp(logits) / np.exp(logits).sum())).sum()
    assert done.stdout == f"{loss:.4f}\n"
    assert "tf.split(...) in its old order (old.py:5)" in done.stderr
    assert "with named arguments (labels=..., logits=..., ...)" in run(str(program), code=1).stderr
    strict = run("--strict", "--tf-version", "0.12.1", str(program), code=1).stderr
    assert "Split" in strict and "put back" not in strict

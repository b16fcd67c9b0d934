"""What a type checker finds in a user's program: mistakes, and nothing in what is right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# A line of a program, and what mypy says of it.
MISTAKES = {
    "tf.reduce_mean(x, axes=0)": 'Unexpected keyword argument "axes"',
    "tf.reduce_sum(x, dims=[0])": 'Unexpected keyword argument "dims"',
    "tf.exp(x, y=3)": 'Unexpected keyword argument "y"',
    "tf.add(x, 1, axis=0)": 'Unexpected keyword argument "axis"',
    "tf.matmul(x)": 'Missing positional argument "b"',
    "tf.nn.relu(x, nme='r')": 'Unexpected keyword argument "nme"',
    "tf.nn.max_pool(x, 2, 2)": 'Missing positional argument "padding"',
    "tf.nn.conv2d(x, w=3)": 'Unexpected keyword argument "w"',
    "tf.random_normal([2], std=1.0)": 'Unexpected keyword argument "std"',
    "tf.to_float(x, 'name', 4)": "Too many arguments",
    "tf.train.AdamOptimizer(lr=0.1)": 'Unexpected keyword argument "lr"',
    "tf.train.Saver(max_keep=3)": 'Unexpected keyword argument "max_keep"',
    "tf.get_variable('w', [2], initialiser=None)": 'did you mean "initializer"?',
    "tf.layers.dense(x, 10, activate=tf.nn.relu)": 'did you mean "activation"?',
    "tf.contrib.slim.conv2d(x, 3, [3, 3], strides=2)": 'did you mean "stride"?',
    "tf.metrics.accuracy(x)": 'Missing positional argument "predictions"',
    "tf.data.Dataset.range(3).batch(size=3)": 'Unexpected keyword argument "size"',
    "tf.summary.scalar('loss')": 'Missing positional argument "tensor"',
    "tf.trainable_variables(name='x')": 'Unexpected keyword argument "name"',
    "tf.Session().run(x, feeds={})": 'Unexpected keyword argument "feeds"',
    "tf.reduce_maen(x)": 'maybe "reduce_mean"',
}
RIGHT = """
y = tf.reduce_mean(tf.square(tf.matmul(x, tf.ones([3, 2])) - 1.0), axis=0, keepdims=True)
loss = tf.reduce_sum(tf.nn.relu(y)) + 2 * tf.reduce_max(x[:, 1:])
train = tf.train.AdamOptimizer(0.1).minimize(loss, var_list=tf.trainable_variables())
with tf.variable_scope("layer", reuse=tf.AUTO_REUSE), tf.Session() as session:
    w = tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    net = tf.contrib.slim.conv2d(tf.zeros([1, 8, 8, 3]), 4, [3, 3], stride=2)
    session.run([train, w, {"net": net}], feed_dict={x: [[1.0, 2.0, 3.0]]})
"""


@pytest.mark.long
def test_a_program(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    start = ["import penstock as tf", "x = tf.placeholder(tf.float32, [None, 3])"]
    lines = [*start, *MISTAKES, *RIGHT.strip().splitlines()]
    (tmp_path / "program.py").write_text("\n".join(lines) + "\n")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--follow-imports=silent", "--cache-dir", ".cache",
         "program.py"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "MYPYPATH": str(ROOT)},
    )  # fmt: skip
    said: dict[str, str] = {}
    for number, text in re.findall(r"^program\.py:(\d+): error: (.*)$", done.stdout, re.M):
        said.setdefault(lines[int(number) - 1], text)
    assert set(said) == set(MISTAKES), done.stdout + done.stderr
    assert [line for line, text in said.items() if MISTAKES[line] not in text] == []

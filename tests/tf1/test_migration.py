"""docs/migration.md says what cannot work in the words of the errors."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.peers import ROOT

PAGE = (ROOT / "docs" / "migration.md").read_text()
PROGRAM = """
import tensorflow as tf

def on_a_tpu():
    config = tf.contrib.tpu.RunConfig(master="grpc://10.0.0.1:8470")
    model_fn = lambda features, labels, mode, params: None
    made = tf.contrib.tpu.TPUEstimator(model_fn, config=config, use_tpu=True, train_batch_size=8)
    made.train(lambda params: tf.data.Dataset.from_tensors(([1.0], [1.0])), steps=1)

def on_a_device():
    with tf.device("/device:TPU:0"):
        tf.Session(config=tf.ConfigProto(allow_soft_placement=False)).run(tf.constant(1.0) + 1)

def by_the_c_api():
    from tensorflow.python import pywrap_tensorflow
    pywrap_tensorflow.TF_NewGraph()

for refused in (
    on_a_tpu, on_a_device, by_the_c_api,
    lambda: tf.contrib.tensorrt, lambda: tf.load_op_library("zero_out.so"),
):
    try:
        refused()
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
"""


@pytest.mark.long
def test_the_errors_say_what_the_page_shows(tmp_path: Path) -> None:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler: a library is one of the things that are refused")
    (tmp_path / "zero_out.c").write_text("int zero_out(void) { return 0; }\n")
    command = [compiler, "-shared", "-fPIC", "-o", "zero_out.so", "zero_out.c"]
    subprocess.run(command, cwd=tmp_path, check=True)
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    command = [sys.executable, "-m", "penstock", "run", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    said = done.stdout.strip().splitlines()
    assert len(said) == 5, done.stderr
    for line in said:
        # Devices differ from machine to machine: what is shown there ends before them.
        assert line.partition(" but available devices")[0] in PAGE

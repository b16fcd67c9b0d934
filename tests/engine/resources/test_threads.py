"""Teams of threads: what they must not keep from happening."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.suite import warm

ROOT = Path(__file__).resolve().parents[3]


def test_a_process_whose_waits_sleep_ends_at_once() -> None:
    code = (
        "import penstock\n"
        "from penstock.cluster.distributed import ending\n"
        "from penstock.engine.resources import threads\n"
        "threads.sleep_in_waits(True)\n"
        "assert ending.wait_for_threads(0.0) == [], 'the end of the process waits for them'\n"
    )
    done = warm.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_a_program_that_flushes_denormals_has_it_in_all_threads() -> None:
    code = (
        "import numpy as np, penstock as tf, torch\n"
        "torch.set_flush_denormal(FLAG)\n"
        "p = tf.placeholder(tf.float32, [None])\n"
        "config = tf.ConfigProto(intra_op_parallelism_threads=2)\n"
        "with tf.Session(config=config) as session:\n"
        "    made = session.run(p * 0.5, {p: np.full(1_000_000, 1e-39, 'f')})\n"
        "print(int(np.count_nonzero(made.view('u4'))))\n"
    )
    for flag, left in ((True, "0"), (False, "1000000")):
        done = warm.run(
            [sys.executable, "-c", code.replace("FLAG", str(flag))], cwd=ROOT, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout.strip()) == (0, left), done.stderr

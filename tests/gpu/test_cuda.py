"""The same programs on a real GPU: skipped, with the reason, where torch has none."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import penstock as tf
from tests.gpu.programs import PROGRAMS, run, same

pytestmark = pytest.mark.skipif(
    not torch.cuda.is_available(),
    reason=f"no GPU: torch {torch.__version__} says that CUDA is not available here",
)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_the_cpu(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(PROGRAMS[name])
    monkeypatch.setattr("penstock.engine.runtime.gpus.memory_of_gpus", lambda: ())
    same(found, run(PROGRAMS[name]), rtol=1e-3, atol=1e-4)


def test_variables_lie_on_the_gpu() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", [1 << 20])
        before = torch.cuda.memory_allocated()
        session.run(v.initializer)
        assert torch.cuda.memory_allocated() - before >= 4 << 20


def test_what_is_fed_may_be_overwritten_at_once() -> None:
    """The copy to the GPU is still under way when ``run`` of an earlier step has returned."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [1 << 22])
        v = tf.get_variable("v", [1 << 22], initializer=tf.zeros_initializer())
        session.run(v.initializer)
        fed = np.empty(1 << 22, np.float32)
        add = v.assign_add(x).op
        for number in range(8):
            fed[:] = number
            session.run(add, {x: fed})
        assert np.all(session.run(v) == 28)


def test_no_more_memory_is_taken_than_is_used() -> None:
    with tf.Session() as sess:
        sess.run(tf.random_normal([256, 256]))
        free, total = torch.cuda.mem_get_info()
        assert torch.cuda.memory_reserved() < total / 50

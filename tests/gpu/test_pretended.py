"""Programs on a GPU that is pretended: placed there, moved to and from, with the CPU's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.foundation.opdef.registry import OPS
from penstock.ops.control.move import move
from tests.conformance.jobs import build, run_built
from tests.conformance.peers import to_job
from tests.gpu.programs import PROGRAMS, run, same
from tests.ops.engine import BACKEND, allowed_dtypes, sweep
from tests.ops.opcase import Bound
from tests.ops.tolerance import difference
from tests.pretend_gpu import OnGpu, pretend_gpu

RUNS = [b for b in sweep() if not b.case.raises and b.dtype == allowed_dtypes(b.case)[0]]
# A temporary variable has no value on any device before it is assigned.
UNKNOWN = {"TemporaryVariable", "DestroyTemporaryVariable"}


@pytest.mark.parametrize("dataflow", ["0", "1"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_what_it_gives_on_the_cpu(
    name: str, dataflow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PENSTOCK_DATAFLOW", dataflow)
    expected = run(PROGRAMS[name])
    moved: list[str] = []

    def noted(value: torch.Tensor, memory: str) -> torch.Tensor:
        _check_move(value, memory)
        moved.append(memory)
        return move(value, memory)

    monkeypatch.setattr(OPS["_Move"], "kernel", noted)
    with pretend_gpu(monkeypatch, count=2):
        found = run(PROGRAMS[name])
    same(found, expected, rtol=1e-5, atol=1e-6)
    assert any(moved) and not all(moved)  # to a GPU, and back


def _check_move(value: torch.Tensor, memory: str) -> None:
    where = str(value.device) if isinstance(value, OnGpu) else ""
    assert where != memory, f"it is in {memory or 'the host'} already"


@pytest.mark.long
@pytest.mark.parametrize("bound", RUNS, ids=lambda bound: bound.id)
def test_every_op(bound: Bound, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = _outputs(bound, "/cpu:0")

    def checked(value: torch.Tensor, memory: str) -> torch.Tensor:
        if bound.case.op not in UNKNOWN:
            _check_move(value, memory)
        return move(value, memory)

    monkeypatch.setattr(OPS["_Move"], "kernel", checked)
    with pretend_gpu(monkeypatch):
        found = _outputs(bound, "/gpu:0")
    if bound.case.reason or bound.case.compare:
        return
    for (dtype, one), (_, other) in zip(found, expected, strict=True):
        if other is not None:
            assert difference(other, one, dtype) is None


def _outputs(bound: Bound, device: str) -> list[Any]:
    with tf.Graph().as_default(), tf.device(device):
        built = build(BACKEND, to_job(bound))
        with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
            found: list[Any] = run_built(BACKEND, session, built)
            return found


def test_a_fetch_in_a_branch_that_is_not_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with tf.Graph().as_default() as plain:
        x, p = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.bool, [], "p")
        tf.cond(p, lambda: tf.sin(x, name="inner"), lambda: x)
    with pretend_gpu(monkeypatch), tf.Graph().as_default(), tf.Session() as session:
        inside = tf.import_graph_def(plain.as_graph_def(), return_elements=["cond/inner:0"])
        feed = {"import/x:0": 1.0, "import/p:0": True}
        np.testing.assert_allclose(session.run(inside, feed), [np.sin(1.0)], rtol=1e-6)
        with pytest.raises(tf.errors.InvalidArgumentError, match="inner:0' has no value"):
            session.run(inside, {**feed, "import/p:0": False})


def test_sessions_list_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    with pretend_gpu(monkeypatch, count=2):
        kinds = [device.device_type for device in tf.Session().list_devices()]
        assert kinds == ["CPU", "GPU", "GPU"]
        config = tf.ConfigProto(device_count={"GPU": 0})
        assert [d.device_type for d in tf.Session(config=config).list_devices()] == ["CPU"]


def test_a_value_is_moved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The input is used twice on the GPU, the constant is there from the start."""
    moved: list[str] = []
    monkeypatch.setattr(OPS["_Move"], "kernel", lambda v, m: (moved.append(m), move(v, m))[1])
    with pretend_gpu(monkeypatch), tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        y = tf.exp(x) + tf.sin(x) * tf.constant([1.0, 2.0])
        session.run(y, {x: [1.0, 2.0]})
    assert moved == ["pretend:0", ""]


def test_shapes_stay_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    moved: list[torch.dtype] = []
    monkeypatch.setattr(OPS["_Move"], "kernel", lambda v, m: (moved.append(v.dtype), move(v, m))[1])
    with pretend_gpu(monkeypatch), tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        rows = tf.shape(x)[0]
        session.run(tf.reshape(x * 2, tf.stack([rows * 2, -1])), {x: np.ones((3, 4))})
    assert moved == [torch.float32, torch.float32]

"""Devices that nodes ask for, against those that exist."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.graph.step import StepGraph
from penstock.passes.prune import prune
from penstock.placement.available import local_devices
from penstock.placement.check import check_devices


def _on(device: str) -> StepGraph:
    with tf.device(device):
        y = tf.exp(tf.constant(1.0), name="there")
    return prune(tf.get_default_graph(), [], [y], [])


@pytest.mark.parametrize(
    "device", ["", "/cpu:0", "/device:CPU:*", "/job:localhost", "/job:localhost/task:0/cpu:0"]
)
def test_devices_of_this_process(device: str) -> None:
    check_devices(_on(device), local_devices(), soft=False)


@pytest.mark.parametrize("device", ["/gpu:0", "/cpu:1", "/job:worker", "/task:3/cpu:0"])
def test_others_are_refused_with_what_there_is(device: str) -> None:
    step = _on(device)
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        check_devices(step, local_devices(), soft=False)
    text = str(info.value)
    for part in ("asks for device", "device:CPU:0", "allow_soft_placement", "test_check.py"):
        assert part in text
    check_devices(step, local_devices(), soft=True)


def test_gpus_that_exist_are_accepted() -> None:
    check_devices(_on("/gpu:1"), local_devices(gpus=2), soft=False)


def test_placement_is_logged_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    check_devices(_on(""), local_devices(), soft=False, log=True)
    assert "there: (Exp): /job:localhost/replica:0/task:0/device:CPU:0" in capsys.readouterr().err

"""``replica_device_setter`` and its strategies."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tensorboard.compat.proto.cluster_pb2 import ClusterDef

import penstock as tf
from penstock.training.train.device_setter import BalancedStrategy, RoundRobinStrategy
from tests.peers import TF115, needs
from tests.training.train import device_setter_peer as peer


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    needs(TF115)
    out = tmp_path_factory.mktemp("devices") / "devices.json"
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [str(TF115), str(peer.__file__), str(out)], env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, dict[str, str]] = json.loads(out.read_text())
    return found


@pytest.mark.long
@pytest.mark.parametrize("around", peer.AROUND)
@pytest.mark.parametrize("name", peer.SETTERS)
def test_devices_are_tensorflows(name: str, around: str, theirs: dict[str, Any]) -> None:
    mine, wanted = peer.devices(tf, name, around), theirs[f"{name} in {around!r}"]
    assert mine.keys() == wanted.keys()
    assert {n: (mine[n], d) for n, d in wanted.items() if mine[n] != d} == {}


class _Cluster:
    def as_dict(self) -> dict[str, list[str]]:
        return {"ps": ["a:1", "b:1", "c:1"], "worker": ["d:1"]}


def _cluster_def() -> ClusterDef:
    message = ClusterDef()
    tasks = message.job.add(name="ps").tasks
    for i in range(3):
        tasks[i] = f"a:{i}"
    return message


@pytest.mark.parametrize(
    "cluster", [_Cluster(), _Cluster().as_dict(), {"ps": {0: "a", 5: "b", 7: "c"}}, _cluster_def()]
)
def test_what_a_cluster_may_be(cluster: Any) -> None:
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        made = [tf.Variable(1.0).device for _ in range(4)]
    assert made == [f"/job:ps/task:{i}" for i in (0, 1, 2, 0)]


@pytest.mark.parametrize(
    ("ps_device", "variable", "with_device", "with_job"),
    [
        ("/cpu:0", "/device:CPU:0", "/device:CPU:1", "/job:x/task:3/device:CPU:0"),
        ("/task:4", "/task:4", "/task:4/device:CPU:1", "/job:x/task:3"),
        ("/job:ps/gpu:3", "/job:ps/task:0/device:GPU:3", "/job:ps/task:1/device:CPU:1", None),
        ("", "/job:worker", "/job:worker/device:CPU:1", "/job:x/task:3"),
        (None, "/job:worker", "/job:worker/device:CPU:1", "/job:x/task:3"),
    ],
)
def test_where_variables_go_need_not_be_a_job(
    ps_device: str | None, variable: str, with_device: str, with_job: str | None
) -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_device=ps_device)):
        assert tf.Variable(1.0).device == variable
        assert tf.constant(1.0).device == "/job:worker"
        with tf.device("/cpu:1"):
            assert tf.Variable(1.0).device == with_device
        if with_job is not None:
            with tf.device("/job:x/task:3"):
                assert tf.Variable(1.0).device == with_job


def test_what_is_no_cluster_or_strategy_is_refused() -> None:
    with pytest.raises(TypeError, match="`cluster` must be a dictionary from job names"):
        tf.train.replica_device_setter(cluster=3)
    with pytest.raises(TypeError, match="ps_strategy must be callable"):
        tf.train.replica_device_setter(2, ps_strategy="greedy")


def test_without_parameter_servers_there_is_no_function() -> None:
    assert tf.train.replica_device_setter() is None
    assert tf.train.replica_device_setter(cluster={"worker": ["a:1"]}) is None


class _Op:
    """What a strategy asks of a node."""

    name = "v"
    outputs: tuple[tf.Tensor, ...] = ()

    def __init__(self, size: int | None) -> None:
        self.size = size

    def get_attr(self, name: str) -> Any:
        if name == "dtype":
            return tf.float32
        return tf.TensorShape([self.size]).as_proto()


MB = 1 << 18  # floats


def test_equal_variables_go_round_small_or_large() -> None:
    for size in (10, 3 * MB, None):
        balanced, turns = BalancedStrategy(3), RoundRobinStrategy(3)
        made = [_Op(size) for _ in range(10)]
        assert list(map(balanced, made)) == list(map(turns, made))


@given(st.lists(st.integers(1, 8 * MB), min_size=1, max_size=40), st.integers(1, 6))
def test_large_variables_are_balanced_and_every_worker_agrees(sizes: list[int], tasks: int) -> None:
    one, other = BalancedStrategy(tasks), BalancedStrategy(tasks)
    chosen = [one(_Op(size)) for size in sizes]
    assert chosen == [other(_Op(size)) for size in sizes]
    loads = [0] * tasks
    for task, size in zip(chosen, sizes, strict=True):
        if size >= MB:
            assert loads[task] == min(loads)
        loads[task] += size
    # No server has more than the mean, and one variable more (small ones make turns).
    small = sum(size for size in sizes if size < MB)
    assert max(loads) <= sum(sizes) / tasks + max(sizes) + small


def test_layers_of_weights_and_biases_do_not_pile_up() -> None:
    def loads(strategy: Any) -> list[int]:
        found = [0, 0]
        with (
            tf.Graph().as_default(),
            tf.device(tf.train.replica_device_setter(2, ps_strategy=strategy)),
        ):
            for _ in range(4):
                for shape in ([1024, 1024], [1024]):
                    v = tf.Variable(tf.zeros(shape))
                    found[int(v.device[-1])] += tf.contrib.training.byte_size_load_fn(v.op)
        return found

    assert loads(RoundRobinStrategy(2)) == [4 << 22, 4 << 12]
    first, second = loads(None)
    assert abs(first - second) <= 4 << 12


def test_greedy_takes_the_least_loaded() -> None:
    strategy = tf.contrib.training.GreedyLoadBalancingStrategy(2, lambda op: op.size)
    assert [strategy(_Op(size)) for size in (5, 1, 1, 1, 9, 2)] == [0, 1, 1, 1, 1, 0]


def test_bytes_need_a_known_shape() -> None:
    load = tf.contrib.training.byte_size_load_fn
    assert load(tf.Variable(tf.zeros([3, 4], tf.float64)).op) == 96
    assert load(tf.get_variable("r", [5], use_resource=True).op) == 20
    assert load(tf.constant([1, 2]).op) == 8
    with pytest.raises(ValueError, match="2 outputs"):
        load(tf.split([1, 2], 2)[0].op)
    with pytest.raises(ValueError, match="not fully defined"):
        load(tf.placeholder(tf.float32, [None, 2]).op)

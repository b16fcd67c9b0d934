"""Strategies with one copy of each variable; what TF_CONFIG says."""

from __future__ import annotations

import json
from typing import Any

import pytest

import penstock as tf
from penstock.training.distribute import OneDeviceStrategy, cluster
from penstock.training.distribute.default import require_replica_context
from penstock.training.distribute.experimental import ParameterServerStrategy
from tests.training.distribute import training

_JOBS = {"chief": ["a:1"], "worker": ["b:1", "c:1"], "ps": ["d:1", "e:1"]}


def _config(kind: str, index: int) -> str:
    return json.dumps({"cluster": _JOBS, "task": {"type": kind, "index": index}})


def test_who_trains() -> None:
    task = cluster.read(_config("worker", 1))
    assert task is not None
    assert task.rank == 2 and task.addresses == ("a:1", "b:1", "c:1")
    assert task.names[0] == "/job:chief/replica:0/task:0"
    assert cluster.read(_config("evaluator", 0)) is None and cluster.read("{}") is None
    with pytest.raises(ValueError, match="task worker 2, which does not train"):
        cluster.read(_config("worker", 2))


def test_variables_go_to_parameter_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TF_CONFIG", _config("worker", 1))
    strategy = ParameterServerStrategy()
    assert not strategy.extended.should_checkpoint
    with tf.Graph().as_default(), strategy.scope():
        made = [tf.get_variable(name, []) for name in "abc"]
        places = [f"/job:ps/task:{i}/device:CPU:0" for i in (0, 1, 0)]
        assert [v.device for v in made] == places
        opt = tf.train.AdamOptimizer(0.1)
        product = []

        def replica() -> Any:
            loss = made[0] * made[1] * made[2]
            product.append(loss.device)
            return opt.minimize(loss, global_step=tf.train.get_or_create_global_step())

        strategy.experimental_run_v2(replica)
        assert product == ["/job:worker/task:1/device:CPU:0"]
        for v in made:
            assert opt.get_slot(v, "m").device == v.device
            assert f"loc:@{v.op.name}".encode() in opt.get_slot(v, "m").op.colocation_groups()


def test_parameter_servers_train_as_one_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    expected = training.train(OneDeviceStrategy("/cpu:0"), "adam")
    training.check(training.train(ParameterServerStrategy(), "adam"), expected)


def test_outside_strategies_there_is_one_replica_context() -> None:
    here = tf.distribute.get_replica_context()
    assert here is tf.distribute.get_replica_context()
    require_replica_context(here)  # which raises for another than the current one
    assert here.merge_call(lambda strategy, x: (strategy, x), (3,)) == (here.strategy, 3)
    assert here.strategy is tf.distribute.get_strategy() and here.devices == ("",)

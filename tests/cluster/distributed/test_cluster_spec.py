"""ClusterSpec as of TensorFlow 1.15, whose answers are written here."""

from __future__ import annotations

import pytest

from penstock.cluster.distributed.cluster_spec import (
    ClusterDef,
    ClusterSpec,
    JobDef,
    ServerDef,
    parse_tf_config,
)

TASKS = {"worker": {3: "c:3", 1: "d:4"}, "ps": ["a:1", "b:2"]}


def test_a_cluster() -> None:
    cluster = ClusterSpec(TASKS)
    assert cluster.jobs == ["ps", "worker"]
    assert cluster.as_dict() == {"ps": ["a:1", "b:2"], "worker": {1: "d:4", 3: "c:3"}}
    assert str(cluster) == "ClusterSpec({'ps': ['a:1', 'b:2'], 'worker': {1: 'd:4', 3: 'c:3'}})"
    assert cluster.num_tasks("worker") == 2 and cluster.task_indices("worker") == [1, 3]
    assert cluster.task_address("worker", 3) == "c:3"
    assert cluster.job_tasks("worker") == [None, "d:4", None, "c:3"]
    assert cluster.job_tasks("ps") == ["a:1", "b:2"]
    assert bool(cluster) and not ClusterSpec({})


def test_as_cluster_def() -> None:
    expected = ClusterDef(
        job=[
            JobDef(name="ps", tasks={0: "a:1", 1: "b:2"}),
            JobDef(name="worker", tasks={1: "d:4", 3: "c:3"}),
        ]
    )
    assert ClusterSpec(TASKS).as_cluster_def() == expected


def test_what_is_equal() -> None:
    cluster = ClusterSpec(TASKS)
    assert ClusterSpec(cluster) == cluster and ClusterSpec(cluster.as_cluster_def()) == cluster
    assert cluster != 3 and cluster != TASKS and cluster != ClusterSpec({"ps": ["a:1", "b:2"]})
    with pytest.raises(TypeError, match="unhashable"):
        hash(cluster)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"a": ("x:1", "y:2")}, {"a": ["x:1", "y:2"]}),
        ({"a": {0: "x", 1: "y"}}, {"a": ["x", "y"]}),
        ({"a": {1: "x"}}, {"a": {1: "x"}}),
        ({"a": {-1: "x"}}, {"a": {-1: "x"}}),
        ({"a": []}, {"a": {}}),
        ({"a": {}}, {"a": {}}),
        ({b"a": [b"x:1"]}, {"a": ["x:1"]}),
    ],
)
def test_forms(given: object, expected: object) -> None:
    assert ClusterSpec(given).as_dict() == expected


def test_jobs_and_tasks_that_are_not_there() -> None:
    cluster = ClusterSpec(TASKS)
    for call in (cluster.num_tasks, cluster.task_indices, cluster.job_tasks):
        with pytest.raises(ValueError, match="No such job in cluster: 'x'.*ps, worker"):
            call("x")
    with pytest.raises(ValueError, match="No such job in cluster: 'x'"):
        cluster.task_address("x", 0)
    with pytest.raises(ValueError, match=r"No task with index 0 in job 'worker'.*\[1, 3\]"):
        cluster.task_address("worker", 0)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (["a"], "`cluster` must be a dictionary"),
        (3, "found int"),
        ({"a": 3}, "The tasks for job 'a' must be a list or a dictionary"),
        ({"a": "abc"}, "The tasks for job 'a' must be a list or a dictionary"),
        ({"a": [3]}, "Task address 3 must be bytes or unicode"),
        ({"a": {"x": "b:1"}}, "task index must be an integer; found 'x'"),
        ({3: ["a:1"]}, "Job name 3 must be bytes or unicode"),
    ],
)
def test_what_is_no_cluster(given: object, text: str) -> None:
    with pytest.raises(TypeError, match=text):
        ClusterSpec(given)


def test_tf_config(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"cluster": {"ps": ["a:1"]}, "task": {"type": "ps", "index": 0}}'
    assert ClusterSpec.from_tf_config(text).as_dict() == {"ps": ["a:1"]}
    monkeypatch.setenv("TF_CONFIG", text)
    assert ClusterSpec.from_tf_config().jobs == ["ps"]
    assert parse_tf_config()["task"]["type"] == "ps"
    monkeypatch.delenv("TF_CONFIG")
    assert not ClusterSpec.from_tf_config()
    for wrong in ("{", "[]", "3"):
        with pytest.raises(ValueError, match="TF_CONFIG"):
            parse_tf_config(wrong)


def test_server_def() -> None:
    made = ServerDef(cluster=ClusterSpec(TASKS).as_cluster_def(), job_name="ps", protocol="grpc")
    # The bytes of TensorFlow's message: field 2 is the job's name, 5 the protocol.
    assert made.SerializeToString().endswith(b"\x12\x02ps*\x04grpc")
    assert ServerDef.FromString(made.SerializeToString()) == made

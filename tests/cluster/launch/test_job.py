"""What tasks are told, and that TensorFlow 1.15 reads it so."""

from __future__ import annotations

import json
import subprocess

import pytest

from penstock.cluster.launch.job import Job, Task
from tests.peers import TF115, needs


def addresses(job: Job) -> dict[Task, str]:
    return {task: f"host{i}:22{i:02}" for i, task in enumerate(job.cluster_tasks)}


def test_tasks_and_cluster() -> None:
    job = Job("x.py", ps=1, workers=2, chief=True, evaluator=True)
    assert [str(t) for t in job.tasks] == ["chief 0", "ps 0", "worker 0", "worker 1", "evaluator 0"]
    at = addresses(job)
    assert job.cluster(at) == {
        "chief": ["host0:2200"], "ps": ["host1:2201"], "worker": ["host2:2202", "host3:2203"],
    }  # fmt: skip
    assert json.loads(job.tf_config(Task("evaluator", 0), at)) == {
        "cluster": job.cluster(at), "task": {"type": "evaluator", "index": 0},
    }  # fmt: skip
    assert job.arguments(Task("worker", 1), at) == [
        "--job_name=worker", "--task_index=1", "--ps_hosts=host1:2201",
        "--worker_hosts=host2:2202,host3:2203", "--chief_hosts=host0:2200",
    ]  # fmt: skip


def test_jobs_that_would_never_end() -> None:
    for sizes in ({"ps": 1, "workers": 0}, {"workers": -1}, {"ps": -1}):
        with pytest.raises(ValueError):
            Job("x.py", **sizes)


@pytest.mark.long
def test_tensorflow_reads_the_same() -> None:
    needs(TF115)
    job = Job("x.py", ps=2, workers=3, chief=True, evaluator=True)
    at = addresses(job)
    configs = [job.tf_config(task, at) for task in job.tasks]
    code = (
        "import json, os, sys\n"
        "from tensorflow_estimator.python.estimator.run_config import RunConfig\n"
        "for text in json.loads(sys.stdin.read()):\n"
        "    os.environ['TF_CONFIG'] = text\n"
        "    c = RunConfig()\n"
        "    print(json.dumps([c.task_type, c.task_id, c.master, c.is_chief,\n"
        "                      c.num_ps_replicas, c.num_worker_replicas]))\n"
    )
    done = subprocess.run(
        [str(TF115), "-c", code], input=json.dumps(configs), capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    read = [json.loads(line) for line in done.stdout.splitlines()]
    for task, found in zip(job.tasks, read, strict=True):
        evaluates = task.job == "evaluator"
        master = "" if evaluates else f"grpc://{at[task]}"
        sizes = [0, 0] if evaluates else [2, 4]
        assert found == [task.job, task.index, master, task.job == "chief", *sizes]

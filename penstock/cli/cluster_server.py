"""``penstock server``: one task of a cluster, until the job is done."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from google.protobuf import text_format

from penstock.cli.output import Failure, Output


def serve_task(
    output: Output, cluster: str, job: str | None, task: int | None, protocol: str, config: str
) -> None:
    """Starts a server, says where it is, and returns when the job is done.

    Args:
      output: where the target is printed.
      cluster: as ``jobs_of`` reads it.
      job, task: which task this is; not needed where the cluster, or TF_CONFIG, says it.
      protocol: "grpc".
      config: a ConfigProto as text, or a file of it.

    Raises:
      Failure: an option is wrong.
    """
    jobs, (told_job, told_task) = _jobs_and_task(cluster)
    job, task = job if job is not None else told_job, task if task is not None else told_task
    if job is not None and job not in jobs:
        raise Failure(f"--job {job}: the cluster has {', '.join(jobs)}", 2)

    import penstock.ops  # noqa: F401  # registers the op types
    from penstock.cluster.distributed.server import Server
    from penstock.foundation.base.errors import InvalidArgumentError

    options = _config(config) if config else None
    try:
        server = Server(jobs, job, task, protocol, options)
    except (ValueError, InvalidArgumentError) as error:
        raise Failure(f"{error} (--job, --task)", 2) from error
    output.line(server.target)
    sys.stdout.flush()
    server.join()


def jobs_of(text: str) -> dict[str, Any]:
    """The jobs of ``--cluster``.

    Args:
      text: JSON as ClusterSpec takes it, or jobs as TensorFlow's own server command names them.

    Raises:
      Failure: it is neither.

    >>> jobs_of('{"ps": ["a:1"], "worker": {"3": "b:2"}}')
    {'ps': ['a:1'], 'worker': {3: 'b:2'}}
    >>> jobs_of("ps|a:1,worker|b:2;c:3")
    {'ps': ['a:1'], 'worker': ['b:2', 'c:3']}
    """
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except ValueError as error:
            raise Failure(f"--cluster is no JSON: {error}", 2) from error
        return {job: _by_number(tasks) for job, tasks in found.items()}
    jobs: dict[str, Any] = {}
    for part in text.split(","):
        job, bar, tasks = part.partition("|")
        if not bar or not job or not tasks:
            raise Failure(
                f"--cluster {text}: allowed is JSON ({{\"worker\": [\"host:port\"]}}) or"
                " JOB|HOST:PORT;HOST:PORT,JOB|...", 2,
            )  # fmt: skip
        jobs[job] = tasks.split(";")
    return jobs


def _by_number(tasks: Any) -> Any:
    """JSON's keys are text."""
    if not isinstance(tasks, dict):
        return tasks
    if not all(index.isdecimal() for index in tasks):
        raise Failure(f"--cluster: tasks are numbered; found {', '.join(tasks)}", 2)
    return {int(index): address for index, address in tasks.items()}


def _jobs_and_task(cluster: str) -> tuple[dict[str, Any], tuple[str | None, int | None]]:
    """The jobs of the command line or of TF_CONFIG, and which task that says this is."""
    if cluster:
        return jobs_of(cluster), (None, None)
    told = os.environ.get("TF_CONFIG", "")
    try:
        found = json.loads(told) if told else {}
        jobs, task = found.get("cluster"), found.get("task", {})
        if not jobs:
            raise Failure("--cluster is missing, and TF_CONFIG names no cluster", 2)
        index = task.get("index")
        return jobs_of(json.dumps(jobs)), (task.get("type"), None if index is None else int(index))
    except (ValueError, AttributeError) as error:
        raise Failure(f"TF_CONFIG is malformed: {error}", 2) from error


def _config(given: str) -> Any:
    from penstock.engine.session.options import ConfigProto

    text = Path(given).read_text() if Path(given).is_file() else given
    made = ConfigProto()
    try:
        text_format.Parse(text, made)
    except text_format.ParseError as error:
        raise Failure(f"--config is no ConfigProto in text form: {error}", 2) from error
    return made

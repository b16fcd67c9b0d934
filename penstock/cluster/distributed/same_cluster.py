"""Whether two tasks were started with the same cluster spec.

A spec may leave out tasks that its own never speaks to, and name hosts in its own way.  But where
both name a task, they must agree on its port, and each address must be the one of its task: else
steps would run at the wrong one, or wait for tasks that only some believe in.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto.cluster_pb2 import ClusterDef

from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.cluster.distributed.security import split_address
from penstock.foundation.base import errors


def check_same_cluster(asker: str, ours: ClusterSpec, task: str, answer: Any) -> None:
    """Refuses a task of another cluster.

    Args:
      asker: the task that asks.
      ours: its cluster spec.
      task: the task that was meant.
      answer: the GetStatusResponse that came from its address.

    Raises:
      tf.errors.FailedPreconditionError: the specs differ.
    """
    if answer.task != task:
        raise _differ(f"{asker} looks for {task} where {answer.task} answers")
    if not answer.cluster:
        return
    message = ClusterDef()
    message.ParseFromString(answer.cluster)
    theirs = ClusterSpec(message)
    for difference in _differences(ours, theirs, (asker, task)):
        raise _differ(f"{difference} ({asker} and {task} were asked, in this order)")


def _differences(ours: ClusterSpec, theirs: ClusterSpec, tasks: tuple[str, str]) -> Iterator[str]:
    for job in ours.jobs:
        if job not in theirs.jobs:
            continue
        here, there = ours.task_indices(job), theirs.task_indices(job)
        for index in sorted({*here} & {*there}):
            addresses = [spec.task_address(job, index) for spec in (ours, theirs)]
            ports = [split_address(address)[1] for address in addresses]
            if 0 not in ports and ports[0] != ports[1]:
                yield f"/job:{job}/task:{index} is at {addresses[0]} or at {addresses[1]}"
        if _whole(job, here, tasks[0]) and _whole(job, there, tasks[1]) and here != there:
            yield f"job {job!r} has {len(here)} or {len(there)} task(s)"


def _whole(job: str, indices: list[int], task: str) -> bool:
    """Whether a spec names all tasks of a job, as far as it shows: not just its own one."""
    alone = [f"/job:{job}/replica:0/task:{index}" for index in indices] == [task]
    return not alone and list(indices) == list(range(len(indices)))


def _differ(how: str) -> errors.FailedPreconditionError:
    return errors.FailedPreconditionError(
        None, None, f"the tasks were started with different cluster specs: {how};"
        " give all tasks the same one",
    )  # fmt: skip

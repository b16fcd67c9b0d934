"""Which task of which cluster this process is, as ``TF_CONFIG`` tells it.

TF_CONFIG='{"cluster": {"worker": ["a:2222", "b:2222"]}, "task": {"type": "worker", "index": 1}}'
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# Jobs whose tasks train together, in order of rank.
_TRAINING = ("chief", "master", "worker")


class Task(NamedTuple):
    """A task among those that train together.

    Args:
      addresses: of all those tasks, in order of rank.
      names: their names.
      rank: which this one is.
      kind: its job.
      number: its number in the job.
    """

    addresses: tuple[str, ...]
    names: tuple[str, ...]
    rank: int
    kind: str
    number: int


def read(text: str | None = None) -> Task | None:
    """The task that ``text`` (default: the environment's TF_CONFIG) says this is.

    Returns:
      The task; None where there is no cluster, or this is no training task of it (an evaluator).

    Raises:
      ValueError: the configuration contradicts itself.

    >>> read('{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 1}}').rank
    1
    """
    given = json.loads(text if text is not None else os.environ.get("TF_CONFIG") or "{}")
    task = given.get("task") or {}
    return of_cluster(given.get("cluster") or {}, task.get("type"), task.get("index", 0))


def of_cluster(
    cluster: Mapping[str, Sequence[str]], kind: str | None, index: int | str
) -> Task | None:
    """As ``read``, of a dict from jobs to addresses."""
    rows = [
        (job, number, address)
        for job in _TRAINING
        for number, address in enumerate(cluster.get(job, ()))
    ]
    if not rows or kind is None or kind == "evaluator":
        return None
    at = (kind, int(index))
    found = [rank for rank, (job, number, _) in enumerate(rows) if (job, number) == at]
    if not found:
        known = ", ".join(f"{job} {number}" for job, number, _ in rows)
        raise ValueError(
            f"TF_CONFIG says that this is task {kind} {index}, which does not train in its"
            f" cluster; those that do: {known}"
        )
    names = tuple(f"/job:{job}/replica:0/task:{number}" for job, number, _ in rows)
    return Task(tuple(address for _, _, address in rows), names, found[0], kind, int(index))

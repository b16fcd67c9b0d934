"""Cluster resolvers: of a given cluster, of ``TF_CONFIG``, and of several others together."""

from __future__ import annotations

import abc
import json
import os
from typing import Any

from penstock.cluster.distributed.cluster_spec import ClusterSpec


def address_with_layer(address: str, rpc_layer: str | None) -> str:
    """An address with its protocol in front, if there is one."""
    return f"{rpc_layer}://{address}" if rpc_layer and address else address


class ClusterResolver(abc.ABC):
    """Says the tasks of a cluster."""

    @abc.abstractmethod
    def cluster_spec(self) -> Any:
        """The ``tf.train.ClusterSpec``."""

    @abc.abstractmethod
    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The target of sessions: a task's address with its protocol.

        Args:
          task_type, task_id: the task; default this one.
          rpc_layer: the protocol; default the resolver's.
        """

    @property
    def environment(self) -> str:
        """Where the cluster runs: ``""`` or ``"google"``."""
        return ""

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """How many accelerators of each kind a task has; none are said."""
        return {}


def address_of(
    resolver: Any, task_type: str | None, task_id: int | None, rpc_layer: str | None
) -> str:
    """The address of a task, by default of the resolver's own; ``""`` where none is known."""
    kind = task_type if task_type is not None else resolver.task_type
    number = task_id if task_id is not None else resolver.task_id
    if kind is None or number is None:
        return ""
    address = resolver.cluster_spec().task_address(kind, number)
    return address_with_layer(address, rpc_layer or resolver.rpc_layer)


class SimpleClusterResolver(ClusterResolver):
    """A cluster that is given.

    Args:
      cluster_spec: a ``tf.train.ClusterSpec``.
      master: the target where no task is named.
      task_type, task_id: which task this is.
      environment: where it runs.
      num_accelerators: from kinds of accelerators to their number in a task.
      rpc_layer: the protocol of addresses.

    Raises:
      TypeError: no ClusterSpec.
    """

    def __init__(
        self, cluster_spec: Any, master: str = "", task_type: str | None = None,
        task_id: int | None = None, environment: str = "",
        num_accelerators: dict[str, int] | None = None, rpc_layer: str | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError(f"cluster_spec must be a ClusterSpec; found {cluster_spec!r}.")
        self._cluster_spec, self._master = cluster_spec, master
        self._environment, self._num_accelerators = environment, num_accelerators
        self.task_type, self.task_id, self.rpc_layer = task_type, task_id, rpc_layer

    def cluster_spec(self) -> Any:
        """The cluster."""
        return self._cluster_spec

    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The address of a task, or what was given as master where none is named."""
        master = self._master
        if task_type is not None and task_id is not None:
            master = self._cluster_spec.task_address(task_type, task_id)
        return address_with_layer(master, rpc_layer or self.rpc_layer)

    @property
    def environment(self) -> str:
        """What was given."""
        return self._environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """What was given."""
        return dict(self._num_accelerators or {})


class TFConfigClusterResolver(ClusterResolver):
    """The cluster of the environment variable ``TF_CONFIG``.

    Args:
      task_type, task_id: which task this is; default what is in the variable.
      rpc_layer: the protocol of addresses; default what is in the variable.
      environment: where it runs.
    """

    def __init__(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None, environment: str | None = None,
    ) -> None:  # fmt: skip
        self._task_type, self._task_id = task_type, task_id
        self._rpc_layer, self._environment = rpc_layer, environment

    @staticmethod
    def _config() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(os.environ.get("TF_CONFIG", "{}"))
        return found

    def _task(self, key: str) -> Any:
        return self._config().get("task", {}).get(key)

    @property
    def task_type(self) -> str | None:
        """The job of this task."""
        given = self._task("type") if self._task_type is None else self._task_type
        return None if given is None else str(given)

    @property
    def task_id(self) -> int | None:
        """The number of this task."""
        given = self._task("index") if self._task_id is None else self._task_id
        return None if given is None else int(given)

    @property
    def rpc_layer(self) -> str | None:
        """The protocol of addresses."""
        found: str | None = self._config().get("rpc_layer")
        return found if self._rpc_layer is None else self._rpc_layer

    @property
    def environment(self) -> Any:
        """What was given, or None."""
        return self._environment

    def cluster_spec(self) -> Any:
        """The cluster; an empty one where the variable has none."""
        return ClusterSpec(self._config().get("cluster", {}))

    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The address of a task, by default of this one; ``""`` in no cluster."""
        cluster = self.cluster_spec()
        jobs = cluster.jobs
        if not jobs or (len(jobs) == 1 and len(cluster.job_tasks(jobs[0])) == 1):
            return ""
        kind = task_type if task_type is not None else self.task_type
        number = task_id if task_id is not None else self.task_id
        address = cluster.task_address(kind, number)
        return address_with_layer(address, rpc_layer or self.rpc_layer)


class UnionClusterResolver(ClusterResolver):
    """Several clusters as one: the jobs of all, the task of the first.

    Args:
      *args: resolvers.
      **kwargs: ``rpc_layer``, ``task_type`` and ``task_id``, in place of the first resolver's.

    Raises:
      TypeError: something else than a resolver.
      ValueError: no resolvers.
    """

    def __init__(self, *args: ClusterResolver, **kwargs: Any) -> None:
        if not args:
            raise ValueError("At least one ClusterResolver is required in UnionClusterResolver.")
        for resolver in args:
            if not isinstance(resolver, ClusterResolver):
                raise TypeError(f"All arguments must be ClusterResolvers; found {resolver!r}.")
        self._resolvers = args
        keys = ("rpc_layer", "task_type", "task_id")
        self._given = {key: kwargs.pop(key, None) for key in keys}
        if kwargs:
            raise ValueError(f"Unexpected kwargs provided {sorted(kwargs)}")

    def _own(self, key: str) -> Any:
        given = self._given[key]
        return getattr(self._resolvers[0], key, None) if given is None else given

    @property
    def task_type(self) -> str | None:
        """The job of this task."""
        found: str | None = self._own("task_type")
        return found

    @property
    def task_id(self) -> int | None:
        """The number of this task."""
        found: int | None = self._own("task_id")
        return found

    @property
    def rpc_layer(self) -> str | None:
        """The protocol of addresses."""
        found: str | None = self._own("rpc_layer")
        return found

    def cluster_spec(self) -> Any:
        """The jobs of all clusters.

        Raises:
          KeyError: clusters give a task of one job the same number.
        """
        lists: dict[str, list[str]] = {}
        numbered: dict[str, dict[int, str]] = {}
        for resolver in self._resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                if isinstance(tasks, list):
                    lists.setdefault(job, []).extend(tasks)
                    continue
                known = numbered.setdefault(job, {})
                if not known.keys().isdisjoint(tasks):
                    raise KeyError(f"Duplicate keys detected when merging tasks of {job}: {tasks}")
                known.update(tasks)
        for job in numbered.keys() & lists.keys():
            # A list beside numbers: its tasks take the numbers from 0.
            numbered[job] = {**dict(enumerate(lists.pop(job))), **numbered[job]}
        return ClusterSpec({**lists, **numbered})

    def master(
        self, task_type: str | None = None, task_id: int | None = None,
        rpc_layer: str | None = None,
    ) -> str:  # fmt: skip
        """The address of a task of the union, or the first resolver's master."""
        if task_type is not None and task_id is not None:
            address = self.cluster_spec().task_address(task_type, task_id)
            return address_with_layer(address, rpc_layer)
        return self._resolvers[0].master(rpc_layer=rpc_layer)

    @property
    def environment(self) -> str:
        """The first resolver's."""
        return self._resolvers[0].environment

    def num_accelerators(
        self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None
    ) -> dict[str, int]:
        """The first resolver's."""
        return self._resolvers[0].num_accelerators(task_type, task_id, config_proto)

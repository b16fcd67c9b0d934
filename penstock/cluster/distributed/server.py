"""``tf.train.Server``: the master and the worker of one task.

Sessions of the same process use its master directly, others by what listens at its address.

State: the worker, the master, what listens and the links.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from typing import Any

from penstock.cluster.distributed import (
    ending,
    heartbeat,
    status_page,
)
from penstock.cluster.distributed.cluster_spec import ClusterSpec, ServerDef
from penstock.cluster.distributed.in_process import add_master, remove_master
from penstock.cluster.distributed.listening import Listening
from penstock.cluster.distributed.master import Master
from penstock.cluster.distributed.metrics import Watched
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.placement.available import local_devices
from penstock.engine.runtime import gpus, memory
from penstock.foundation.base import errors

# How often ``join`` looks whether the job is done.
_LOOK_SECONDS = 0.2
# How long a server that stops lets the parts of steps that wait for nothing go on.
_SETTLE_SECONDS = 1.0
# The largest GraphDef that a protobuf message can hold.
_MAX_GRAPH_BYTES = (1 << 31) - 1


class Server:
    """One task of a cluster, which sessions can use.

    Args:
      server_or_cluster_def: a ServerDef, a ClusterDef, a ClusterSpec, or a dict from job name to
        addresses ("host:port").
      job_name, task_index: which task this is; not needed where the cluster has one task, or a
        ServerDef says it.
      protocol: "grpc", the default.
      config: a ConfigProto: defaults of sessions, and the devices (``device_count``).
      start: whether to start at once.

    Raises:
      ValueError: the task is not said, or its job not in the cluster.
      tf.errors.InvalidArgumentError: the job has no such task.
      tf.errors.OpError: the server cannot listen at its address.

    Example:
      >>> import penstock as tf
      >>> server = tf.train.Server.create_local_server()
      >>> with tf.Graph().as_default(), tf.Session(server.target) as sess:
      ...     sess.run(tf.constant("hello"))
      b'hello'
    """

    def __init__(
        self,
        server_or_cluster_def: Any,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Any = None,
        start: bool = True,
    ) -> None:
        # A parameter server has no session, which else asks for this.
        memory.keep_freed_memory()
        heartbeat.begin()
        self._server_def = _server_def(
            server_or_cluster_def, job_name, task_index, protocol, config
        )
        definition = self._server_def
        self._task = f"/job:{definition.job_name}/replica:0/task:{definition.task_index}"
        counts = definition.default_session_config.device_count
        devices = local_devices(counts, gpus.memory_of_gpus(), self._task)
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._worker = Worker(self._task, devices, self._send)
        # Importing gRPC takes a while, and most programs have no server.
        self._listening = Listening(definition, self._worker, self._own_address(), _graph_limit())
        self._peers = self._listening.peers
        self._target = f"grpc://{self._listening.address}"
        self._master = Master(
            self._worker, self._peers, definition.default_session_config,
            self._listening.memberships.lead,
        )  # fmt: skip
        self._started = False
        self._watched = Watched(
            self._worker, self._master, self._listening.memberships,
            lambda: self._started and not self._stopped.is_set(),
        )  # fmt: skip
        status_page.watch(self._watched)
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """A server of a cluster of its own, the only task of a job "local".

        It listens at a free port of the loopback interface.

        Args:
          config: a ConfigProto.
          start: whether to start at once.
        """
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)

    @property
    def target(self) -> str:
        """What a session takes to use this server."""
        return self._target

    @property
    def server_def(self) -> Any:
        """The ServerDef."""
        return self._server_def

    def start(self) -> None:
        """Starts the server; a second call changes nothing."""
        with self._lock:
            if self._started:
                return
            if self._stopped.is_set():
                raise errors.FailedPreconditionError(None, None, "the server was stopped")
            self._listening.start(self._master)
            self._target = f"grpc://{self._listening.address}"
            ending.stop_at_exit(self, self._peers.say_goodbye)
            add_master(self._target, self._master)
            self._started = True

    def join(self) -> None:
        """Returns when the job is done: ``stop`` was called, or all tasks of other jobs have ended.

        A task has ended when its process ended well; one that fails may be started again.  Before
        that, SIGTERM and SIGINT end the process.
        """
        done = self._listening.farewells.all_gone
        while not self._stopped.wait(_LOOK_SECONDS):
            if done.is_set():
                self.stop()

    def stop(self) -> None:
        """Stops: steps that wait here fail with CancelledError, and ``join`` returns.

        What has been done for others is answered first.
        """
        with self._lock:
            if self._stopped.is_set():
                return
            self._stopped.set()
        ending.stopped(self)
        status_page.unwatch(self._watched)
        remove_master(self._target)
        self._peers.refuse_parts()
        self._worker.table.settle(_SETTLE_SECONDS)
        self._worker.table.fail_all(
            errors.CancelledError(None, None, f"the server of {self._task} was stopped")
        )
        self._listening.stop()

    def _send(self, task: str, number: int, edge: str, value: Any) -> None:
        self._peers.send(task, number, edge, value)

    def _own_address(self) -> str:
        definition = self._server_def
        cluster = ClusterSpec(definition.cluster)
        return str(cluster.task_address(definition.job_name, definition.task_index))


def _graph_limit() -> int:
    return int(os.environ.get("PENSTOCK_MAX_GRAPH_BYTES", _MAX_GRAPH_BYTES))


def _server_def(
    given: Any, job_name: str | None, task_index: int | None, protocol: str | None, config: Any
) -> Any:
    """A complete ServerDef."""
    made = ServerDef()
    if isinstance(given, ServerDef):
        made.CopyFrom(given)
    else:
        kind: Any = (Mapping, ClusterSpec)
        cluster = given if isinstance(given, kind) else _cluster_def(given)
        made.cluster.CopyFrom(ClusterSpec(cluster).as_cluster_def())
    if job_name is not None:
        made.job_name = job_name
    if task_index is not None:
        made.task_index = task_index
    if protocol is not None or not made.protocol:
        made.protocol = protocol or "grpc"
    if config is not None:
        made.default_session_config.MergeFrom(config)
    _complete(made, named=job_name is not None, numbered=task_index is not None)
    if made.protocol != "grpc":
        raise errors.NotFoundError(
            None, None, f"no server speaks protocol {made.protocol!r}; allowed is 'grpc'"
        )
    return made


def _cluster_def(given: Any) -> Any:
    if not hasattr(given, "job"):
        raise TypeError(
            "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or"
            f" `tf.train.ClusterSpec`; found {type(given).__name__}"
        )
    return given


def _complete(made: Any, *, named: bool, numbered: bool) -> None:
    jobs = made.cluster.job
    if not made.job_name:
        if len(jobs) != 1:
            names = ", ".join(job.name for job in jobs) or "none"
            raise ValueError(
                "Must specify an explicit `job_name`, which says which job of the cluster this is;"
                f" it has {names}"
            )
        made.job_name = jobs[0].name
        if not numbered and not made.task_index:
            if len(jobs[0].tasks) != 1:
                raise ValueError(
                    "Must specify an explicit `task_index`, which says which task this is; job"
                    f" {made.job_name!r} has {len(jobs[0].tasks)}"
                )
            made.task_index = next(iter(jobs[0].tasks))
    cluster = ClusterSpec(made.cluster)
    if made.job_name not in cluster.jobs:
        raise ValueError(
            f"No such job in cluster: {made.job_name!r}; it has {', '.join(cluster.jobs)}"
        )
    if made.task_index not in cluster.task_indices(made.job_name):
        raise errors.invalid(
            f'Task {made.task_index} was not defined in job "{made.job_name}"; it has'
            f" {cluster.task_indices(made.job_name)}"
        )

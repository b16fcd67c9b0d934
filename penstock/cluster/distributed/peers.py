"""The other tasks of a cluster, as this one reaches them.

Control (status, registration, cancelling) goes by gRPC.  What a step needs goes over links: the
order to run a part, the tensors between parts, and the answer.  Small values of feeds and fetches
travel inside the order and the answer; a larger one goes ahead of it as a tensor of the step, so
its bytes are copied once.

State: a stub for each task, what is known of its devices, and the calls that are not answered.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from penstock.cluster.distributed import awaiting, tensor_codec
from penstock.cluster.distributed.cluster_spec import ClusterSpec
from penstock.cluster.distributed.daemon_pool import DaemonPool
from penstock.cluster.distributed.master import Answer
from penstock.cluster.distributed.room import Room
from penstock.cluster.distributed.rpc_errors import error_of, failure_of
from penstock.cluster.distributed.same_cluster import check_same_cluster
from penstock.cluster.distributed.step_table import Step
from penstock.cluster.distributed.worker import Worker
from penstock.compiler.partition import wire
from penstock.compiler.partition.part import Part
from penstock.compiler.placement.available import DeviceAttributes
from penstock.engine.resources import waiting
from penstock.foundation.base import errors
from penstock.foundation.formats import cluster_messages as messages

# Values up to this size travel inside an order or an answer.
_INLINE_BYTES = 2048
# Seconds for a call that only changes what a task remembers.
_CALL_SECONDS = 60.0
_GOODBYE_SECONDS = 2.0
# The type of a value that has gone ahead as a tensor of the step.
_WENT_AHEAD = -1


class ClusterPeers:
    """The tasks of a cluster.

    Args:
      cluster: all tasks and their addresses.
      worker: this task's.
      make_stub: ``task -> stub`` of its Worker service.
      make_links: ``(deliver, lost) -> links``; see ``links.Links``.
      up_seconds: how long to wait for the server of a task to be up.
      join: called with a task before it is asked for its devices.
    """

    def __init__(
        self,
        cluster: ClusterSpec,
        worker: Worker,
        make_stub: Callable[[str], Any],
        make_links: Callable[..., Any],
        up_seconds: float,
        join: Callable[[str], None] | None = None,
    ) -> None:
        self._worker, self._cluster, self._join = worker, cluster, join
        self._names = {
            f"/job:{job}/replica:0/task:{index}": (job, index)
            for job in cluster.jobs
            for index in cluster.task_indices(job)
        }
        self._make_stub, self._up_seconds = make_stub, up_seconds
        self._lock = threading.Lock()
        self._stubs: dict[str, Any] = {}
        self._devices: dict[str, list[DeviceAttributes]] = {}
        self._calls: dict[int, tuple[str, int, Answer]] = {}
        self._numbers = itertools.count(1)
        self._pool = DaemonPool("penstock-part")
        # Parts that others have ordered and that are not answered; those that may wait.
        self._serving = 0
        self._room = Room(worker.task)
        self._served_one = threading.Condition()
        self._refuses = False
        self.links = make_links(self._deliver, self._lost)

    # ---- what a master asks for --------------------------------------------------------------

    def tasks(self, job: str | None, index: int | None, replica: int | None) -> list[str]:
        """Full names of the tasks with these parts."""
        if replica not in (None, 0):
            return []
        return [
            name
            for name, (its_job, its_index) in self._names.items()
            if job in (None, its_job) and index in (None, its_index)
        ]

    def devices(self, task: str) -> list[DeviceAttributes]:
        """A task's devices; waits for its server to be up.

        Raises:
          tf.errors.UnavailableError: it is not up in time.
          tf.errors.FailedPreconditionError: it was started with another cluster spec.
        """
        known = self._devices.get(task)
        if known is None:
            if self._join is not None:
                self._join(task)
            stub = self.stub(task)
            answer = awaiting.answer_once_up(
                stub.get_status, messages.GetStatusRequest(), self._up_seconds, stub.whom
            )
            check_same_cluster(self._worker.task, self._cluster, task, answer)
            known = self._devices[task] = [
                DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation)
                for d in answer.devices
            ]
        return known

    def register(self, task: str, session: str, part: Part, config: bytes) -> str:
        """Registers a part at a task.

        Raises:
          tf.errors.AbortedError: the task was started anew since its devices were looked up.
        """
        (first, *_) = self.devices(task)
        request = messages.RegisterGraphRequest(
            session=session, graph=wire.encode(part), config=config, incarnation=first.incarnation
        )
        try:
            stub = self.stub(task)
            answer = awaiting.answer_of(
                stub.register_graph, request, _CALL_SECONDS,
                stub.whom, "to take its part of the step",
            )  # fmt: skip
            return str(answer.graph)
        except errors.AbortedError:
            self._devices.pop(task, None)
            raise

    def start(
        self,
        task: str,
        handle: str,
        number: int,
        args: Sequence[Any],
        seconds: float | None,
        trace: int,
        answer: Answer,
    ) -> None:
        """Orders a task to run a part; ``answer`` is called in another thread."""
        call = next(self._numbers)
        order = messages.LinkHeader(step=number, call=call)
        order.run.graph = handle
        order.run.trace = trace
        if seconds is not None:
            order.run.timeout_in_ms = max(1, int(seconds * 1000))
        self._add_values(order.run.values, args, task, number, f"feed:{call}")
        self._calls[call] = task, number, answer
        try:
            self.links.send(task, order.SerializeToString(), None)
        except BaseException:
            self._calls.pop(call, None)
            raise

    def cancel(self, task: str, number: int, error: errors.OpError) -> None:
        """Tells a task to stop its part of a step; does not wait."""
        request = messages.CancelStepRequest(step=number, failure=failure_of(error))
        self._in_background(task, "cancel_step", request)

    def explain(self, task: str, handle: str) -> str:
        """The program of a part at a task."""
        request = messages.ExplainGraphRequest(graph=handle)
        return str(self.stub(task).explain_graph(request, timeout=_CALL_SECONDS).text)

    def deregister(self, task: str, handles: Sequence[str]) -> None:
        """Forgets parts at a task; does not wait."""
        self._in_background(
            task, "deregister_graph", messages.DeregisterGraphRequest(graphs=handles)
        )

    def say_goodbye(self) -> None:
        """Tells the tasks that this one has spoken to that it has ended well."""
        request = messages.GoodbyeRequest(task=self._worker.task)
        with self._lock:
            stubs = list(self._stubs.values())
        pending = []
        for stub in stubs:
            with suppress(errors.OpError):
                pending.append(stub.goodbye.start(request, _GOODBYE_SECONDS))
        for each in pending:
            with suppress(errors.OpError):  # it is gone already
                each.result()

    def clear_containers(self, task: str, containers: Sequence[str]) -> None:
        """Drops state at a task."""
        request = messages.ClearContainersRequest(containers=containers)
        stub = self.stub(task)
        awaiting.answer_of(
            stub.clear_containers, request, _CALL_SECONDS,
            stub.whom, "to drop its state",
        )  # fmt: skip

    def send(self, task: str, number: int, edge: str, value: Any) -> None:
        """Pushes a tensor of a step to a task."""
        header = messages.LinkHeader(step=number, edge=edge)
        self.links.send(task, header.SerializeToString(), value)

    def stub(self, task: str) -> Any:
        """The stub of a task's Worker service."""
        with self._lock:
            stub = self._stubs.get(task)
            if stub is None:
                stub = self._stubs[task] = self._make_stub(task)
            return stub

    def refuse_parts(self) -> None:
        """Runs no more parts for others: the server stops."""
        self._refuses = True

    def answer_all(self, seconds: float) -> None:
        """Waits until the parts that run for others are answered, but not longer."""
        with self._served_one:
            self._served_one.wait_for(lambda: self._serving == 0, seconds)

    def close(self) -> None:
        """Ends all links; calls that are not answered fail."""
        self.links.close()
        for call in list(self._calls):
            self._answer(call, errors.CancelledError(None, None, "the server was stopped"), None)
        self._pool.shutdown(wait=False)
        with self._lock:
            for stub in self._stubs.values():
                stub.close()

    def _in_background(self, task: str, method: str, request: Any) -> None:
        def call() -> None:
            try:
                getattr(self.stub(task), method)(request, timeout=_CALL_SECONDS)
            except errors.OpError:
                # The task is lost, and what it was to forget with it.
                return

        self._pool.submit(call)

    # ---- what comes over links ---------------------------------------------------------------

    def _deliver(self, task: str, data: bytes, value: Any) -> None:
        header = messages.LinkHeader.FromString(data)
        if header.edge:
            self._worker.table.deliver(header.step, header.edge, value)
        elif header.HasField("run"):
            with self._served_one:
                self._serving += 1
            if self._worker.is_quick(header.run.graph):
                self._serve(task, header, self._served)
            else:
                self._serve_aside(task, header)
        elif header.HasField("failure"):
            self._answer(header.call, error_of(header.failure), None)
        elif header.HasField("done"):
            self._finished(task, header)

    def _lost(self, task: str, error: errors.OpError) -> None:
        self._devices.pop(task, None)
        self._worker.table.lost(task, error)
        for call, (its_task, _, _) in list(self._calls.items()):
            if its_task == task:
                self._answer(call, error, None)

    def _finished(self, task: str, header: Any) -> None:
        found = self._calls.get(header.call)
        if found is None:
            return
        try:
            step = self._worker.table.open(found[1])
        except errors.CancelledError as error:
            self._answer(header.call, error, None)
            return
        try:
            # They went ahead over the same link, whose one thread must not wait here.
            with waiting.running(None, 0.0):
                made = self._values(header.done.values, step, task, f"fetch:{header.call}")
            self._answer(header.call, made, header.done.metadata or None)
        except errors.OpError as error:
            self._answer(header.call, error, None)
        finally:
            self._worker.table.close(step)

    def _answer(self, call: int, values: Any, metadata: Any) -> None:
        found = self._calls.pop(call, None)
        if found is not None:
            found[2](values, metadata)

    def _serve_aside(self, task: str, header: Any) -> None:
        """Has a part run by a thread of its own, if there is one for it."""
        try:
            self._room.enter("a part of a step")
        except errors.OpError as error:
            refused = messages.LinkHeader(call=header.call, failure=failure_of(error))
            self._serve(task, header, lambda task, header: refused)
            return

        def serve() -> None:
            try:
                self._serve(task, header, self._served)
            finally:
                self._room.leave()

        self._pool.submit(serve)

    def _serve(self, task: str, header: Any, served: Callable[[str, Any], Any]) -> None:
        """Runs a part that a master ordered, and answers."""
        try:
            answer = served(task, header)
        except errors.OpError as error:
            answer = messages.LinkHeader(call=header.call, failure=failure_of(error))
        except Exception as error:  # a defect here must not look like a task that hangs
            wrapped = errors.InternalError(None, None, f"{type(error).__name__}: {error}")
            answer = messages.LinkHeader(call=header.call, failure=failure_of(wrapped))
        try:
            self.links.send(task, answer.SerializeToString(), None)
        except errors.OpError:
            # The master is lost, and with it whoever waits for the answer.
            return
        finally:
            with self._served_one:
                self._serving -= 1
                self._served_one.notify_all()

    def _served(self, task: str, header: Any) -> Any:
        worker, run = self._worker, header.run
        if self._refuses:
            raise errors.UnavailableError(None, None, f"the server of {worker.task} is stopping")
        step = worker.table.open(header.step, [task])
        try:
            args = self._values(run.values, step, task, f"feed:{header.call}")
            seconds = run.timeout_in_ms / 1000 if run.timeout_in_ms else None
            metadata = b""
            if run.trace:
                made, metadata = worker.run_traced(
                    run.graph, header.step, args, run.trace, seconds, task
                )
            else:
                made = worker.run(run.graph, header.step, args, seconds, task)
            answer = messages.LinkHeader(call=header.call)
            answer.done.metadata = metadata
            self._add_values(answer.done.values, made, task, header.step, f"fetch:{header.call}")
            return answer
        finally:
            worker.table.close(step)

    def _add_values(
        self, into: Any, values: Sequence[Any], task: str, number: int, name: str
    ) -> None:
        for index, value in enumerate(values):
            if getattr(value, "nbytes", 0) <= _INLINE_BYTES and tensor_codec.is_dense(value):
                into.append(tensor_codec.encode(value))
            else:
                into.add(dtype=_WENT_AHEAD)
                self.send(task, number, f"{name}:{index}", value)

    @staticmethod
    def _values(encoded: Any, step: Step, task: str, name: str) -> list[Any]:
        return [
            step.mailbox.take(f"{name}:{index}", task)
            if value.dtype == _WENT_AHEAD
            else tensor_codec.decode(value)
            for index, value in enumerate(encoded)
        ]

"""Runs a graph-building function once for each replica, so that the replicas can meet.

Each replica has a thread; one thread runs at a time, in order of the replicas.  At ``merge_call`` a
replica stops; when all have stopped, the caller's thread runs the merging function once on the
values of all, and the replicas go on with the result.  Threads see the scopes of the caller;
replica i > 0 makes its nodes in the name scope ``replica_i``, and gets the variables that replica 0
made.

State, while ``run_replicas`` runs: one ``_Replica`` a thread; the mirrored variables that replica 0
has made, by name, which the others then get.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.library.variables import scope as variable_scopes, scoping
from penstock.ops.array import constant
from penstock.training.distribute import modes
from penstock.training.distribute.replica_context import ReplicaContext
from penstock.training.distribute.values import regroup, select


def run_replicas(strategy: Any, devices: Sequence[str], fn: Any, args: Any, kwargs: Any) -> Any:
    """Calls ``fn`` in the context of each replica of this task.

    Args:
      strategy: the strategy.
      devices: one a replica.
      fn, args, kwargs: what to call; distributed values among the arguments are taken apart.

    Returns:
      The nesting that ``fn`` returns, of PerReplica values.

    Raises:
      RuntimeError: some replicas call ``merge_call`` where others do not.
    """
    made: dict[str, list[Any]] = {}
    replicas = [
        _Replica(strategy, i, d, fn, select(i, args), select(i, kwargs), made)
        for i, d in enumerate(devices)
    ]
    try:
        while True:
            for replica in replicas:
                replica.resume()
            ended = [replica for replica in replicas if replica.ended]
            if len(ended) == len(replicas):
                return regroup([replica.result for replica in replicas], devices)
            if ended:
                raise RuntimeError(
                    f"replicas {[r.index for r in ended]} ended while the others wait in merge_call"
                    " (all_reduce, or an optimizer's apply_gradients): all must call it equally"
                    " often"
                )
            _merge(strategy, replicas, devices)
    finally:
        for replica in replicas:
            replica.abandon()


def _merge(strategy: Any, replicas: Sequence[_Replica], devices: Sequence[str]) -> None:
    asked = [replica.merging for replica in replicas]
    fn = asked[0][0]
    args = regroup([args for _, args, _ in asked], devices)
    kwargs = regroup([kwargs for _, _, kwargs in asked], devices)
    state = scopes.get_default_graph().scopes
    saved = dict(state.__dict__)
    # As if it were written where the first replica stands, but on no replica's device.
    state.__dict__.update({k: v for k, v in replicas[0].scopes.items() if k != "devices"})
    try:
        with modes.entered(strategy):
            merged = fn(strategy, *args, **kwargs)
    finally:
        state.__dict__.update(saved)
    for replica in replicas:
        replica.merged = select(replica.index, merged)


class _Abandoned(BaseException):
    """Ends the thread of a replica whose siblings failed."""


class _Replica(threading.Thread):
    """One replica: its thread, and the baton that passes between it and the caller."""

    def __init__(
        self, strategy: Any, index: int, device: str, fn: Any, args: Any, kwargs: Any,
        made: dict[str, list[Any]],
    ) -> None:  # fmt: skip
        super().__init__(name=f"replica {index}", daemon=True)
        self.index, self.ended, self.result = index, False, None
        self.merging: Any = None
        self.merged: Any = None
        self.scopes: dict[str, Any] = {}
        self._error: BaseException | None = None
        self._abandoned = False
        self._go, self._stopped = threading.Semaphore(0), threading.Semaphore(0)
        self._work = (strategy, device, fn, args, kwargs)
        self._made, self._count = made, dict[str, int]()
        self._graph = scopes.get_default_graph()
        self._outer = dict(self._graph.scopes.__dict__)
        variables = variable_scopes.scopes_of_graph()
        self._variables = {"current": variables.current, "counts": dict(variables.counts)}
        self._session = scopes.get_default_session()

    # ---- the caller's side -------------------------------------------------------------------

    def resume(self) -> None:
        """Lets it run until it ends or merges; raises what it raised."""
        if self.ended:
            return
        if self.ident is None:
            self.start()
        self._go.release()
        # Not a wait for another step: the thread builds a graph, and ends or merges.
        self._stopped.acquire()
        if self._error is not None:
            raise self._error

    def abandon(self) -> None:
        """Ends its thread, if it still waits."""
        if self.ident is not None and not self.ended:
            self._abandoned = True
            self._go.release()
            self.join()

    # ---- the thread --------------------------------------------------------------------------

    def run(self) -> None:
        """The thread."""
        self._go.acquire()
        try:
            self.result = self._call()
        except _Abandoned:
            pass
        except BaseException as error:  # handed to the caller's thread
            self._error = error
        self.ended = True
        self._stopped.release()

    def _call(self) -> Any:
        strategy, device, fn, args, kwargs = self._work
        with scopes.default_graph_scope(self._graph):
            self._graph.scopes.__dict__.update(self._outer)
            variable_scopes.scopes_of_graph().__dict__.update(self._variables)
            here = strategy.extended.first_replica + self.index
            replica = ReplicaContext(strategy, constant.constant(here, "int32"))
            replica.local_index, replica.worker_thread = self.index, self
            base = self._graph.get_name_scope()
            self._base = f"{base}/" if base else ""
            self._own = f"{self._base}replica_{self.index}/" if self.index else self._base
            with (
                modes.entered(strategy, replica),
                self._graph.name_scope(self._own or None),
                scopes.device(device),
                scoping.variable_scope(
                    variable_scopes.get_variable_scope(),
                    reuse=True if self.index else None,
                    auxiliary_name_scope=False,
                ),
                scopes.default_session_scope(self._session),
            ):
                return fn(*args, **kwargs)

    def merge_call(self, fn: Any, args: Any, kwargs: Any) -> Any:
        """Stops until all replicas are here; returns what ``fn`` made of it for this one."""
        self.merging = (fn, tuple(args), dict(kwargs or {}))
        self.scopes = dict(self._graph.scopes.__dict__)
        self._stopped.release()
        self._go.acquire()
        if self._abandoned:
            raise _Abandoned
        result, self.merged = self.merged, None
        return result

    def variable(self, create: Any, kwargs: dict[str, Any]) -> Any:
        """The variable that replica 0 makes, and the others get."""
        name = f"{self._graph.get_name_scope()}/".removeprefix(self._own).lstrip("/")
        name += kwargs.get("name") or "Variable"
        if self.index == 0:
            variable = create(**kwargs)
            self._made.setdefault(name, []).append(variable)
            return variable
        at = self._count[name] = self._count.get(name, -1) + 1
        if at >= len(self._made.get(name, ())):
            raise RuntimeError(
                f"replica {self.index} makes variable {name!r}, which replica 0 did not make:"
                " all replicas must make the same variables"
            )
        return self._made[name][at]

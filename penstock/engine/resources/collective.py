"""Groups of tasks that reduce, broadcast and gather tensors together, over ``torch.distributed``.

A process says once which ``Member`` of which cluster it is (``configure``).  The first collective
of a group opens it: the members meet in a key-value store at the first task's address, agree on a
*token*, and connect to each other with Gloo; NCCL joins when a tensor lies on a GPU.

Meeting.  The first task writes a fresh token; every other takes the newest token that it has not
used yet and signs up under it; when all have signed up, they connect.  So a task that comes back
after a failure meets the others again: their broken group has a used token, the next one is fresh.

Agreement.  The first time that an instance runs with a shape, the members compare what they are
about to do (instance, operation, dtype, shape, who sends).  A mismatch is an error on every task,
and not a hang or a wrong sum.

Waits are cut into slices, so that the step's deadline, the session's closing and the group's own
limit (``PENSTOCK_COLLECTIVE_TIMEOUT`` seconds, 300) end each one.  A lost peer is UnavailableError;
those that survive sign a list, so the error can name those that did not.

State, per process: this process's member, the store's connection, the open groups.
"""

from __future__ import annotations

import atexit
import os
import socket
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import torch

from penstock.engine.resources import waiting
from penstock.engine.resources.ending import stop_threads
from penstock.foundation.base import errors

# Seconds of one slice of a wait, between two looks at the store, and for survivors to report.
_SLICE, _LOOK, _REPORT = 0.2, 0.005, 2.0
_DEFAULT_LIMIT = 300.0


@dataclass(frozen=True)
class Member:
    """One task of a cluster whose tasks reduce together.

    Args:
      tasks: addresses ``host:port`` of all, in order of rank; the store is at the first.
      rank: which of them this process is.
      names: what they are called in messages, ``/job:worker/replica:0/task:1``.
      store: address of the store where it is not that of the first task.
    """

    tasks: tuple[str, ...]
    rank: int
    names: tuple[str, ...]
    store: str = ""

    @property
    def name(self) -> str:
        """What this task is called."""
        return self.names[self.rank]

    @property
    def meeting_place(self) -> tuple[str, int]:
        """Host and port of the store."""
        host, _, port = (self.store or self.tasks[0]).rpartition(":")
        return host.strip("[]"), int(port)


class _Running(threading.local):
    member: Member | None = None


_lock = threading.Lock()
_process: Member | None = None
_running = _Running()
_stores: dict[Member, Any] = {}
_groups: dict[tuple[Member, int], _Group] = {}


def configure(member: Member | None) -> None:
    """Says which task this process is; None leaves the cluster.  Closes groups of another one."""
    global _process
    with _lock:
        if member == _process:
            return
        old, _process = _process, member
    if old is not None:
        close(old)


@contextmanager
def running(member: Member) -> Iterator[None]:
    """The steps that this thread runs are of ``member``: for several tasks in one process."""
    saved, _running.member = _running.member, member
    try:
        yield
    finally:
        _running.member = saved


def close(member: Member) -> None:
    """Closes the groups and the store of a member."""
    with _lock:
        groups = [_groups.pop(key) for key in list(_groups) if key[0] == member]
        store = _stores.pop(member, None)
    for group in groups:
        group.close()
    del store


@atexit.register
def _close_all() -> None:
    """A group's threads must end before the process does: else it may be aborted."""
    stop_threads()
    with _lock:
        members = {member for member, _ in _groups} | set(_stores)
    for member in members:
        close(member)


# ---- what kernels call ---------------------------------------------------------------------------


def reduce(
    value: torch.Tensor, size: int, key: int, instance: int, merge: str, divide: bool
) -> torch.Tensor:
    """The elementwise ``merge`` (Add, Mul, Min, Max) over all members; ``divide``: by their number.

    Raises:
      tf.errors.UnavailableError: a member was lost, or did not come within the group's limit.
      tf.errors.InvalidArgumentError: the members do not do the same.
    """
    result = value.clone(memory_format=torch.contiguous_format)
    if size > 1:
        with _using(size, key, f"instance {instance} (CollectiveReduce)") as group:
            group.agree(instance, f"reduce {merge}", value)
            group.run(value, lambda pg: pg.allreduce([result], _reduce_options(merge)))
    if divide:
        if result.dtype.is_floating_point:
            result.div_(size)
        else:
            result = torch.div(result, size, rounding_mode="trunc")
    return result


def broadcast(value: torch.Tensor, size: int, key: int, instance: int, sends: bool) -> torch.Tensor:
    """The sender's value, on every member.  ``value``: the sender's; else memory to receive in."""
    if size == 1:
        return value
    # The sender keeps its input; what is received goes into fresh memory.
    held = value.contiguous() if sends else value
    with _using(size, key, f"instance {instance} (CollectiveBcast)") as group:
        root = group.agree(instance, "broadcast", value, sends)
        group.run(value, lambda pg: pg.broadcast([held], _broadcast_options(root)))
    return held


def gather(value: torch.Tensor, size: int, key: int, instance: int) -> torch.Tensor:
    """The values of all members, one after the other along the first dim."""
    if size == 1:
        return value.clone()
    held = value.contiguous()
    parts = [torch.empty_like(held) for _ in range(size)]
    with _using(size, key, f"instance {instance} (CollectiveGather)") as group:
        group.agree(instance, "gather", value)
        group.run(value, lambda pg: pg.allgather([parts], [held]))
    return torch.cat(parts)


def _reduce_options(merge: str) -> Any:
    dist = _dist()
    options = dist.AllreduceOptions()
    options.reduceOp = {
        "Add": dist.ReduceOp.SUM, "Mul": dist.ReduceOp.PRODUCT, "Min": dist.ReduceOp.MIN,
        "Max": dist.ReduceOp.MAX,
    }[merge]  # fmt: skip
    return options


def _broadcast_options(root: int) -> Any:
    options = _dist().BroadcastOptions()
    options.rootRank, options.rootTensor = root, 0
    return options


def _dist() -> Any:
    import torch.distributed  # not needed where one process trains alone

    return torch.distributed


# ---- groups --------------------------------------------------------------------------------------


def _limit() -> float:
    return float(os.environ.get("PENSTOCK_COLLECTIVE_TIMEOUT", _DEFAULT_LIMIT))


class _Wait:
    """A wait with the group's own limit beside the step's deadline and cancellation."""

    def __init__(self, what: str) -> None:
        self.what, self._limit = what, _limit()
        self._until = time.monotonic() + self._limit

    def check(self) -> None:
        cancellation = waiting.current_cancellation()
        if cancellation is not None and cancellation.reason is not None:
            raise errors.CancelledError(
                None, None, f"{cancellation.reason} while waiting for {self.what}"
            )
        try:
            waiting.check_deadline()
        except errors.DeadlineExceededError as error:
            message = f"{error.message}: it waited for {self.what}"
            raise errors.DeadlineExceededError(None, None, message) from None
        if time.monotonic() > self._until:
            raise errors.UnavailableError(None, None, f"waited {self._limit:g} s for {self.what}")


@contextmanager
def _using(size: int, key: int, what: str) -> Iterator[_Group]:
    """The open group, for this thread alone; a failure closes it, and the next use opens anew."""
    member = _running.member or _process
    if member is None or len(member.tasks) != size:
        found = "no cluster" if member is None else f"a cluster of {len(member.tasks)} task(s)"
        raise errors.invalid(
            f"{what} is of group {key} with {size} members, and this process belongs to {found};"
            " make a MultiWorkerMirroredStrategy with TF_CONFIG set, or use a group of that size"
        )
    with _lock:
        group = _groups.get((member, key))
        if group is None:
            group = _groups[member, key] = _Group(member, key)
    with group.alone(what):
        try:
            group.open()
            yield group
        except errors.InvalidArgumentError:
            raise
        except RuntimeError as error:  # what torch.distributed raises
            group.lost(what, str(error).splitlines()[0])
        except errors.UnavailableError as error:
            group.lost(what, error.message)
        except BaseException:  # deadline, closing, KeyboardInterrupt: a half-run collective
            group.break_()
            raise


class _Group:
    """The members that reduce together under one key."""

    def __init__(self, member: Member, key: int) -> None:
        self._member, self._key = member, key
        self._lock = threading.Lock()
        self._gloo: Any = None
        self._nccl: Any = None
        self._token = ""
        self._used: set[str] = set()
        self._agreed: dict[tuple[Any, ...], int] = {}

    @contextmanager
    def alone(self, what: str) -> Iterator[None]:
        """Collectives of a group run one at a time."""
        wait = _Wait(f"another step's collective of group {self._key}, to begin {what}")
        while not self._lock.acquire(timeout=_SLICE):
            wait.check()
        try:
            yield
        finally:
            self._lock.release()

    def run(self, value: torch.Tensor, start: Callable[[Any], Any]) -> None:
        """Starts a collective where ``value`` lies, and waits for its end."""
        if value.device.type == "cuda":
            work = start(self._on_gpu(value.device))
            wait = self._wait("the other members")
            while not work.is_completed():
                wait.check()
                time.sleep(0)
            work.wait()
        else:
            self._finish(start(self._gloo))

    def agree(self, instance: int, action: str, value: torch.Tensor, sends: bool = False) -> int:
        """Compares what the members are about to do; returns the rank that sends (0: none does)."""
        known = (instance, action, value.dtype, tuple(value.shape), sends)
        root = self._agreed.get(known)
        if root is None:
            root = self._agreed[known] = self._compare(known)
        return root

    def _compare(self, known: tuple[Any, ...]) -> int:
        instance, action, dtype, shape, sends = known
        told = f"{action} of {str(dtype).removeprefix('torch.')}{list(shape)}"
        own = torch.tensor([instance, zlib.crc32(told.encode()), sends], dtype=torch.int64)
        size = len(self._member.tasks)
        all_ = [torch.empty_like(own) for _ in range(size)]
        self._finish(self._gloo.allgather([all_], [own]))
        rows = [row.tolist() for row in all_]
        senders = [rank for rank, row in enumerate(rows) if row[2]]
        others = [rank for rank, row in enumerate(rows) if row[:2] != rows[self._member.rank][:2]]
        if others:
            raise self._mismatch(
                f"{self._member.name} is at instance {instance}, {told}; "
                + ", ".join(
                    f"{self._member.names[r]} is at instance {rows[r][0]}"
                    + (" with another operation, dtype or shape" if rows[r][0] == instance else "")
                    for r in others
                )
            )
        if action == "broadcast" and len(senders) != 1:
            raise self._mismatch(
                f"instance {instance} has {len(senders)} members that send; it needs one"
            )
        return senders[0] if senders else 0

    def _mismatch(self, what: str) -> errors.OpError:
        return errors.invalid(
            f"the members of group {self._key} must run the same collectives in the same order:"
            f" {what}"
        )

    def _finish(self, work: Any) -> None:
        wait = self._wait("the other members")
        while True:
            try:
                work.wait(timedelta(seconds=_SLICE))
                return
            except RuntimeError:
                if work.is_completed():
                    raise
                wait.check()

    def _wait(self, what: str) -> _Wait:
        return _Wait(f"{what} of collective group {self._key} ({self._others()})")

    def _others(self) -> str:
        return ", ".join(n for n in self._member.names if n != self._member.name)

    # ---- opening -----------------------------------------------------------------------------

    def open(self) -> None:
        """Meets the other members, unless the group is open."""
        if self._gloo is not None:
            return
        store = _store(self._member, self._wait("the store"))
        self._token = self._sign_up(store)
        dist = _dist()
        options = dist.ProcessGroupGloo._Options()
        host = self._member.tasks[self._member.rank].rpartition(":")[0].strip("[]")
        options._devices = [dist.ProcessGroupGloo.create_device(hostname=host)]
        options._timeout = timedelta(seconds=max(_limit(), 1.0))
        self._agreed.clear()
        self._gloo = dist.ProcessGroupGloo(
            dist.PrefixStore(f"{self._token}/gloo", store),
            self._member.rank, len(self._member.tasks), options,
        )  # fmt: skip

    def _sign_up(self, store: Any) -> str:
        place, rank = f"group/{self._key}/token", self._member.rank
        wait = self._wait("the other members")
        if rank == 0:
            token = uuid.uuid4().hex
            self._used.add(token)
            store.set(f"{token}/0", "here")
            store.set(place, token)
        else:
            while True:
                if store.check([place]):
                    token = store.get(place).decode()
                    if token not in self._used:
                        self._used.add(token)
                        # A restarted task finds what it had signed before: the group is broken.
                        if store.add(f"{token}/{rank}", 1) == 1:
                            break
                wait.check()
                time.sleep(_LOOK)
        everybody = [f"{token}/{r}" for r in range(len(self._member.tasks))]
        while not store.check(everybody):
            if rank and store.get(place).decode() != token:
                return self._sign_up(store)  # the first task began anew
            here = [store.check([place]) for place in everybody]
            absent = ", ".join(n for n, is_here in zip(self._member.names, here) if not is_here)
            wait.what = f"{absent} to join collective group {self._key}"
            wait.check()
            time.sleep(_LOOK)
        return token

    def _on_gpu(self, device: torch.device) -> Any:
        if self._nccl is None:
            dist = _dist()
            torch.cuda.set_device(device)
            store = dist.PrefixStore(f"{self._token}/nccl", _stores[self._member])
            options = dist.ProcessGroupNCCL.Options()
            options._timeout = timedelta(seconds=max(_limit(), 1.0))
            self._nccl = dist.ProcessGroupNCCL(
                store, self._member.rank, len(self._member.tasks), options
            )
        return self._nccl

    # ---- ending ------------------------------------------------------------------------------

    def break_(self) -> None:
        """Gives up the connections; the others then see them closed."""
        for group in (self._nccl, self._gloo):
            if group is not None and hasattr(group, "abort"):
                try:
                    group.abort()
                except RuntimeError:
                    pass
        self._nccl = self._gloo = None

    close = break_

    def lost(self, what: str, why: str) -> None:
        """Raises UnavailableError that names the members that do not report."""
        token, self._token = self._token, ""
        self.break_()
        names = self._silent(token) if token else []
        if not names:
            told = f"the connection of {self._member.name} to {self._others()} broke"
        else:
            told = f"not heard from since: {', '.join(names)}"
        raise errors.UnavailableError(
            None, None, f"collective group {self._key} failed in {what}: {told} ({why})"
        ) from None

    def _silent(self, token: str) -> list[str]:
        """The members that do not sign the list of survivors in time."""
        names = self._member.names
        lists = [f"{token}/survivor/{rank}" for rank in range(len(names))]
        try:
            store = _stores[self._member]
            store.set(lists[self._member.rank], "here")
            until = time.monotonic() + _REPORT
            while not store.check(lists) and time.monotonic() < until:
                time.sleep(_LOOK)
            return [n for n, key in zip(names, lists) if not store.check([key])]
        except (RuntimeError, KeyError):  # the store went with the task that held it
            with _lock:
                _stores.pop(self._member, None)
            return [names[0]] if self._member.rank else []


# ---- the store -----------------------------------------------------------------------------------


def _store(member: Member, wait: _Wait) -> Any:
    """The connection to the store; the first task holds the store itself."""
    with _lock:
        found = _stores.get(member)
    if found is not None:
        return found
    dist = _dist()
    host, port = member.meeting_place
    if member.rank == 0:
        made = dist.TCPStore(
            host, port, is_master=True, wait_for_workers=False,
            master_listen_fd=_listening(host, port),
        )  # fmt: skip
    else:
        made = _connected(host, port, wait, member)
    made.set_timeout(timedelta(seconds=30))
    with _lock:
        return _stores.setdefault(member, made)


def _listening(host: str, port: int) -> int:
    """A socket at that address alone: by itself the store would listen on all interfaces."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        raise errors.UnavailableError(
            None,
            None,
            f"the store of the collective groups cannot listen at {host}:{port}: {error}; set"
            " PENSTOCK_COLLECTIVE_STORE=host:port, the same on all tasks, to put it elsewhere",
        ) from None
    return listener.detach()


def _connected(host: str, port: int, wait: _Wait, member: Member) -> Any:
    dist = _dist()
    wait.what = f"the store of {member.names[0]} at {host}:{port}"
    while True:
        try:
            with socket.create_connection((host, port), timeout=1.0):
                pass
            return dist.TCPStore(
                host, port, is_master=False, wait_for_workers=False, timeout=timedelta(seconds=10)
            )
        except (OSError, RuntimeError):
            wait.check()
            time.sleep(10 * _LOOK)

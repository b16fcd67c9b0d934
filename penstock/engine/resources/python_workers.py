"""Worker processes for the Python functions of input pipelines.

Python code of several threads takes turns; that of several processes does not.  A ``Pool`` has up
to a fixed number of processes, started when they are first needed and shared by all iterators of a
session.  Functions travel by reference (``pickle``: module and name), arguments and results by
value.  A process runs one request at a time: a call of a function, or the next item of an iterator
that lives in it.

Processes are spawned, not forked (a fork of a process with threads may deadlock).  They end when
the session is closed or forgotten, and when their parent ends, however it does: a thread of theirs
waits for that.  One that dies fails the request that it worked on, and another takes its place.

State: per thread, the pool that its function calls go to; per session, its pools; per pool, its
processes; per process, the functions and iterators that it knows.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

from penstock.engine.resources import blocking, waiting
from penstock.foundation.base import errors

_PATIENCE = 2.0  # seconds that a process gets to end by itself
_starting = threading.Lock()


class Raised(Exception):
    """What a function raised in a worker process.

    Attributes:
      names: of its class and that class's bases.
      code: of a ``tf.errors.OpError``, else None.
    """

    def __init__(self, names: tuple[str, ...], code: int | None, text: str) -> None:
        super().__init__(text)
        self.names, self.code = names, code


# ---- in the worker -------------------------------------------------------------------------------


def _serve(connection: Connection) -> None:
    """The work of a process: answers requests until its parent closes the connection."""
    import torch

    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this one
    torch.set_num_threads(1)
    known = _Known()
    while True:
        try:
            kind, *rest = pickle.loads(connection.recv_bytes())
        except (EOFError, OSError):
            return
        try:
            reply: Any = ("value", getattr(known, kind)(*rest))
        except StopIteration as error:
            reply = ("end", None) if kind == "following" else _described(error)
        except BaseException as error:
            reply = _described(error)
        try:
            data = pickle.dumps(reply, 5)
        except Exception as error:
            data = pickle.dumps(_described(error), 5)
        with contextlib.suppress(OSError):
            connection.send_bytes(data)


def _described(error: BaseException) -> Any:
    names = tuple(kind.__name__ for kind in type(error).__mro__)
    text = "".join(traceback.format_exception(error))
    code = getattr(error, "error_code", None)
    said = f"{type(error).__name__}: {error}\nin worker process {os.getpid()}:\n{text}"
    return "raised", (names, code, said)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


class _Known:
    """The functions and iterators of a worker; its methods are the requests."""

    def __init__(self) -> None:
        self._functions: dict[int, Callable[..., Any]] = {}
        self._iterators: dict[int, Iterator[Any]] = {}
        self._count = 0

    def define(self, key: int, data: bytes) -> None:
        self._functions[key] = pickle.loads(data)

    def call(self, key: int, args: tuple[Any, ...]) -> Any:
        return self._functions[key](*args)

    def open(self, key: int, args: tuple[Any, ...]) -> int:
        iterator = iter(self._functions[key](*args))
        self._count += 1
        self._iterators[self._count] = iterator
        return self._count

    def following(self, number: int) -> Any:
        return next(self._iterators[number])

    def close(self, number: int) -> None:
        self._iterators.pop(number, None)


# ---- in the parent -------------------------------------------------------------------------------


def name_of(function: Any) -> str:
    """What messages call a function."""
    function = getattr(function, "func", function)  # of a functools.partial
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '?')}.{name}"


def _pickled(function: Callable[..., Any]) -> bytes:
    try:
        return pickle.dumps(function, 5)
    except Exception as error:
        raise errors.invalid(
            f"the function {name_of(function)} cannot be sent to a worker process"
            f" ({type(error).__name__}: {error}); it must be defined at the top level of a module,"
            " not as a lambda or inside another function (functools.partial passes values on), or"
            " leave Options.python_workers unset to run it in this process"
        ) from None


class _Worker:
    """One process and the connection to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self.process = context.Process(
            target=_serve, args=(theirs,), name="penstock python worker", daemon=True
        )
        with _starting:
            self.process.start()
        theirs.close()
        self.connection = ours
        self.busy = True
        self.dead = self._answered = False
        self.iterators = 0
        self._defined: set[int] = set()

    def request(self, what: str, *request: Any) -> Any:
        """Asks for something; the worker must be the caller's (``busy``).

        Raises:
          Raised: what the function raised.
          tf.errors.UnavailableError: the process died.
        """
        try:
            self.connection.send_bytes(pickle.dumps(request, 5))
            kind, value = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            self.dead = True
            raise errors.UnavailableError(None, None, self._epitaph(what)) from None
        except BaseException:  # KeyboardInterrupt: the answer would be taken for the next one's
            self.dead = True
            self.process.kill()
            raise
        self._answered = True
        if kind == "raised":
            raise Raised(*value)
        if kind == "end":
            raise StopIteration
        return value

    def _epitaph(self, what: str) -> str:
        self.process.join(_PATIENCE)
        code = self.process.exitcode
        how = f"ended with status {code}"
        if code is None:
            how = "closed its connection"
        elif code < 0:
            how = f"was killed by signal {-code} ({signal.Signals(-code).name})"
        hint = ""
        if not self._answered:
            hint = (
                "; it died before its first answer: a script that uses worker processes must start"
                ' its work under `if __name__ == "__main__":`'
            )
        return f"worker process {self.process.pid} {how} while it ran {what}{hint}"

    def define(self, key: int, name: str, data: bytes) -> None:
        """Makes a function known to the process."""
        if key in self._defined:
            return
        try:
            self.request(name, "define", key, data)
        except Raised as error:
            raise errors.invalid(
                f"a worker process cannot load the function {name}: {error}"
            ) from None
        self._defined.add(key)

    def end(self) -> None:
        """Ends the process: at once if it works, when it has seen that it is alone if not."""
        if self.busy:
            self.process.terminate()
        else:
            self.connection.close()

    def reap(self) -> None:
        """Waits for the end."""
        self.process.join(_PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(_PATIENCE)


class _Workers:
    """The processes of a pool; no process knows of the pool, whose end ends them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._changed = threading.Condition()
        self._all: list[_Worker] = []
        self._closed = False

    def take(self, worker: _Worker | None = None) -> _Worker:
        """A worker, or that one, for the caller alone; waits until there is one."""
        with self._changed:
            while True:
                if self._closed:
                    raise errors.CancelledError(None, None, "the worker processes were ended")
                found = self._free() if worker is None else worker
                if found is not None and not found.busy:
                    found.busy = True
                    return found
                if worker is None and len(self._all) < self._count:
                    self._all.append(_Worker())
                    return self._all[-1]
                self._changed.wait()

    def _free(self) -> _Worker | None:
        idle = [w for w in self._all if not w.busy]
        best = min(idle, key=lambda w: w.iterators, default=None)
        more = len(self._all) < self._count
        return None if best is None or best.iterators and more else best

    def give(self, worker: _Worker) -> None:
        """Takes a worker back."""
        with self._changed:
            worker.busy = False
            if worker.dead and worker in self._all:
                self._all.remove(worker)
                worker.connection.close()
            elif self._closed:
                worker.connection.close()
            self._changed.notify_all()

    def close(self) -> None:
        """Ends all processes, without waiting for them."""
        with self._changed:
            if self._closed:
                return
            self._closed = True
            ended, self._all = self._all, []
            for worker in ended:
                worker.end()
            self._changed.notify_all()
        if ended:
            threading.Thread(target=_reap, args=(ended,), daemon=True).start()


def _reap(workers: list[_Worker]) -> None:
    for worker in workers:
        worker.reap()


class Pool:
    """Worker processes.

    Args:
      count: how many at most.
    """

    def __init__(self, count: int) -> None:
        self._workers = _Workers(count)
        self._sent: dict[int, tuple[Any, bytes]] = {}
        self._lock = threading.Lock()
        # At the interpreter's end multiprocessing ends what is left.
        weakref.finalize(self, self._workers.close).atexit = False

    def close(self) -> None:
        """Ends the processes; calls that wait for them raise CancelledError."""
        self._workers.close()

    def _pickled(self, function: Callable[..., Any]) -> tuple[int, str, bytes]:
        with self._lock:
            key = id(function)
            if key not in self._sent:
                # The function is kept, so that its id stays its own.
                self._sent[key] = function, _pickled(function)
            return key, name_of(function), self._sent[key][1]

    def call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Calls a function in a process, the one that is idle next.

        Raises:
          Raised: what it raised.
          tf.errors.InvalidArgumentError: it cannot be sent there.
          tf.errors.UnavailableError: the process died.
        """
        key, name, data = self._pickled(function)
        with self._using(None) as worker:
            worker.define(key, name, data)
            return worker.request(name, "call", key, args)

    def iterate(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        """Iterates in a process over what a function returns; raises as ``call`` does."""
        key, name, data = self._pickled(function)
        with self._using(None) as worker:
            worker.define(key, name, data)
            number = worker.request(name, "open", key, args)
            worker.iterators += 1
        return _RemoteIterator(self, worker, number, name)

    @contextlib.contextmanager
    def _using(self, worker: _Worker | None) -> Iterator[_Worker]:
        taken = self._workers.take(worker)
        try:
            yield taken
        except errors.UnavailableError:
            if self._workers._closed:
                text = "the session was closed while a worker process worked"
                raise errors.CancelledError(None, None, text) from None
            raise
        finally:
            self._workers.give(taken)


class _RemoteIterator:
    """An iterator that lives in a worker process."""

    def __init__(self, pool: Pool, worker: _Worker, number: int, name: str) -> None:
        self._pool, self._worker, self._number, self._name = pool, worker, number, name

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._worker.dead:
            raise errors.UnavailableError(
                None, None,
                f"the worker process {self._worker.process.pid} in which {self._name} ran has died",
            )  # fmt: skip
        # StopIteration must not pass through a context manager made of a generator.
        ended = object()
        with self._pool._using(self._worker) as worker:
            try:
                value = worker.request(self._name, "following", self._number)
            except StopIteration:
                value = ended
        if value is ended:
            raise StopIteration
        return value

    def close(self) -> None:
        """Gives it up; what its ``finally`` blocks do is done."""
        with contextlib.suppress(errors.OpError, Raised):
            if not self._worker.dead:
                with self._pool._using(self._worker) as worker:
                    worker.iterators -= 1
                    worker.request(self._name, "close", self._number)


# ---- which pool a thread's calls go to -----------------------------------------------------------


class _Current(threading.local):
    pool: Pool | None = None


class _CloseWithSession(blocking.Waiter):
    """Ends the processes when the session is closed."""

    __slots__ = ("_pool",)

    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self._pool = pool

    def wake(self) -> None:
        self._pool.close()


_current = _Current()
_pools: weakref.WeakKeyDictionary[waiting.Cancellation, dict[int, Pool]] = (
    weakref.WeakKeyDictionary()
)
_pools_lock = threading.Lock()


def pool_of(cancellation: waiting.Cancellation | None, count: int) -> Pool:
    """The pool of that many processes of a session; a new one where there is no session.

    Raises:
      tf.errors.InvalidArgumentError: fewer than one process.
    """
    if count < 1:
        raise errors.invalid(f"Options.python_workers must be at least 1; found {count}")
    if cancellation is None:
        return Pool(count)
    with _pools_lock:
        pools = _pools.setdefault(cancellation, {})
        if count not in pools:
            pools[count] = Pool(count)
            cancellation.enter(_CloseWithSession(pools[count]))
        return pools[count]


def current() -> Pool | None:
    """Where this thread's calls of Python functions go; None: they run in it."""
    return _current.pool


@contextlib.contextmanager
def used(pool: Pool) -> Iterator[None]:
    """Has this thread's calls of Python functions go to a pool."""
    saved, _current.pool = _current.pool, pool
    try:
        yield
    finally:
        _current.pool = saved

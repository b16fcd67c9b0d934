"""What tells others how this process's servers do: ``/metrics``, ``/healthz`` and ``/readyz``.

Nothing listens unless ``PENSTOCK_METRICS`` says where: "9090", which is that port of the loopback
interface, or "host:port"; port 0 takes a free one, and the log says which.  Whoever reaches it gets
counts (``metrics``), without any token.

========  =======================================================================================
/metrics  the counts, as Prometheus reads them
/healthz  200 as long as this process's Python runs
/readyz   200 while a server of this process listens, else 503
========  =======================================================================================

A stranger can hold one of a few threads for a few seconds, and no memory.

State: the servers that are watched, and the page, which lives as long as the process.
"""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from http import HTTPStatus

from penstock.cluster.distributed import metrics
from penstock.cluster.distributed.metrics import Watched
from penstock.cluster.distributed.security import join_address, split_address
from penstock.foundation.base import errors

VARIABLE = "PENSTOCK_METRICS"
# What one connection may take, and how many are served at once.
_SECONDS = 5.0
_REQUEST_BYTES = 8192
_MOST = 8
# After a failure to take a connection: no files are left, for instance.
_PAUSE_SECONDS = 0.5
_PLAIN = "text/plain; charset=utf-8"
_Answer = tuple[HTTPStatus, str, str]
_log = logging.getLogger("penstock")

_lock = threading.Lock()
_watched: list[Watched] = []
_page: Page | None = None


def watch(server: Watched) -> None:
    """Shows a server from now on, if there is to be a page.

    Raises:
      tf.errors.InvalidArgumentError: ``PENSTOCK_METRICS`` is no address.
      tf.errors.UnknownError: nothing can listen there.
    """
    global _page
    given = os.environ.get(VARIABLE, "")
    with _lock:
        if _page is None and given:
            _page = Page(given)
        if _page is not None:
            _watched.append(server)


def unwatch(server: Watched) -> None:
    """Shows it no more: it was stopped."""
    with _lock:
        if server in _watched:
            _watched.remove(server)


def address() -> str:
    """Where the page is, "host:port"; "" if there is none."""
    return "" if _page is None else _page.address


class Page:
    """What listens.

    Args:
      given: the value of ``PENSTOCK_METRICS``.
    """

    def __init__(self, given: str) -> None:
        host, port = split_address(given if ":" in given else f"127.0.0.1:{given}")
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._socket = socket.create_server((host, port), family=family)
        except OSError as error:
            raise errors.UnknownError(
                None, None, f"cannot listen at {given!r}, which {VARIABLE} says: the port is taken,"
                f" or the host is none of this machine ({error})",
            ) from error  # fmt: skip
        self.address = join_address(host, self._socket.getsockname()[1])
        self._free = threading.BoundedSemaphore(_MOST)
        _log.info("metrics at http://%s/metrics", self.address)
        self._thread = threading.Thread(target=self._accept_all, name="status-page", daemon=True)
        self._thread.start()

    def forget(self) -> None:
        """Leaves the port to the process that this one was forked from."""
        self._socket.close()

    def _accept_all(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                time.sleep(_PAUSE_SECONDS)
                continue
            if not self._free.acquire(blocking=False):
                connection.close()
                continue
            try:
                threading.Thread(
                    target=self._serve, args=(connection,), name="status-page", daemon=True
                ).start()
            except RuntimeError:  # no threads are left
                self._free.release()
                connection.close()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection:
                asked = _request(connection)
                if asked:
                    connection.settimeout(_SECONDS)
                    connection.sendall(_response(asked))
        except OSError:
            pass  # who asked has gone
        finally:
            self._free.release()


def _request(connection: socket.socket) -> bytes:
    """The first line of what comes, once all of its head is there; b"" if that never is."""
    end = time.monotonic() + _SECONDS
    head = b""
    while b"\r\n\r\n" not in head and b"\n\n" not in head:
        left = end - time.monotonic()
        if left <= 0 or len(head) > _REQUEST_BYTES:
            return b""
        connection.settimeout(left)
        more = connection.recv(_REQUEST_BYTES)
        if not more:
            return b""
        head += more
    return head.partition(b"\n")[0].strip()


def _response(line: bytes) -> bytes:
    words = line.split()
    method = words[0] if len(words) == 3 and words[2].startswith(b"HTTP/1.") else b""
    if not method:
        status, kind, body = HTTPStatus.BAD_REQUEST, _PLAIN, "no request of HTTP/1\n"
    elif method not in (b"GET", b"HEAD"):
        status, kind, body = HTTPStatus.METHOD_NOT_ALLOWED, _PLAIN, "GET and HEAD are allowed\n"
    else:
        status, kind, body = _answer(words[1].partition(b"?")[0])
    data = body.encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {len(data)}\r\nCache-Control: no-store\r\nConnection: close\r\n"
    )
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        head += "Allow: GET, HEAD\r\n"
    return head.encode() + b"\r\n" + (b"" if method == b"HEAD" else data)


def _answer(path: bytes) -> _Answer:
    with _lock:
        servers = list(_watched)
    if path == b"/healthz":
        return HTTPStatus.OK, _PLAIN, "ok\n"
    if path == b"/readyz":
        if any(server.is_ready() for server in servers):
            return HTTPStatus.OK, _PLAIN, "ok\n"
        return HTTPStatus.SERVICE_UNAVAILABLE, _PLAIN, "no server listens\n"
    if path == b"/metrics":
        try:
            return HTTPStatus.OK, metrics.CONTENT_TYPE, metrics.text(servers)
        except Exception:
            _log.error("the page of metrics failed: a defect of Penstock", exc_info=True)
            return HTTPStatus.INTERNAL_SERVER_ERROR, _PLAIN, "see the server's log\n"
    return HTTPStatus.NOT_FOUND, _PLAIN, "there are /metrics, /healthz and /readyz\n"


def _after_fork() -> None:
    """A child speaks for nobody, and must not keep its parent's port."""
    global _lock, _page
    _lock = threading.Lock()
    _watched.clear()
    if _page is not None:
        _page.forget()
        _page = None


os.register_at_fork(after_in_child=_after_fork)

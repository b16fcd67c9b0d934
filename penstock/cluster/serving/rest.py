"""The REST calls of TensorFlow Serving, as an ASGI application.

    GET  /v1/models/NAME[/versions/N | /labels/L]             status
    GET  /v1/models/NAME[/versions/N | /labels/L]/metadata    signatures
    POST /v1/models/NAME[...]:predict | :classify | :regress
    GET  /healthz  /readyz  /metrics (and /monitoring/prometheus/metrics)

Requests are read and answered by an event loop; steps run in threads, so many of them can be
gathered into one batch.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import urllib.parse
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import Executor
from typing import Any

from penstock.cluster.serving import descriptions, json_examples, json_tensors, measures
from penstock.cluster.serving.calls import Asked, Calls
from penstock.foundation.base import errors

log = logging.getLogger("penstock.serving")
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
# A status, a content type and a body.
Answer = tuple[int, bytes, bytes]

_JSON, _TEXT = b"application/json", b"text/plain; charset=utf-8"
_PATH = re.compile(
    r"/v1/models/(?P<name>[^/:]+)(?:/versions/(?P<version>\d{1,18})|/labels/(?P<label>[^/:]+))?"
    r"(?P<what>/metadata|:predict|:classify|:regress)?"
)
_STATUSES = {
    errors.CANCELLED: 499, errors.INVALID_ARGUMENT: 400, errors.DEADLINE_EXCEEDED: 504,
    errors.NOT_FOUND: 404, errors.ALREADY_EXISTS: 409, errors.PERMISSION_DENIED: 403,
    errors.UNAUTHENTICATED: 401, errors.RESOURCE_EXHAUSTED: 429, errors.FAILED_PRECONDITION: 400,
    errors.ABORTED: 409, errors.OUT_OF_RANGE: 400, errors.UNIMPLEMENTED: 501,
    errors.UNAVAILABLE: 503,
}  # fmt: skip


class Refused(Exception):
    """A request that is answered by a status of its own."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Rest:
    """The application.

    Args:
      calls: what answers.
      counted: the server's counts.
      threads: where steps run.
      most_bytes: the largest body that is read.
      token: what callers must show as ``Authorization: Bearer TOKEN``; None: nothing.
    """

    def __init__(
        self,
        calls: Calls,
        counted: measures.Measures,
        threads: Executor,
        most_bytes: int,
        token: str | None = None,
    ) -> None:
        self._calls, self._counted, self._threads = calls, counted, threads
        self._most_bytes, self._token = most_bytes, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if scope["type"] != "http":
            return
        status, kind, body = await self._answer(scope, receive)
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> Answer:
        try:
            return await self._routed(scope, receive)
        except Refused as refused:
            return _error(refused.status, str(refused))
        except errors.OpError as error:
            return _error(_STATUSES.get(error.error_code, 500), str(error))
        except Exception as error:
            log.exception("a call failed")
            return _error(500, f"{type(error).__name__}: {error}")

    async def _routed(self, scope: Scope, receive: Receive) -> Answer:
        path, method = scope["path"], scope["method"]
        if path == "/healthz":
            return 200, _TEXT, b"ok\n"
        if path == "/readyz":
            ready = self._calls.models.ready()
            return (200, _TEXT, b"ok\n") if ready else (503, _TEXT, b"a model has no version\n")
        self._check_token(scope)
        if path in ("/metrics", "/monitoring/prometheus/metrics"):
            return 200, measures.CONTENT_TYPE.encode(), self._counted.text()
        match = _PATH.fullmatch(path)
        if match is None:
            raise Refused(404, f"Malformed request: {method} {path}")
        what = match["what"] or ""
        allowed = "POST" if what.startswith(":") else "GET"
        if method != allowed:
            raise Refused(405, f"Malformed request: {method} {path}; allowed is {allowed}")
        name = urllib.parse.unquote(match["name"])
        version = None if match["version"] is None else int(match["version"])
        asked = Asked(name, version, match["label"])
        if what.startswith(":"):
            body = await self._body(scope, receive)
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, self._called, what[1:], asked, body)
        return 200, _JSON, json_tensors.text(self._described(asked, bool(what)))

    def _check_token(self, scope: Scope) -> None:
        if self._token is None:
            return
        shown = dict(scope["headers"]).get(b"authorization", b"")
        if not hmac.compare_digest(shown, b"Bearer " + self._token.encode()):
            raise Refused(401, "the request does not show this server's token")

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        said = dict(scope["headers"]).get(b"content-length", b"")
        if said.isdigit() and int(said) > self._most_bytes:
            raise self._too_large()
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise errors.CancelledError(None, None, "the client went away")
            part = message.get("body", b"")
            size += len(part)
            if size > self._most_bytes:
                raise self._too_large()
            parts.append(part)
            if not message.get("more_body"):
                return b"".join(parts)

    def _too_large(self) -> Refused:
        return Refused(413, f"the body has more than {self._most_bytes} bytes, the most here")

    def _described(self, asked: Asked, metadata: bool) -> dict[str, Any]:
        model = self._calls.models.get(asked.model)
        if not metadata:
            version = asked.version
            if asked.label is not None:
                with model.leased(label=asked.label) as servable:
                    version = servable.version
            return descriptions.status_json(model, version)
        with model.leased(asked.version, asked.label) as servable:
            return descriptions.metadata_json(servable)

    def _called(self, call: str, asked: Asked, body: bytes) -> Answer:
        request = json_tensors.parse(body)
        signature = request.get("signature_name", "")
        if not isinstance(signature, str):
            raise errors.invalid("'signature_name' must be a text")
        asked = Asked(asked.model, asked.version, asked.label, signature)
        return 200, _JSON, json_tensors.text(self._result(call, asked, request))

    def _result(self, call: str, asked: Asked, request: dict[str, Any]) -> dict[str, Any]:
        if call == "classify":
            return {"results": self._calls.classify(asked, json_examples.serialized(request))[1]}
        if call == "regress":
            return {"results": self._calls.regress(asked, json_examples.serialized(request))[1]}
        outputs = self._calls.predict(asked, lambda s: json_tensors.arrays(request, s.inputs))[1]
        return json_tensors.answer(outputs, "instances" in request)


def _error(status: int, why: str) -> Answer:
    return status, _JSON, json_tensors.text({"error": why})

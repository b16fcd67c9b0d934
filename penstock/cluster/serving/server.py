"""The two listeners of a model server, and their life from start to end."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import grpc
import uvicorn

from penstock.cluster.distributed.security import Security, join_address, split_address
from penstock.cluster.serving.calls import Calls
from penstock.cluster.serving.grpc_calls import GrpcCalls
from penstock.cluster.serving.measures import Measures
from penstock.cluster.serving.models import Model, Models
from penstock.cluster.serving.rest import Rest
from penstock.cluster.serving.servable import Servable
from penstock.cluster.serving.signature import Batching
from penstock.cluster.serving.versions import Policy

# So many calls a thread are taken; more are told to come again.
_TAKEN = 16


@dataclass(frozen=True)
class Served:
    """A model to serve.

    Args:
      folder: of its versions, or a SavedModel.
      policy: which versions.
      labels: numbers of versions by label.
    """

    folder: str
    policy: Policy = Policy(latest=1)
    labels: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Options:
    """How a server listens.

    Args:
      host: to listen at.
      rest_port, grpc_port: 0: a free one; None: not by this protocol.
      batching: how calls are gathered.
      watch_seconds: between two looks at the models' folders; 0: they are not watched.
      most_calls: how many calls run or wait at once.
      most_bytes: the largest request.
    """

    host: str = "localhost"
    rest_port: int | None = 8501
    grpc_port: int | None = 8500
    batching: Batching = Batching()
    watch_seconds: float = 1.0
    most_calls: int = 64
    most_bytes: int = 64 << 20


class ModelServer:
    """A server of models.

    Args:
      served: models by name.
      options: how it listens.
      security: TLS, token, and whether others than this machine may be listened to.

    Raises:
      tf.errors.PermissionDeniedError: another host than loopback without TLS.
      OSError: a port is taken.
    """

    def __init__(
        self,
        served: Mapping[str, Served],
        options: Options | None = None,
        security: Security | None = None,
    ) -> None:
        self._options = options if options is not None else Options()
        self._security = security if security is not None else Security.from_environment()
        self._measures = Measures()
        self.models = Models(
            {
                name: Model(name, one.folder, one.policy, self._load, one.labels)
                for name, one in served.items()
            },
            self._options.watch_seconds,
        )
        self._measures.watch(self.models)
        self._calls = Calls(self.models, self._measures)
        self._threads = ThreadPoolExecutor(self._options.most_calls, "penstock-serving")
        self._rest: uvicorn.Server | None = None
        self._rest_thread: threading.Thread | None = None
        self._grpc: grpc.Server | None = None
        self.rest_address = self.grpc_address = ""

    def _load(self, folder: str, name: str, version: int) -> Servable:
        return Servable(folder, name, version, self._options.batching, self._measures.batch)

    def start(self) -> None:
        """Loads the models, then listens."""
        self.models.start()
        if self._options.grpc_port is not None:
            self._start_grpc(self._options.grpc_port)
        if self._options.rest_port is not None:
            self._start_rest(self._options.rest_port)

    def _start_grpc(self, port: int) -> None:
        most = self._options.most_bytes
        self._grpc = grpc.server(
            self._threads,
            handlers=[GrpcCalls(self._calls, self._security)],
            maximum_concurrent_rpcs=self._options.most_calls * _TAKEN,
            options=[
                ("grpc.max_receive_message_length", most),
                ("grpc.max_send_message_length", -1),
                ("grpc.so_reuseport", 0),
            ],
        )
        address = self._security.listen_at(join_address(self._options.host, port))
        credentials = self._security.server_credentials()
        if credentials is None:
            bound = self._grpc.add_insecure_port(address)
        else:
            bound = self._grpc.add_secure_port(address, credentials)
        self._grpc.start()
        self.grpc_address = join_address(split_address(address)[0], bound)

    def _start_rest(self, port: int) -> None:
        address = self._security.listen_at(join_address(self._options.host, port))
        host, _ = split_address(address)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.create_server((host, port), family=family, backlog=1024)
        # Connections have it from the listener; asyncio sets it only where a socket names TCP as
        # its protocol. Else a body, written after its head, waits 40 ms for an acknowledgement.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        application = Rest(
            self._calls, self._measures, self._threads, self._options.most_bytes,
            self._security.token,
        )  # fmt: skip
        config = uvicorn.Config(
            application, log_config=None, access_log=False, lifespan="off", proxy_headers=False,
            server_header=False, date_header=False, timeout_graceful_shutdown=10,
            limit_concurrency=self._options.most_calls * _TAKEN, **self._tls(),
        )  # fmt: skip
        self._rest = uvicorn.Server(config)
        self._rest_thread = threading.Thread(
            target=self._rest.run, kwargs={"sockets": [listener]}, daemon=True
        )
        self._rest_thread.start()
        self.rest_address = join_address(host, listener.getsockname()[1])

    def _tls(self) -> dict[str, Any]:
        """uvicorn reads the files itself, so they are those that the environment names."""
        if self._security.tls is None:
            return {}
        return {
            "ssl_certfile": os.environ["PENSTOCK_TLS_CERT"],
            "ssl_keyfile": os.environ["PENSTOCK_TLS_KEY"],
            "ssl_ca_certs": os.environ["PENSTOCK_TLS_CA"],
            "ssl_cert_reqs": ssl.CERT_REQUIRED,
        }

    def stop(self) -> None:
        """Ends the listeners after the calls that run, then the models."""
        if self._rest is not None and self._rest_thread is not None:
            self._rest.should_exit = True
            self._rest_thread.join()
        if self._grpc is not None:
            self._grpc.stop(10.0).wait()
        self._threads.shutdown()
        self.models.close()

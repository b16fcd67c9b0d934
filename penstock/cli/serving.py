"""``penstock serve``: its options checked, a server started, and stopped by a signal."""

from __future__ import annotations

import importlib.util
import logging
import signal
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.cli.output import Failure, Output

_NEEDED = ("uvicorn", "httptools", "orjson", "prometheus_client")


@dataclass(frozen=True)
class Chosen:
    """What the command line says, as it stands there.

    Args:
      models: ``NAME=DIR``, or ``DIR`` alone.
      versions: which of each model.
      labels: ``NAME:LABEL=N``.
      host, rest_port, grpc_port: where to listen; a port below 0: not by this protocol.
      max_batch, batch_milliseconds: how calls are gathered.
      watch_seconds: between two looks at the folders.
      threads: how many calls run or wait at once.
      max_megabytes: the largest request.
    """

    models: Sequence[str]
    versions: str
    labels: Sequence[str]
    host: str
    rest_port: int
    grpc_port: int
    max_batch: int
    batch_milliseconds: float
    watch_seconds: float
    threads: int
    max_megabytes: int


def serve(output: Output, chosen: Chosen) -> None:
    """Serves until a signal ends it.

    Raises:
      Failure: an option is wrong, or a package is missing.
    """
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        raise Failure(f"serving needs {', '.join(missing)}: pip install 'penstock[serving]'")
    logging.basicConfig(stream=sys.stderr, format="%(asctime)s %(message)s", level=logging.WARNING)
    logging.getLogger("penstock.serving").setLevel(logging.INFO)
    server = _server(chosen)
    end = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: end.set())
    server.start()
    try:
        _tell(output, server)
        end.wait()
    finally:
        server.stop()


def _server(chosen: Chosen) -> Any:
    from penstock.cluster.serving.server import ModelServer, Options, Served
    from penstock.cluster.serving.signature import Batching
    from penstock.cluster.serving.versions import Policy

    if chosen.rest_port < 0 and chosen.grpc_port < 0:
        raise Failure("--rest-port and --grpc-port are both below 0: nothing would listen", 2)
    policy = Policy.parse(chosen.versions)
    folders = _folders(chosen.models)
    labels = _labels(chosen.labels, folders)
    batching = Batching(chosen.max_batch, chosen.batch_milliseconds / 1000)
    options = Options(
        chosen.host,
        None if chosen.rest_port < 0 else chosen.rest_port,
        None if chosen.grpc_port < 0 else chosen.grpc_port,
        batching,
        chosen.watch_seconds,
        chosen.threads,
        chosen.max_megabytes << 20,
    )
    served = {name: Served(folder, policy, labels[name]) for name, folder in folders.items()}
    return ModelServer(served, options)


def _folders(words: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for word in words:
        name, equals, folder = word.partition("=")
        if not equals:
            folder = word
            name = Path(folder).resolve().name
        if not Path(folder).is_dir():
            raise Failure(f"{folder}: no such folder", 2)
        if not name or any(c in name for c in "/:"):
            raise Failure(f"{name!r} is no name for a model: NAME=DIR, NAME without / and :", 2)
        if name in found:
            raise Failure(f"two models are called {name}; say NAME=DIR", 2)
        found[name] = folder
    return found


def _labels(words: Sequence[str], folders: dict[str, str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {name: {} for name in folders}
    for word in words:
        what, _, number = word.rpartition("=")
        name, _, label = what.rpartition(":")
        if name not in found or not label or not (number.isascii() and number.isdecimal()):
            raise Failure(f"--label {word}: allowed is NAME:LABEL=N, NAME one of the models", 2)
        found[name][label] = int(number)
    return found


def _tell(output: Output, server: Any) -> None:
    for model in server.models:
        versions = ", ".join(map(str, model.serving())) or "none yet"
        output.line(f"{model.name}: versions {versions}, from {model.folder}")
    if server.rest_address:
        output.line(f"REST: http://{server.rest_address}/v1/models/NAME:predict")
    if server.grpc_address:
        output.line(f"gRPC: {server.grpc_address}")
    sys.stdout.flush()

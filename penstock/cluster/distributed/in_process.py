"""Servers of one process: found by target, and joined to a cluster without a network.

State: the masters of this process's servers, by target.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from penstock.cluster.distributed.engines import MasterEngine
from penstock.cluster.distributed.master import Master
from penstock.engine.session.engine import Engine
from penstock.engine.session.options import Options
from penstock.foundation.graph.graph import Graph

_lock = threading.Lock()
_masters: dict[str, Master] = {}


def add_master(target: str, master: Master) -> None:
    """Makes a master known to sessions of this process."""
    with _lock:
        _masters[target] = master


def remove_master(target: str) -> None:
    """The server has stopped."""
    with _lock:
        _masters.pop(target, None)


def master_of(target: str) -> Master | None:
    """The master of a target, if its server is in this process."""
    return _masters.get(target)


class Grpc:
    """Targets "grpc://HOST:PORT": a server of this process is called directly."""

    def __init__(self, client: Callable[[], Any]) -> None:
        self._client = client

    def engine(self, target: str, graph: Graph, config: Any, options: Options) -> Engine:
        """The engine of a new session."""
        master = master_of(target)
        if master is not None:
            return MasterEngine(master, graph, options, config, target)
        made: Engine = self._client().engine(target, graph, config, options)
        return made

    def reset(self, target: str, containers: Sequence[str], config: Any) -> None:
        """Drops state of the server's cluster."""
        master = master_of(target)
        if master is not None:
            master.reset(containers, list(config.device_filters) if config else ())
            return
        self._client().reset(target, containers, config)

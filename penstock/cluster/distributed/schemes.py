"""How sessions reach targets ``grpc://host:port``: named by ``session.engine``, which loads it."""

from __future__ import annotations

from penstock.cluster.distributed.client import Client
from penstock.cluster.distributed.in_process import Grpc


def scheme() -> Grpc:
    """Targets of this process and of others."""
    return Grpc(Client)

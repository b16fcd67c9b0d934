"""Which targets sessions may have besides the empty one.

Imported by the package itself, so it must stay light: what speaks gRPC is imported when the first
target that needs it is used.
"""

from __future__ import annotations

from typing import Any

from penstock.distributed.client import Client
from penstock.distributed.in_process import Grpc
from penstock.session.engine import register_scheme


def _client() -> Any:
    return Client()


def _grpc() -> Any:
    return Grpc(_client)


register_scheme("grpc", _grpc)

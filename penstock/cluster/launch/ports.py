"""Free ports.

A task keeps its port when it starts again, and while it is down its peers keep connecting to it.
Were the port one of those that the system hands to outgoing connections, such a connection could
take it, even connect to itself.  So ports are chosen below that range.
"""

from __future__ import annotations

import random
import socket
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST = 15_000
_TRIES = 200


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    """Different ports of ``host`` that nobody listens on.

    Args:
      count: how many.
      host: an address of this machine.

    Raises:
      OSError: when no free port was found.
    """
    held: list[socket.socket] = []
    try:
        while len(held) < count:
            held.append(_bound(host))
        return [s.getsockname()[1] for s in held]
    finally:
        for s in held:
            s.close()


def _bound(host: str) -> socket.socket:
    highest = _first_outgoing() - 1
    for _ in range(_TRIES):
        port = random.randint(_LOWEST, highest) if highest > _LOWEST else 0
        s = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        try:
            s.bind((host, port))
        except OSError as error:
            s.close()
            last = error
        else:
            return s
    raise OSError(last.errno, f"no free port at {host} in {_TRIES} tries: {last.strerror}")


def _first_outgoing() -> int:
    try:
        return int(_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return 32_768

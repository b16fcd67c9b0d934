"""Network namespaces, joined by a bridge that has one of its own: cables that can be cut.

Needs Linux, root, and ``ip`` of iproute2.  Nothing of the machine's own network is touched.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def why_not() -> str:
    """Why there can be no namespaces here; "" where they work."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or shutil.which("ip") is None:
        return "network namespaces need Linux, root and the ip command"
    try:
        with Network(["probe"]):
            return ""
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {error.stderr.strip()}"


class Network:
    """Namespaces with one cable each; a context manager.

    Args:
      names: of the namespaces.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._hub = f"penstock-{os.getpid()}-hub"
        self._made: list[str] = []

    def __enter__(self) -> Network:
        try:
            self._add(self._hub)
            _ip("-n", self._hub, "link", "add", "bridge", "type", "bridge")
            _ip("-n", self._hub, "link", "set", "bridge", "up")
            for index, name in enumerate(self._names):
                self._join(self._namespace(name), f"port{index}", self.address(name))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc: Any) -> None:
        while self._made:
            _ip("netns", "del", self._made.pop())

    def address(self, name: str) -> str:
        """The address of a namespace."""
        return f"10.213.47.{self._names.index(name) + 1}"

    def inside(self, name: str, command: Sequence[str]) -> list[str]:
        """The command line that runs a command in a namespace."""
        return ["ip", "netns", "exec", self._namespace(name), *command]

    @contextmanager
    def cut(self, name: str) -> Iterator[None]:
        """Keeps the cable of a namespace cut."""
        port = f"port{self._names.index(name)}"
        _ip("-n", self._hub, "link", "set", port, "down")
        try:
            yield
        finally:
            _ip("-n", self._hub, "link", "set", port, "up")

    def _namespace(self, name: str) -> str:
        return f"penstock-{os.getpid()}-{name}"

    def _add(self, namespace: str) -> None:
        _ip("netns", "add", namespace)
        self._made.append(namespace)

    def _join(self, namespace: str, port: str, address: str) -> None:
        self._add(namespace)
        _ip("-n", namespace, "link", "set", "lo", "up")
        _ip("-n", namespace, "link", "add", "cable", "type", "veth",
            "peer", "name", port, "netns", self._hub)  # fmt: skip
        _ip("-n", self._hub, "link", "set", port, "master", "bridge", "up")
        _ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "cable")
        _ip("-n", namespace, "link", "set", "cable", "up")

"""The devices of this machine, as ``tensorflow.python.client.device_lib`` tells them."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.engine.session.session import Session
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.graph.graph import Graph


class LocalDevice(NamedTuple):
    """One device; the fields are those of TensorFlow's message ``DeviceAttributes``."""

    name: str
    device_type: str
    memory_limit: int
    incarnation: int
    physical_device_desc: str


def list_local_devices(session_config: Any = None) -> list[LocalDevice]:
    """The devices that a session in this process has.

    Args:
      session_config: a ``ConfigProto``.

    >>> list_local_devices()[0].name
    '/device:CPU:0'
    """
    with Session(graph=Graph(), config=session_config) as session:
        devices = session.list_devices()
    return [
        LocalDevice(
            _local(device.name), device.device_type, device.memory_limit_bytes,
            device.incarnation, "",
        )
        for device in devices
    ]  # fmt: skip


def _local(name: str) -> str:
    spec = DeviceSpec.from_string(name)
    return f"/device:{spec.device_type}:{spec.device_index}"

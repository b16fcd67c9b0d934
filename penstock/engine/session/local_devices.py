"""The devices of this machine, as ``tensorflow.python.client.device_lib`` tells them."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.engine.session.options import ConfigProto
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


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that operations can be placed on."""

    name: str
    device_type: str


def list_device_names() -> list[str]:
    """The full names of the devices that a session in this process has."""
    return [each.name for each in list_logical_devices()]


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that operations can be placed on.

    Args:
      device_type: ``"CPU"`` or ``"GPU"``; None asks for all.
    """
    with Session(graph=Graph()) as session:
        found = [LogicalDevice(each.name, each.device_type) for each in session.list_devices()]
    return [each for each in found if device_type in (None, each.device_type)]


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of this machine.

    Args:
      device_type: ``"CPU"`` or ``"GPU"``; None asks for all.

    >>> list_physical_devices("CPU")
    [PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]
    """
    with Session(graph=Graph(), config=ConfigProto()) as session:  # whatever is set of sessions
        found = session.list_devices()
    return [
        PhysicalDevice(_local(each.name).replace("/device", "/physical_device"), each.device_type)
        for each in found
        if device_type in (None, each.device_type)
    ]


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Whether a GPU's memory is taken as it is needed, which it always is.

    Raises:
      ValueError: the device is no GPU.
    """
    _need_gpu(device)
    return True


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Says that a GPU's memory is to be taken as it is needed, which it always is.

    Raises:
      ValueError: the device is no GPU.
      NotImplementedError: all memory is to be taken at once.
    """
    _need_gpu(device)
    if not enable:
        raise NotImplementedError("a GPU's memory is taken as it is needed, never all at once")


def _need_gpu(device: PhysicalDevice) -> None:
    if device.device_type != "GPU":
        raise ValueError(f"Cannot set memory growth on non-GPU devices; this is {device}")


def _local(name: str) -> str:
    spec = DeviceSpec.from_string(name)
    return f"/device:{spec.device_type}:{spec.device_index}"

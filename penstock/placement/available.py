"""The devices of this process."""

from __future__ import annotations

from typing import NamedTuple


class DeviceAttributes(NamedTuple):
    """One device that a session can use."""

    name: str
    device_type: str
    memory_limit_bytes: int


def local_devices(gpus: int = 0) -> list[DeviceAttributes]:
    """The CPU and ``gpus`` GPUs of this process, by full name."""
    prefix = "/job:localhost/replica:0/task:0/device:"
    cpu = DeviceAttributes(f"{prefix}CPU:0", "CPU", 1 << 28)
    return [cpu] + [DeviceAttributes(f"{prefix}GPU:{i}", "GPU", 0) for i in range(gpus)]

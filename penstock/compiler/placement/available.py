"""The devices that a session or task has.

A device has a full name ("/job:worker/replica:0/task:1/device:GPU:0").  The CPU devices of a task
share its memory and its thread of a step: several of them (``ConfigProto.device_count``) are names
to place nodes on, as in TensorFlow, and not more processors.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from penstock.foundation.base.devices import DeviceSpec, Parts

LOCAL_TASK = "/job:localhost/replica:0/task:0"
# What TensorFlow says of a CPU, which has no limit of its own.
_CPU_MEMORY = 1 << 28
# Device types that are preferred where a node may run on several; others come last.
_PREFERENCE = {"GPU": 0, "CPU": 1}


class DeviceAttributes(NamedTuple):
    """One device that a session can use.

    ``incarnation`` is another number after its task has been started anew.
    """

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int = 0

    def __repr__(self) -> str:
        limit, incarnation = self.memory_limit_bytes, self.incarnation
        return f"_DeviceAttributes({self.name}, {self.device_type}, {limit}, {incarnation})"


def local_devices(
    device_count: Mapping[str, int] | None = None,
    gpus: Sequence[int] = (),
    task: str = LOCAL_TASK,
) -> list[DeviceAttributes]:
    """The devices of this process.

    Args:
      device_count: from device type to how many of it to have (``ConfigProto.device_count``); by
        default one CPU and every GPU.  There is always a CPU.
      gpus: the memory of each GPU that programs can run on, in bytes.
      task: full name of the task that has them.

    Returns:
      CPUs, then GPUs, each in the order of their numbers.

    >>> [device.name for device in local_devices({"CPU": 2}, task="/job:ps/replica:0/task:0")]
    ['/job:ps/replica:0/task:0/device:CPU:0', '/job:ps/replica:0/task:0/device:CPU:1']
    """
    counts = dict(device_count or {})
    cpus = max(1, counts.get("CPU", 1))
    used = gpus[: counts.get("GPU", len(gpus))]
    rows = [("CPU", i, _CPU_MEMORY) for i in range(cpus)]
    rows += [("GPU", i, memory) for i, memory in enumerate(used)]
    return [_device(f"{task}/device:{kind}:{i}", kind, memory) for kind, i, memory in rows]


@lru_cache(maxsize=1024)
def _device(name: str, kind: str, memory: int) -> DeviceAttributes:
    return DeviceAttributes(name, kind, memory, secrets.randbits(63) | 1)


@lru_cache(maxsize=8192)
def parts_of(device: str) -> Parts:
    """The parts of a device name: job, replica, task, type, index; None where it does not say.

    Raises:
      ValueError: the name is malformed.
    """
    spec = DeviceSpec.from_string(device)
    return spec.job, spec.replica, spec.task, spec.device_type, spec.device_index


def is_full(device: str) -> bool:
    """Whether a name says which device is meant, part by part."""
    return bool(device) and None not in parts_of(device)


def task_of(device: str) -> str:
    """The task of a full device name; a task name gives itself."""
    return device.partition("/device:")[0]


def matches(asked: Parts, device: str) -> bool:
    """Whether a device is what a partial name asks for."""
    return all(a is None or a == d for a, d in zip(asked, parts_of(device), strict=True))


def by_preference(found: Iterable[DeviceAttributes], default: str) -> list[DeviceAttributes]:
    """Devices in the order in which they are taken where a node may run on any of them.

    Args:
      found: devices.
      default: the device, or the task or job whose devices come first.

    Returns:
      The default device; then those of its task, GPUs before CPUs; then the others, by name.
    """
    first, home = parts_of(default), task_of(default)

    def rank(device: DeviceAttributes) -> tuple[object, ...]:
        job, replica, task, _, index = parts_of(device.name)
        kind = device.device_type
        return (
            not matches(first, device.name), task_of(device.name) != home,
            _PREFERENCE.get(kind, len(_PREFERENCE)), job, replica, task, kind, index,
        )  # fmt: skip

    return sorted(found, key=rank)

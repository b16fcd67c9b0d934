"""Device names: "/job:worker/replica:0/task:1/device:GPU:0" and every part of it.

A name is partial until placement: a part that is not given is None. `DeviceSpec` holds the parts;
`merge_device` gives the device function that `tf.device(...)` scopes apply to a new node, where
what an inner scope said wins over the outer one. Parsing and merging happen for every node built,
so both are cached by string.

Names are checked more strictly than in TensorFlow 1.15, where "/cpu:-1" and "/job:" pass.

Source: the behaviour of `tf.DeviceSpec` and `tf.device` in TensorFlow 1.15.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, TypeAlias

_ALLOWED = (
    "allowed are parts joined by '/': job:NAME, replica:N, task:N, device:TYPE:N, device:TYPE:*, "
    "and the short forms cpu, cpu:N, gpu, gpu:N, with N a whole number"
)
_JOB = re.compile(r"[A-Za-z0-9_.*-]+\Z")
_TYPE = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_NUMBER = re.compile(r"[0-9]+\Z")

Parts: TypeAlias = "tuple[str | None, int | None, int | None, str | None, int | None]"
"""job, replica, task, device type, device index."""


class DeviceSpec:
    """A possibly partial device name, part by part.

    Args:
        job: the name of the job, such as "ps".
        replica: the number of the replica.
        task: the number of the task in its job.
        device_type: "CPU", "GPU" or another type; "cpu" and "gpu" are made upper case.
        device_index: the number of the device; None stands for any, and prints as "*".

    >>> DeviceSpec(job="ps", device_type="gpu", device_index=0).to_string()
    '/job:ps/device:GPU:0'
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    _job: str | None
    _replica: int | None
    _task: int | None
    _device_type: str | None
    _device_index: int | None

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = device_type
        self.device_index = device_index

    @classmethod
    def from_string(cls, spec: str | None) -> DeviceSpec:
        """The DeviceSpec of a device name.

        Args:
            spec: a device name; None and "" name no part.

        Raises:
            ValueError: the name is malformed.
        """
        return cls(*_parse(_checked_name(spec)))

    def parse_from_string(self, spec: str | None) -> DeviceSpec:
        """Sets every part from a device name, those it does not name to None; returns self.

        Raises:
            ValueError: the name is malformed.
        """
        self._set(_parse(_checked_name(spec)))
        return self

    def to_string(self) -> str:
        """The canonical name: parts in order, an unset index of a set type as "*"."""
        return _format(self._parts())

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over every part that `dev` has, keeping those it has not."""
        self._set(_merge(self._parts(), dev._parts()))

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """A new spec: the parts of `dev`, and this spec's where `dev` has none.

        >>> DeviceSpec("ps", task=0).make_merged_spec(DeviceSpec("worker")).to_string()
        '/job:worker/task:0'
        """
        return DeviceSpec(*_merge(self._parts(), dev._parts()))

    def replace(self, **kwargs: Any) -> DeviceSpec:
        """A new spec with the given parts changed.

        Args:
            **kwargs: the arguments of the constructor.
        """
        parts = dict(
            zip(
                ("job", "replica", "task", "device_type", "device_index"),
                self._parts(),
                strict=True,
            )
        )
        return DeviceSpec(**{**parts, **kwargs})

    @property
    def job(self) -> str | None:
        """The name of the job, or None."""
        return self._job

    @job.setter
    def job(self, job: Any) -> None:
        self._job = None if job is None else str(job)

    @property
    def replica(self) -> int | None:
        """The number of the replica, or None."""
        return self._replica

    @replica.setter
    def replica(self, replica: Any) -> None:
        self._replica = _number("replica", replica)

    @property
    def task(self) -> int | None:
        """The number of the task, or None."""
        return self._task

    @task.setter
    def task(self, task: Any) -> None:
        self._task = _number("task", task)

    @property
    def device_type(self) -> str | None:
        """The device type, such as "GPU", or None."""
        return self._device_type

    @device_type.setter
    def device_type(self, device_type: Any) -> None:
        self._device_type = None if device_type is None else _type_name(str(device_type))

    @property
    def device_index(self) -> int | None:
        """The number of the device among those of its type, or None."""
        return self._device_index

    @device_index.setter
    def device_index(self, device_index: Any) -> None:
        self._device_index = _number("device index", device_index)

    def _parts(self) -> Parts:
        return (self._job, self._replica, self._task, self._device_type, self._device_index)

    def _set(self, parts: Parts) -> None:
        self._job, self._replica, self._task, self._device_type, self._device_index = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"<DeviceSpec {self.to_string()!r}>"


class MergeDevice:
    """The device function of one scope: it fills in what the node's device does not say."""

    __slots__ = ("_merged", "_parts")

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._merged: dict[str, str] = {"": _format(parts)}

    def merge(self, device: str) -> str:
        """The canonical name of `device` with its unset parts taken from this scope.

        Raises:
            ValueError: the device name is malformed.
        """
        merged = self._merged.get(device)
        if merged is None:
            merged = _format(_merge(self._parts, _parse(device)))
            self._merged[device] = merged
        return merged

    def __call__(self, node: Any) -> str:
        return self.merge(node.device or "")


def canonical_name(device: str | DeviceSpec | None) -> str:
    """The canonical form of a device name; "" for None.

    Raises:
        ValueError: the name is malformed.

    >>> canonical_name("/job:ps/cpu:0")
    '/job:ps/device:CPU:0'
    """
    if isinstance(device, DeviceSpec):
        return device.to_string()
    return _format(_parse(_checked_name(device)))


def merge_device(spec: str | DeviceSpec | None) -> MergeDevice:
    """The device function of a `tf.device(spec)` scope; one object for each name.

    Args:
        spec: a device name or DeviceSpec.

    Returns:
        A function from a node to its new device string.

    Raises:
        ValueError: the name is malformed.

    >>> merge_device("/job:ps/gpu:1").merge("/cpu:0")
    '/job:ps/device:CPU:0'
    """
    if isinstance(spec, DeviceSpec):
        return _merger(spec._parts())
    return _merger(_parse(_checked_name(spec)))


@lru_cache(maxsize=4096)
def _merger(parts: Parts) -> MergeDevice:
    return MergeDevice(parts)


def _checked_name(spec: Any) -> str:
    if spec is None:
        return ""
    if not isinstance(spec, str):
        raise ValueError(f"device {spec!r} is not a string or DeviceSpec: {_ALLOWED}")
    return spec


def _malformed(spec: str, why: str) -> ValueError:
    return ValueError(f"malformed device {spec!r}: {why}; {_ALLOWED}")


def _type_name(device_type: str) -> str:
    return device_type.upper() if device_type in ("cpu", "gpu") else device_type


def _number(what: str, value: Any) -> int | None:
    if value is None:
        return None
    try:
        number = int(value)
    except (TypeError, ValueError):
        number = -1
    if number < 0:
        raise ValueError(f"{what} {value!r} is not allowed: it must be a whole number or None")
    return number


@lru_cache(maxsize=4096)
def _parse(spec: str) -> Parts:
    """The parts that a device name gives."""
    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device: tuple[str, int | None] | None = None
    for part in filter(None, spec.split("/")):
        words = part.split(":")
        if words[0] == "job" and len(words) == 2 and _JOB.match(words[1]):
            job = words[1]
        elif words[0] == "replica" and len(words) == 2:
            replica = _parse_number(spec, part, words[1])
        elif words[0] == "task" and len(words) == 2:
            task = _parse_number(spec, part, words[1])
        else:
            if device is not None:
                raise _malformed(spec, "it names more than one device type")
            device = _parse_device(spec, part, words)
    device_type, index = device or (None, None)
    return job, replica, task, device_type, index


def _parse_device(spec: str, part: str, words: list[str]) -> tuple[str, int | None]:
    """Type and index of "device:GPU:0", "gpu:0" or "gpu"; index None for "*" or none."""
    if words[0] == "device" and len(words) == 3 and _TYPE.match(words[1]):
        kind, index = words[1:]
    elif words[0].upper() in ("CPU", "GPU") and len(words) <= 2:
        kind, index = words[0].upper(), words[1] if len(words) == 2 else "*"
    else:
        raise _malformed(spec, f"Unknown attribute: {part!r}")
    return _type_name(kind), None if index == "*" else _parse_number(spec, part, index)


def _parse_number(spec: str, part: str, word: str) -> int:
    if not _NUMBER.match(word):
        raise _malformed(spec, f"{word!r} in {part!r} is not a whole number")
    return int(word)


def _format(parts: Parts) -> str:
    job, replica, task, device_type, index = parts
    name = "" if job is None else f"/job:{job}"
    if replica is not None:
        name += f"/replica:{replica}"
    if task is not None:
        name += f"/task:{task}"
    if device_type is not None:
        name += f"/device:{device_type}:{'*' if index is None else index}"
    return name


def _merge(outer: Parts, inner: Parts) -> Parts:
    """The inner parts, and the outer ones where the inner has none.

    Type and index merge each for itself, as in TensorFlow: "/cpu:*" in "/gpu:1" is CPU:1.
    """
    return (
        outer[0] if inner[0] is None else inner[0],
        outer[1] if inner[1] is None else inner[1],
        outer[2] if inner[2] is None else inner[2],
        outer[3] if inner[3] is None else inner[3],
        outer[4] if inner[4] is None else inner[4],
    )

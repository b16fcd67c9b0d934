"""The devices on which a group of nodes may run, and the error where there is none.

Every kernel is ATen's and runs on every kind of device, but for what lives on the host: strings,
Python objects (queues, tables, readers, datasets) and whatever waits for them or talks to files.
Traits and dtypes tell these apart; no list of op types is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from penstock.compiler.placement.available import DeviceAttributes, by_preference, matches, parts_of
from penstock.compiler.placement.colocation import Group, made_at
from penstock.foundation.base import dtypes, errors
from penstock.foundation.base.devices import Parts
from penstock.foundation.graph.operation import Operation
from penstock.foundation.opdef.shared_state import SharedState

# Of the wider unsigned integers torch has few kernels, and TensorFlow none for GPUs.
_HOST_DTYPES = (
    dtypes.string, dtypes.variant, dtypes.uint16, dtypes.uint32, dtypes.uint64,
)  # fmt: skip
# How messages name each part, in the order in which a request is narrowed down.
_WHAT = ("job {!r}", "replica {}", "task {}", "device type {!r}", "device number {}")


def host_only(op: Operation) -> bool:
    """Whether a node runs on CPU devices only."""
    definition = op.op_def
    if definition.blocking or isinstance(definition.state, SharedState):
        return True
    tensors = [*op.inputs, *op.outputs]
    if any(t.dtype.base_dtype in _HOST_DTYPES for t in tensors):
        return True
    # An effect that is not on a variable is one on the world: a message, a file.
    takes_state = any(t.dtype.is_ref or t.dtype is dtypes.resource for t in op.inputs)
    return definition.effect and bool(op.inputs) and not takes_state


class Candidates:
    """The devices on which groups may run.

    Args:
      devices: all there are.
      default: the device, or task, that is taken where nothing else is asked.
      soft: whether another type or number may be used in the same task where what is asked for does
        not exist or cannot run a node; the type that was asked comes first.

    State: the answers for what has been asked already.
    """

    def __init__(self, devices: Sequence[DeviceAttributes], default: str, soft: bool) -> None:
        self._devices = devices
        self._default, self._soft = default, soft
        self._known: dict[tuple[Parts, bool], list[str]] = {}

    def of(self, group: Group) -> list[str]:
        """The names of the devices on which all of a group may run, the best first.

        Raises:
          tf.errors.InvalidArgumentError: there is none.
        """
        devices = self._devices
        if group.assigned:
            if not any(d.name == group.assigned for d in devices):
                _refuse_lost(group, devices)
            return [group.assigned]
        on_host = next((op for op in group.members if host_only(op)), None)
        key = (group.asked, on_host is not None)
        if key not in self._known:
            self._known[key] = self._find(*key)
        found = self._known[key]
        if not found and on_host is not None and any(matches(key[0], d.name) for d in devices):
            _refuse_kind(group, on_host)
        return found or _refuse(group, devices, self._soft)

    def _find(self, asked: Parts, on_host: bool) -> list[str]:
        usable = [d for d in self._devices if not on_host or d.device_type == "CPU"]
        found = [d for d in usable if matches(asked, d.name)]
        if not found and self._soft:
            near = [d for d in usable if matches((*asked[:3], None, None), d.name)]
            found = [d for d in near if d.device_type == asked[3]] or near
        return [d.name for d in by_preference(found, self._default)]


def _refuse(group: Group, devices: Sequence[DeviceAttributes], soft: bool) -> NoReturn:
    """Says which part of what was asked is the first that no device has."""
    left = list(devices)
    part = 0
    for part, asked in enumerate(group.asked):
        if asked is None:
            continue
        kept = [d for d in left if parts_of(d.name)[part] == asked]
        if not kept:
            break
        left = kept
    op = group.askers[part] or group.members[0]
    missing = _WHAT[part].format(group.asked[part])
    hint = ""
    if part >= 3 and not soft:
        hint = " ConfigProto(allow_soft_placement=True) lets it run elsewhere."
    elif soft:
        hint = " Soft placement changes the type and number of a device, never its task."
    raise errors.InvalidArgumentError(
        None,
        op,
        f"Cannot assign a device for operation {op.name}: {_request(group, op)}, but there is no"
        f" {missing} among the available devices [ {', '.join(d.name for d in left)} ]."
        f"{_all_of(left, devices)}{hint}{_others(group, op)}{made_at(op)}",
    )


def _request(group: Group, op: Operation) -> str:
    own = op.device or group.device
    text = f"{op.type} {op.name!r} asks for device {own!r}"
    if own != group.device and group.device:
        text += f" (with its colocated nodes: {group.device!r})"
    return text


def _all_of(left: Sequence[DeviceAttributes], devices: Sequence[DeviceAttributes]) -> str:
    if len(left) == len(devices):
        return ""
    return f" All devices: [ {', '.join(d.name for d in devices)} ]."


def _others(group: Group, op: Operation) -> str:
    """The other nodes whose requests made up the group's."""
    others = [a for a in dict.fromkeys(group.askers) if a is not None and a is not op]
    return "".join(
        f"\n{other.type} {other.name!r}, colocated with it, asks for {other.device!r}"
        f"{made_at(other)}"
        for other in others
    )


def _refuse_kind(group: Group, op: Operation) -> NoReturn:
    asker = next((a for a in group.askers[3:] if a is not None), op)
    joined = "" if asker is op else f", which is colocated with {op.type} {op.name!r}"
    raise errors.InvalidArgumentError(
        None,
        asker,
        f"Cannot assign a device for operation {asker.name}: {asker.type} {asker.name!r} asks for"
        f" device {group.device!r}{joined}, but {op.type} runs on CPU devices only: no supported"
        f" kernel for {group.asked[3]} devices is available."
        f" ConfigProto(allow_soft_placement=True) lets it run on the CPU of that task."
        f"{made_at(asker)}{made_at(op) if op is not asker else ''}",
    )


def _refuse_lost(group: Group, devices: Sequence[DeviceAttributes]) -> NoReturn:
    op = group.assigned_by or group.members[0]
    raise errors.InvalidArgumentError(
        None,
        op,
        f"Cannot assign a device for operation {op.name}: an earlier step of this session has put"
        f" the state of {op.type} {op.name!r} on {group.assigned!r}, which is not among the"
        f" available devices [ {', '.join(d.name for d in devices)} ]{made_at(op)}",
    )

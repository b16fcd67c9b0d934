"""What machines and links cost, as a JSON file has it; and profiles by name.

All times are seconds, all sizes bytes. ``penstock simulate calibrate`` measures a profile of this
machine; docs/simulate.md says where the numbers of the named ones come from.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

_SHARINGS = ("fifo", "fair")


@dataclass(frozen=True)
class Profile:
    """Costs of one kind of machine and network.

    Attributes:
        name: What it is called.
        source: Where the numbers are from.
        latency: One way, of any message.
        bandwidth: Of a task's interface, each way; None where it is no limit.
        link_bandwidth: Of one message; None where it is no limit.
        sharing: How an interface serves its messages: "fifo" or "fair".
        host_cores: All tasks share one host of so many cores; None gives each its own machine.
        send_cpu, recv_cpu: Work a message, at its sender and receiver.
        send_byte_cpu, recv_byte_cpu: Work a byte, at its sender and receiver.
        tensor_cpu: Work for each further tensor of a message, at its sender and its receiver.
        overlap: The share of its work for messages that a worker does beside its computing, where
            all tasks share a host.
        step_cpu: Work of a worker a step besides the model: the session and its master.
        sync_cpu: Work of the chief a synchronous update, besides messages.
        sync_ps_cpu: Work of each parameter server a synchronous update, for the chief's step.
        sync_tensor_cpu: The same for each further tensor of the parameter server.
        ps_cores: Cores of a parameter server that take messages, where it has its own machine.
        update_slots: Updates that a parameter server does at once; the others wait.
        update_byte: Work to apply a byte of update.
        sync_byte: Work a byte of a synchronous update besides applying it.
        accumulate_byte: Work to add a byte of gradient to what has been gathered (sync).
    """

    name: str
    source: str = ""
    latency: float = 50e-6
    bandwidth: float | None = None
    link_bandwidth: float | None = None
    sharing: str = "fifo"
    host_cores: float | None = None
    send_cpu: float = 0.0
    recv_cpu: float = 0.0
    send_byte_cpu: float = 0.0
    recv_byte_cpu: float = 0.0
    tensor_cpu: float = 0.0
    overlap: float = 0.0
    step_cpu: float = 0.0
    sync_cpu: float = 0.0
    sync_ps_cpu: float = 0.0
    sync_tensor_cpu: float = 0.0
    ps_cores: int = 1
    update_slots: int = 1
    update_byte: float = 0.0
    sync_byte: float = 0.0
    accumulate_byte: float = 0.0

    def __post_init__(self) -> None:
        if self.sharing not in _SHARINGS:
            raise ValueError(f"sharing is {self.sharing!r}; it may be {' or '.join(_SHARINGS)}")
        for each in fields(self):
            value = getattr(self, each.name)
            if value is None and each.default is not None:
                raise ValueError(f"profile {self.name!r}: {each.name} is None, not a number")
            if isinstance(value, int | float) and not 0 <= value < float("inf"):
                raise ValueError(f"profile {self.name!r}: {each.name} is {value}, not 0 or more")
        if self.overlap > 1:
            raise ValueError(f"profile {self.name!r}: overlap is {self.overlap}, not 1 or less")
        for name in ("bandwidth", "link_bandwidth", "host_cores", "ps_cores", "update_slots"):
            if getattr(self, name) == 0:
                raise ValueError(f"profile {self.name!r}: {name} is 0")

    def to_json(self) -> str:
        """The profile as a JSON document."""
        return json.dumps(asdict(self), indent=2) + "\n"


def from_mapping(values: Mapping[str, Any]) -> Profile:
    """A profile of what a JSON document holds.

    Raises:
        ValueError: A key is no field, or a value none that the field takes.
    """
    known = {each.name for each in fields(Profile)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ValueError(f"no field of a profile: {', '.join(unknown)}; there are {sorted(known)}")
    numbers = known - {"name", "source", "sharing"}
    for key, value in values.items():
        if key in numbers and value is not None and not isinstance(value, int | float):
            raise ValueError(f"{key} is {value!r}, not a number")
    return Profile(**{"name": "unnamed", **values})


PROFILES = {
    each.name: each
    for each in (
        Profile(
            "loopback",
            "Gloo pairs over loopback between processes of a 2-core machine: 62 us a small"
            " message one way, 31 ms for 100 MB, memory copied at 7 GB/s",
            latency=40e-6,
            link_bandwidth=100e6 / 31e-3,
            host_cores=2,
            send_cpu=15e-6,
            recv_cpu=15e-6,
            send_byte_cpu=0.2e-9,
            recv_byte_cpu=0.25e-9,
            step_cpu=150e-6,
            sync_cpu=300e-6,
            update_slots=2,
            update_byte=0.15e-9,
            accumulate_byte=0.15e-9,
        ),
        Profile(
            "osdi2016",
            "fitted to the OSDI 2016 paper's figures; docs/simulate.md says which",
            latency=60e-6,
            bandwidth=2.03e9,
            sharing="fair",
            send_cpu=17e-6,
            recv_cpu=17e-6,
            step_cpu=0.27e-3,
            sync_cpu=0.1e-3,
            update_slots=8,
            update_byte=0.5e-9,
            accumulate_byte=0.1e-9,
        ),
    )
}


def load_profile(name: str) -> Profile:
    """A named profile, or the one in a JSON file.

    Raises:
        ValueError: There is neither, or the file holds no profile.
    """
    if name in PROFILES:
        return PROFILES[name]
    path = Path(name)
    if not path.is_file():
        raise ValueError(f"no profile and no file {name!r}; profiles are {', '.join(PROFILES)}")
    try:
        values = json.loads(path.read_text())
    except ValueError as error:
        raise ValueError(f"{name}: no JSON: {error}") from None
    if not isinstance(values, dict):
        raise ValueError(f"{name}: a profile is a JSON object, this is a {type(values).__name__}")
    return from_mapping(values)

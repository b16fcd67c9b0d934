"""Which devices nodes ask for, held against those that exist.

Programs run on one device; what is checked is that a request could be honoured, or
that soft placement allows another device in its stead.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from penstock.base import devices, errors
from penstock.graph.operation import Operation
from penstock.graph.step import StepGraph
from penstock.placement.available import DeviceAttributes


def check_devices(
    step: StepGraph, available: Sequence[DeviceAttributes], soft: bool, log: bool = False
) -> None:
    """Refuses nodes whose device does not exist.

    Args:
      step: a pruned step.
      available: the session's devices.
      soft: whether a device of another kind may be used instead.
      log: whether to print every node's device to stderr.

    Raises:
      tf.errors.InvalidArgumentError: naming the node, what it asked for and what exists.
    """
    known = {(d.device_type, int(d.name.rpartition(":")[2])) for d in available}
    for op in step.operations:
        spec = devices.DeviceSpec.from_string(op.device) if op.device else None
        if spec is not None and not soft and not _exists(spec, known):
            _refuse(op, available)
        if log:
            print(f"{op.name}: ({op.type}): {available[0].name}", file=sys.stderr)


def _exists(spec: devices.DeviceSpec, known: set[tuple[str, int]]) -> bool:
    if spec.job not in (None, "localhost") or spec.task not in (None, 0):
        return False
    if spec.device_type is None:
        return True
    index = spec.device_index
    return any(kind == spec.device_type and index in (None, i) for kind, i in known)


def _refuse(op: Operation, available: Sequence[DeviceAttributes]) -> None:
    names = ", ".join(d.name for d in available)
    where = f"\nmade at {op.origin}" if op.origin else ""
    raise errors.InvalidArgumentError(
        None,
        op,
        f"{op.type} {op.name!r} asks for device {op.device!r}, which does not exist; there are"
        f" {names} (ConfigProto(allow_soft_placement=True) lets it run elsewhere){where}",
    )

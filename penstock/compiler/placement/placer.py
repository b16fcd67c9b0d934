"""What a session's placements have in common: its devices, and what must stay where it was.

State: the devices of the stateful nodes of earlier steps by name, and the names that were logged.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from penstock.compiler.placement.available import (
    DeviceAttributes,
    local_devices,
    matches,
    parts_of,
)  # fmt: skip
from penstock.compiler.placement.cost_model import CostModel
from penstock.compiler.placement.place import place, stateful_placement
from penstock.foundation.base import errors
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph


class Placer:
    """Places the steps of one session, one after another.

    Args:
      devices: those that exist; by default one CPU of this process.
      default: the device or task for what asks for nothing; see ``place``.
      soft, cost: as for ``place``.
      log: whether each node's device is printed to stderr when the node is first placed.
      pruned_only: whether nodes that no step needs may ask for devices that do not exist.
    """

    def __init__(
        self,
        devices: Sequence[DeviceAttributes] = (),
        default: str = "",
        *,
        soft: bool = False,
        log: bool = False,
        cost: CostModel | None = None,
        pruned_only: bool = True,
    ) -> None:
        self.devices = tuple(devices) or tuple(local_devices())
        self.cost = cost
        self._default, self._soft, self._log = default, soft, log
        self._pruned_only = pruned_only or soft
        self._looked_at = 0
        self._earlier: dict[str, str] = {}
        self._logged: set[str] = set()
        self._lock = threading.Lock()

    def place(self, step: StepGraph) -> dict[Operation, str]:
        """The full device name of every node of a step, those in blocks of regions too.

        Raises:
          tf.errors.InvalidArgumentError: see ``place.place``.
        """
        with self._lock:
            placed = place(
                step, self.devices, self._default, soft=self._soft, log=self._log, cost=self.cost,
                earlier=self._earlier, logged=self._logged,
            )  # fmt: skip
            if len(self.devices) > 1:
                self._earlier.update(stateful_placement(placed))
        return placed

    def check(self, operations: Sequence[Operation]) -> None:
        """Refuses a graph of which a node, needed or not, asks for a device that does not exist.

        Args:
          operations: all nodes of the session's graph, in the order in which they were made.

        Raises:
          tf.errors.InvalidArgumentError: there is such a node.
        """
        if self._pruned_only:
            return
        for op in operations[self._looked_at :]:
            asked = op.device
            if asked and not any(matches(parts_of(asked), d.name) for d in self.devices):
                found = ", ".join(d.name for d in self.devices)
                raise errors.InvalidArgumentError(
                    None, op,
                    f"Cannot assign a device for operation {op.name}: node {op.name} was explicitly"
                    f" assigned to {asked} but available devices are [ {found} ]. Whether a step"
                    " needs the node does not count, unless graph_options.place_pruned_graph or"
                    " allow_soft_placement is set",
                )  # fmt: skip
        self._looked_at = len(operations)

    def assign(self, step: StepGraph) -> None:
        """Writes the devices of a step of this process into its nodes, as ``op.device``.

        One program runs on all devices of a process; what is written shows in traces.
        """
        for op, device in self.place(step).items():
            if op.device or len(self.devices) > 1:
                op.put_on(device)

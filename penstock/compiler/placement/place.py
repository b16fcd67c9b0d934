"""Gives each node of a step its device.

What must be together is grouped (``colocation``), each group is held against the devices that exist
(``constraints``), and what is still free is decided by TensorFlow's rules:

* a group goes to the first device of those that it may use: the default device or one of its task
  where they are among them;
* a node of a conditional or loop that asks for nothing goes where its neighbours in there that ask
  for something are, if these are all on one device; so a loop about one task stays in that task;
* ``Shape``, ``Size`` and ``Rank`` go where their input is;
* a node without inputs goes where its consumers are, if they are all on one device.

With a cost model, free groups go where a simulated run of the step ends soonest (``simulated``).

A region has no device of its own; it is given its predicate's.  The feed of a block is where that
is which it stands for.

A session's placements have in common its devices, and what must stay where it was (``Placer``).
State, of a placer: the devices of the stateful nodes of earlier steps by name, and the names that
were logged.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping, Sequence

from penstock.compiler.placement.available import (
    DeviceAttributes,
    local_devices,
    matches,
    parts_of,
)  # fmt: skip
from penstock.compiler.placement.colocation import keeps_its_device, requested
from penstock.compiler.placement.cost_model import CostModel
from penstock.compiler.placement.placing import Placing
from penstock.foundation.base import errors
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph


def place(
    step: StepGraph,
    devices: Sequence[DeviceAttributes],
    default: str = "",
    *,
    soft: bool = False,
    log: bool = False,
    cost: CostModel | None = None,
    earlier: Mapping[str, str] | None = None,
    logged: set[str] | None = None,
) -> dict[Operation, str]:
    """Chooses the device of every node of a step.

    Args:
      step: a step after pruning.
      devices: those that exist.
      default: the device for what asks for nothing, or the task whose best device takes it; by
        default the task of the first device.
      soft: whether a node may run on a device of another type or number in the same task where the
        one that it asks for does not exist or cannot run it.
      log: whether to print each node's device to stderr.
      cost: decides by estimated costs about what asks for nothing.
      earlier: where an earlier step of the session has had its stateful nodes, by name; see
        ``stateful_placement``.
      logged: names of nodes that are not to be logged again; those that are logged are added.

    Returns:
      The full device name of every node, those in blocks of regions too.

    Raises:
      tf.errors.InvalidArgumentError: a device that does not exist or cannot run a node, or nodes
        that must be together and ask for different devices.
    """
    default = default or devices[0].name.partition("/device:")[0]
    placed, passed_over = _on_one_device(step, devices), dict[str, str]()
    if placed is None:
        placing = Placing(step, devices, default, soft, cost, earlier)
        placed, passed_over = placing.result(), placing.passed_over
    if log:
        _log(placed, passed_over, set() if logged is None else logged)
    return placed


def stateful_placement(placement: Mapping[Operation, str]) -> dict[str, str]:
    """By name the devices of the nodes that must stay where they are in later steps."""
    return {op.name: device for op, device in placement.items() if keeps_its_device(op)}


def _on_one_device(
    step: StepGraph, devices: Sequence[DeviceAttributes]
) -> dict[Operation, str] | None:
    """The placement where there is nothing to choose: one device, and no node asks for another."""
    if len(devices) > 1:
        return None
    name = devices[0].name
    operations = [*step.every_operation()]
    if any(op.device and not matches(requested(op), name) for op in operations):
        return None
    return dict.fromkeys(operations, name)


def _log(
    placement: Mapping[Operation, str], passed_over: Mapping[str, str], logged: set[str]
) -> None:
    # Blocks name state and constants again: one line for each name.
    fresh = {op.name: op for op in reversed(list(placement)) if op.name not in logged}
    lines = [message for name, message in passed_over.items() if name in fresh]
    for name, op in reversed(fresh.items()):
        lines.append(f"{name}: ({op.type}): {placement[op]}")
    logged.update(fresh)
    if lines:
        print("\n".join(lines), file=sys.stderr)


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
          tf.errors.InvalidArgumentError: see ``place``.
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

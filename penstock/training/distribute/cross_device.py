"""How values of replicas are summed and spread: between devices, and between tasks.

In a task the reduction is nodes: AddN on one device, then an Identity on each that wants the sum.
Over tasks a ``CollectiveReduce`` stands between the two; each task takes part once.  Many small
gradients are packed: those of one dtype are laid end to end, in pieces of ``bytes_per_pack``, and
reduced together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.foundation.graph.build import make
from penstock.foundation.graph.composite import IndexedSlices
from penstock.foundation.graph.convert import convert_to_tensor
from penstock.ops.array import join, split
from penstock.ops.control import control
from penstock.ops.math import addn
from penstock.training.distribute.context import ReduceOp
from penstock.training.distribute.values import DistributedValues, DistributedVariable, Mirrored

_DEFAULT_PACK = 32 << 20
_FIRST_INSTANCE = 100


def destination_devices(destinations: Any) -> Sequence[str]:
    """The devices that a destination stands for: a device, a variable, or distributed values."""
    if isinstance(destinations, DistributedValues | DistributedVariable):
        return tuple(destinations.devices)
    if isinstance(destinations, str):
        return (destinations,)
    return (destinations.device,)


def _reduce_op(op: Any) -> ReduceOp:
    """A ReduceOp of what names one: older programs give ``"sum"`` or a VariableAggregation."""
    if isinstance(op, ReduceOp):
        return op
    if isinstance(op, str) and op.upper() in ReduceOp.__members__:
        return ReduceOp[op.upper()]
    return ReduceOp.from_variable_aggregation(op)


def summed(values: Sequence[Any], device: str) -> Any:
    """The sum of tensors, or of rows, made on ``device``."""
    with scopes.device(device):
        if any(isinstance(v, IndexedSlices) for v in values):
            return _joined(values)
        return addn.add_n([convert_to_tensor(v) for v in values])


def _joined(values: Sequence[Any]) -> Any:
    if not all(isinstance(v, IndexedSlices) for v in values):
        raise ValueError("replicas gave IndexedSlices and tensors for one gradient")
    if len(values) == 1:
        return values[0]
    rows = join.concat([v.values for v in values], 0)
    indices = join.concat([v.indices for v in values], 0)
    return IndexedSlices(rows, indices, values[0].dense_shape)


def divided(value: Any, count: int) -> Any:
    """A tensor, or rows, divided by ``count``."""
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / count, value.indices, value.dense_shape)
    return value / count


def spread(value: Any, devices: Sequence[str]) -> Mirrored:
    """A copy on each device."""
    copies = []
    for device in devices:
        with scopes.device(device):
            copies.append(control.identity(value))
    return Mirrored(copies, devices)


class CrossDeviceOps:
    """How a strategy sums and spreads values; subclasses say where and with what.

    ``reduce`` and ``broadcast`` check and convert; a subclass overrides the ``_implementation``
    methods.
    """

    def __init__(self) -> None:
        # Values that a task reduces before they meet those of others: see ``CollectiveAllReduce``.
        self._tasks = 1

    def reduce(self, reduce_op: Any, per_replica_value: Any, destinations: Any) -> Any:
        """The sum or mean of a value, on the devices of ``destinations``.

        Args:
          reduce_op: SUM or MEAN.
          per_replica_value: one value a replica.
          destinations: a device, a variable, or values on the devices that are meant.

        Returns:
          Mirrored values.
        """
        return self.reduce_implementation(_reduce_op(reduce_op), per_replica_value, destinations)

    def batch_reduce(self, reduce_op: Any, value_destination_pairs: Any) -> list[Any]:
        """As ``reduce``, of many values at once."""
        return self.batch_reduce_implementation(
            _reduce_op(reduce_op), list(value_destination_pairs)
        )

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """``tensor`` on each device of ``destinations``."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        """What ``reduce`` does."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it reduces")

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Any
    ) -> list[Any]:
        """What ``batch_reduce`` does; by default one after the other."""
        return [
            self.reduce_implementation(reduce_op, value, destinations)
            for value, destinations in value_destination_pairs
        ]

    def broadcast_implementation(self, tensor: Any, destinations: Any) -> Any:
        """What ``broadcast`` does."""
        return spread(tensor, destination_devices(destinations))


def _replica_values(value: Any) -> tuple[Any, ...]:
    return value.values if isinstance(value, DistributedValues) else (value,)


class ReductionToOneDevice(CrossDeviceOps):
    """Sums on one device and copies the result to those that want it.

    Args:
      reduce_to_device: where; default the first device that wants the result.
      accumulation_fn: sums a list of tensors; default ``tf.add_n``.
    """

    def __init__(self, reduce_to_device: str | None = None, accumulation_fn: Any = None) -> None:
        super().__init__()
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        """The sum on one device, then copies."""
        devices = destination_devices(destinations)
        values = _replica_values(per_replica_value)
        total = self._total(reduce_op, values, self.reduce_to_device or devices[0])
        return spread(total, devices)

    def _total(self, reduce_op: ReduceOp, values: Sequence[Any], device: str) -> Any:
        with scopes.device(device):
            if self.accumulation_fn is not None:
                total = self.accumulation_fn(list(values))
            else:
                total = summed(values, device)
            return divided(total, len(values)) if reduce_op is ReduceOp.MEAN else total


class AllReduceCrossDeviceOps(ReductionToOneDevice):
    """The all-reduce of a task's devices.

    The devices of one task share a program, in which the sum is one node and the copies are
    between neighbours; so the algorithms that TensorFlow chooses among here are one.

    Args:
      all_reduce_alg, num_packs, agg_small_grads_max_bytes, agg_small_grads_max_group: accepted for
        programs that set them; without effect in a task.
    """

    def __init__(
        self, all_reduce_alg: str = "nccl", num_packs: int = 1,
        agg_small_grads_max_bytes: int = 0, agg_small_grads_max_group: int = 10,
    ) -> None:  # fmt: skip
        if num_packs < 0:
            raise ValueError(f"num_packs must be at least 0; found {num_packs}")
        super().__init__()
        self._all_reduce_alg, self._num_packs = all_reduce_alg, num_packs
        self._agg_small_grads_max_bytes = agg_small_grads_max_bytes
        self._agg_small_grads_max_group = agg_small_grads_max_group


class NcclAllReduce(AllReduceCrossDeviceOps):
    """See ``AllReduceCrossDeviceOps``."""

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("nccl", num_packs)


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """See ``AllReduceCrossDeviceOps``."""

    def __init__(self, num_packs: int = 1) -> None:
        super().__init__("hierarchical_copy", num_packs)


class CollectiveKeys:
    """Numbers of groups and of their collectives; tasks that build equal graphs count alike.

    State, per graph: how many collectives it has.
    """

    def __init__(self, group_key: int) -> None:
        self.group_key = group_key

    def instance(self) -> int:
        """A number that no other collective of the graph has."""
        attached = scopes.get_default_graph().attached
        attached["distribute.collectives"] = count = attached.get("distribute.collectives", 0) + 1
        return int(_FIRST_INSTANCE + count)


class CollectiveAllReduce(ReductionToOneDevice):
    """Sums in the task, then with the other tasks by collective ops.

    Args:
      tasks: number of tasks.
      keys: numbers for the nodes.
      bytes_per_pack: tensors are packed into pieces of about this size; 0 packs nothing.
      communication_hint: "auto", "ring" or "nccl", as the op's attr.
    """

    def __init__(
        self, tasks: int, keys: CollectiveKeys, bytes_per_pack: int = _DEFAULT_PACK,
        communication_hint: str = "auto",
    ) -> None:  # fmt: skip
        super().__init__()
        self._tasks, self._keys, self._bytes = tasks, keys, bytes_per_pack
        self._hint = communication_hint

    def reduce_implementation(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any
    ) -> Any:
        """As of one pair."""
        return self.batch_reduce_implementation(reduce_op, [(per_replica_value, destinations)])[0]

    def batch_reduce_implementation(
        self, reduce_op: Any, value_destination_pairs: Any
    ) -> list[Any]:
        """Sums in the task, packed sums over tasks, copies to the devices."""
        totals = []
        for value, destinations in value_destination_pairs:
            device = destination_devices(destinations)[0]
            totals.append(self._total(ReduceOp.SUM, _replica_values(value), device))
        totals = self._over_tasks(totals)
        if reduce_op is ReduceOp.MEAN:
            totals = [
                divided(total, len(_replica_values(value)) * self._tasks)
                for total, (value, _) in zip(totals, value_destination_pairs, strict=True)
            ]
        return [
            spread(total, destination_devices(destinations))
            for total, (_, destinations) in zip(totals, value_destination_pairs, strict=True)
        ]

    def _over_tasks(self, values: list[Any]) -> list[Any]:
        if self._tasks == 1:
            return values
        result = list(values)
        for pack in self._packs(values):
            made = self._reduced([values[i] for i in pack])
            for i, value in zip(pack, made, strict=True):
                result[i] = value
        for i, value in enumerate(values):
            if isinstance(value, IndexedSlices):
                result[i] = IndexedSlices(
                    self._gathered(value.values), self._gathered(value.indices), value.dense_shape
                )
        return result

    def _packs(self, values: Sequence[Any]) -> list[list[int]]:
        """Which tensors are reduced together: of one dtype and device, of known shapes."""
        packs: list[list[int]] = []
        opened: dict[Any, tuple[list[int], int]] = {}
        for i, value in enumerate(values):
            if isinstance(value, IndexedSlices):
                continue
            count = value.shape.num_elements()
            if not self._bytes or count is None:
                packs.append([i])
                continue
            key = (value.dtype.base_dtype, value.device)
            pack, size = opened.get(key, ([], 0))
            if not pack or size >= self._bytes:
                pack, size = [], 0
                packs.append(pack)
            pack.append(i)
            opened[key] = (pack, size + count * value.dtype.size)
        return packs

    def _reduced(self, values: Sequence[Any]) -> list[Any]:
        with scopes.device(values[0].device or None):
            if len(values) == 1:
                return [self._collective(values[0])]
            flat = [make("Reshape", value, [-1]) for value in values]
            total = self._collective(join.concat(flat, 0))
            parts = split.split(total, [v.shape.num_elements() for v in values], 0)
            return [
                make("Reshape", part, value.shape.as_list())
                for part, value in zip(parts, values, strict=True)
            ]

    def _collective(self, value: Any) -> Any:
        return make(
            "CollectiveReduce", value, group_size=self._tasks, group_key=self._keys.group_key,
            instance_key=self._keys.instance(), merge_op="Add", final_op="Id", subdiv_offsets=[0],
            communication_hint=self._hint,
        )  # fmt: skip

    def _gathered(self, value: Any) -> Any:
        with scopes.device(value.device or None):
            return make(
                "CollectiveGather", value, group_size=self._tasks, group_key=self._keys.group_key,
                instance_key=self._keys.instance(), shape=value.shape,
                communication_hint=self._hint,
            )  # fmt: skip

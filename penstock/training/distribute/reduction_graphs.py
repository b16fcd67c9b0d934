"""What all-reduces are made of: values cut into chunks, and nodes that pass the chunks around.

A value is 1-D here; ``all_reduce`` flattens what it is given. Each node stands on the device of the
value that it works for, so that the partitioner puts the transfers where the algorithm has them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.graph import scopes
from penstock.ops.array import fill, join, reshape, slicing, split
from penstock.ops.control.control import identity

Chunks = list[list[Any]]
Unary = Callable[[Any], Any]


def flattened(tensors: Sequence[Any]) -> tuple[list[Any], Any]:
    """The values as 1-D ones, and the shape that they have.

    Raises:
      ValueError: there is none, or their shapes differ or are not known.
    """
    if not tensors:
        raise ValueError("tensors cannot be empty; found an empty list, allowed is one or more")
    shape = tensors[0].shape
    for each in tensors:
        shape = shape.merge_with(each.shape)
    if not shape.is_fully_defined():
        raise ValueError(f"Tensors must have statically known shape. found {shape}")
    return (list(tensors) if shape.ndims == 1 else _reshaped(tensors, [-1])), shape


def restored(tensors: list[Any], shape: Any) -> list[Any]:
    """1-D values in the shape that they had."""
    return tensors if shape.ndims == 1 else _reshaped(tensors, shape.as_list())


def _reshaped(tensors: Sequence[Any], shape: list[int]) -> list[Any]:
    return on_own_devices(lambda tensor: reshape.reshape(tensor, shape), tensors)


def on_own_devices(function: Unary, tensors: Sequence[Any]) -> list[Any]:
    """A function of each value, on the device of the value."""
    found = []
    for tensor in tensors:
        with scopes.device(tensor.device):
            found.append(function(tensor))
    return found


def by_task(tensors: Sequence[Any]) -> list[list[int]]:
    """The positions of the values of each task, tasks in the order of their first value.

    Raises:
      AssertionError: a value's device names no task.
    """
    found: dict[tuple[Any, int], list[int]] = {}
    for position, tensor in enumerate(tensors):
        spec = DeviceSpec.from_string(tensor.device)
        if spec.task is None:
            raise AssertionError(
                f"failed to parse device {tensor.device!r} of {tensor.name}: values are reduced"
                " task by task, allowed are devices that name one, as '/job:worker/task:0/gpu:0'"
            )
        found.setdefault((spec.job, spec.task), []).append(position)
    return list(found.values())


class Ring(NamedTuple):
    """Rings of devices, one for each subchunk: who comes before a device, and its rank."""

    before: list[list[int]]
    ranks: list[list[int]]

    @property
    def devices(self) -> int:
        """How many devices each ring has."""
        return len(self.ranks[0])

    @property
    def subchunks(self) -> int:
        """How many rings there are."""
        return len(self.ranks)

    def steps(self, behind: int) -> list[tuple[int, int, int]]:
        """In one tick, every device, the one before it, and the chunk that goes between them.

        Args:
          behind: how many ranks behind its own the chunk of a device is.
        """
        return [
            (device, self.before[sub][device], self._chunk(sub, device, behind))
            for device in range(self.devices)
            for sub in range(self.subchunks)
        ]

    def _chunk(self, sub: int, device: int, behind: int) -> int:
        return (self.ranks[sub][device] - behind) % self.devices * self.subchunks + sub


def ring_of(num_workers: int, num_subchunks: int, gpu_perm: Sequence[int]) -> Ring:
    """Rings through the workers, each turned a bit further within them than the one before.

    Args:
      num_workers: how many workers there are.
      num_subchunks: how many rings.
      gpu_perm: the order of a worker's devices in the first ring.

    Raises:
      ValueError: there are more rings than devices of a worker.
    """
    gpus = len(gpu_perm)
    if num_subchunks > gpus:
        raise ValueError(f"num_subchunks {num_subchunks} must be <= num_gpus {gpus}")
    turns = (sub * (gpus // num_subchunks) for sub in range(num_subchunks))
    orders = [_order([*gpu_perm[turn:], *gpu_perm[:turn]], num_workers) for turn in turns]
    count = range(gpus * num_workers)
    ranks = [[order.index(device) for device in count] for order in orders]
    before = [[order[rank - 1] for rank in each] for order, each in zip(orders, ranks, strict=True)]
    return Ring(before, ranks)


def _order(gpus: list[int], workers: int) -> list[int]:
    return [gpu + worker * len(gpus) for worker in range(workers) for gpu in gpus]


def padded_chunks(tensors: Sequence[Any], pieces: int) -> Chunks:
    """Each value in chunks of one size, the last filled up with zeros."""
    return on_own_devices(lambda tensor: split.split(_padded(tensor, pieces), pieces), tensors)


def _padded(tensor: Any, pieces: int) -> Any:
    missing = -tensor.shape.num_elements() % pieces
    if not missing:
        return tensor
    return join.concat([tensor, fill.zeros([missing], tensor.dtype)], 0)


def without_padding(tensors: list[Any], size: int) -> list[Any]:
    """The first ``size`` numbers of each value."""
    if tensors[0].shape.num_elements() == size:
        return tensors
    return on_own_devices(lambda tensor: slicing.slice_(tensor, [0], [size]), tensors)


def reduced_along(ring: Ring, chunks: Chunks, red_op: Any) -> Chunks:
    """The chunks after a pass along the rings: of each, one device has the reduced one."""
    devices = [own[0].device for own in chunks]
    for tick in range(ring.devices - 1):
        after = [list(own) for own in chunks]
        for device, before, chunk in ring.steps(2 + tick):
            with scopes.device(devices[device]):
                after[device][chunk] = red_op(chunks[before][chunk], chunks[device][chunk])
        chunks = after
    return chunks


def spread_along(ring: Ring, chunks: Chunks) -> list[Any]:
    """The values after reduced chunks were passed along the rings."""
    devices = [own[0].device for own in chunks]
    for tick in range(ring.devices - 1):
        after = [list(own) for own in chunks]
        for device, before, chunk in ring.steps(1 + tick):
            with scopes.device(devices[device]):
                after[device][chunk] = identity(chunks[before][chunk])
        chunks = after
    return [_joined(own, device) for own, device in zip(chunks, devices, strict=True)]


def _joined(chunks: list[Any], device: str) -> Any:
    with scopes.device(device):
        return join.concat(chunks, 0)


def reduced_in_halves(tensors: list[Any], red_op: Any) -> list[Any]:
    """Pairs of values, further apart each round, where each side reduces one half for both."""
    devices, found, distance = [each.device for each in tensors], list(tensors), 1
    while distance < len(found):
        for one, other in _pairs(len(found), distance):
            halves = zip(split.split(found[one], 2), split.split(found[other], 2), strict=True)
            for device, half in zip((one, other), list(halves), strict=True):
                with scopes.device(devices[device]):
                    found[device] = red_op(*half)
        distance *= 2
    return found


def doubled(parts: list[Any], devices: Sequence[str]) -> list[Any]:
    """What ``reduced_in_halves`` leaves, joined pair by pair to whole values."""
    found, distance = list(parts), len(parts) // 2
    while distance:
        for pair in _pairs(len(found), distance):
            halves = [found[device] for device in pair]
            for device in pair:
                found[device] = _joined(halves, devices[device])
        distance //= 2
    return found


def _pairs(count: int, distance: int) -> list[tuple[int, int]]:
    return [(each, each + distance) for each in range(count) if not each // distance % 2]


def gathered(
    tensors: Sequence[Any], devices: Sequence[str], red_op: Any, un_op: Unary | None
) -> list[Any]:
    """Shards of the values, each reduced on a device of its own."""
    shards = on_own_devices(lambda tensor: _shards(tensor, len(devices)), tensors)
    found = []
    for device, each in zip(devices, zip(*shards, strict=True), strict=True):
        with scopes.device(device):
            reduced = red_op(list(each))
            found.append(un_op(reduced) if un_op else reduced)
    return found


def _shards(tensor: Any, count: int) -> Any:
    size = tensor.shape.num_elements()
    if size % count == 0:
        return split.split(tensor, count)
    each = size // count
    return split.split(tensor, [*[each] * (count - 1), size - each * (count - 1)])


def scattered(shards: list[Any], devices: Sequence[str]) -> list[Any]:
    """The shards joined on each device."""
    return [_joined(shards, device) for device in devices]

"""All-reduces as nodes: every device gets the reduction of the values of all.

The functions that TensorFlow has in ``python/distribute/all_reduce.py``. Which is quickest is a
question of what joins the devices: a ring sends least, halving and doubling takes fewest rounds,
a shuffle reduces each shard in one place. NVIDIA's library is not called by nodes here: where
TensorFlow's functions use it within a task, its sum is an AddN and its broadcast Identity nodes,
on any device.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from penstock.foundation.graph import scopes
from penstock.ops.control.control import identity
from penstock.ops.math.addn import add_n
from penstock.ops.math.sums import add
from penstock.training.distribute import reduction_graphs as graphs

Tensors = Sequence[Any]
Unary = Callable[[Any], Any] | None


def build_ring_all_reduce(
    input_tensors: Tensors,
    num_workers: int,
    num_subchunks: int,
    gpu_perm: Sequence[int],
    red_op: Any,
    un_op: Unary = None,
) -> list[Any]:
    """Reduces along rings: each device works on one chunk for each ring at a time.

    Args:
      input_tensors: a value for each device, those of a worker after one another; of one dtype and
        one known shape.
      num_workers: how many workers there are.
      num_subchunks: how many rings, at most as many as devices of a worker.
      gpu_perm: the order of a worker's devices in a ring.
      red_op: reduces two values, as ``tf.add``.
      un_op: what is done with reduced values; for a mean ``lambda x: x / n``.

    Returns:
      The reduction, for each device.

    Raises:
      ValueError: there are fewer than two values or other than workers' devices, their shapes
        differ or are not known, or there are too many rings.

    Example:
      >>> import penstock as tf
      >>> from penstock.python.distribute.all_reduce import build_ring_all_reduce
      >>> with tf.Graph().as_default(), tf.Session() as session:
      ...     values = [tf.constant([1, 2, 3]), tf.constant([10, 20, 30])]
      ...     session.run(build_ring_all_reduce(values, 1, 1, [0, 1], tf.add))
      [array([11, 22, 33], dtype=int32), array([11, 22, 33], dtype=int32)]
    """
    if len(input_tensors) < 2:
        raise ValueError(
            f"input_tensors must be length 2 or longer; found {len(input_tensors)} in"
            " build_ring_all_reduce"
        )
    flat, shape = graphs.flattened(input_tensors)
    ring = graphs.ring_of(num_workers, num_subchunks, gpu_perm)
    if ring.devices != len(flat):
        raise ValueError(
            f"build_ring_all_reduce: {num_workers} workers with {len(gpu_perm)} devices each need"
            f" {ring.devices} input_tensors; found {len(flat)}"
        )
    chunks = graphs.padded_chunks(flat, ring.devices * num_subchunks)
    chunks = graphs.reduced_along(ring, chunks, red_op)
    if un_op:
        chunks = [graphs.on_own_devices(un_op, own) for own in chunks]
    whole = graphs.spread_along(ring, chunks)
    return graphs.restored(graphs.without_padding(whole, shape.num_elements()), shape)


def build_recursive_hd_all_reduce(
    input_tensors: Tensors, red_op: Any, un_op: Unary = None
) -> list[Any]:
    """Reduces by halving and doubling: pairs of devices reduce halves, then halves of halves.

    Args:
      input_tensors: a value for each device, a power of two of them, of one dtype and one known
        shape whose size that power divides.
      red_op, un_op: as of ``build_ring_all_reduce``.

    Returns:
      The reduction, for each device.

    Raises:
      ValueError: the number of values is no power of two, or does not divide their size.
    """
    devices = [each.device for each in input_tensors]
    flat, shape = graphs.flattened(input_tensors)
    if len(flat) & (len(flat) - 1):
        raise ValueError(
            f"num_devices must be a power of 2; found {len(flat)} input_tensors in"
            " build_recursive_hd_all_reduce"
        )
    parts = graphs.reduced_in_halves(flat, red_op)
    if un_op:
        parts = [un_op(each) for each in parts]
    return graphs.restored(graphs.doubled(parts, devices), shape)


def build_shuffle_all_reduce(
    input_tensors: Tensors, gather_devices: Sequence[str], red_op: Any, un_op: Unary = None
) -> list[Any]:
    """Reduces shards of the values, each in one place, as parameter servers would.

    Args:
      input_tensors: a value for each device, of one dtype and one known shape.
      gather_devices: where shards are reduced, one each.
      red_op: reduces a list of values, as ``tf.add_n``.
      un_op: as of ``build_ring_all_reduce``.

    Returns:
      The reduction, for each device.

    Raises:
      ValueError: there are no values or no ``gather_devices``, or shapes differ or are not known.
    """
    devices = [each.device for each in input_tensors]
    flat, shape = graphs.flattened(input_tensors)
    if not gather_devices:
        raise ValueError("build_shuffle_all_reduce: gather_devices is empty; needs one or more")
    shards = graphs.gathered(flat, gather_devices, red_op, un_op)
    return graphs.restored(graphs.scattered(shards, devices), shape)


def build_nccl_all_reduce(input_tensors: Tensors, red_op: Any, un_op: Unary = None) -> list[Any]:
    """Sums the values of one task's devices.

    Args:
      input_tensors: a value for each device, of one dtype and shape.
      red_op: ``tf.add``.
      un_op: as of ``build_ring_all_reduce``.

    Returns:
      The sum, for each device.

    Raises:
      ValueError: another ``red_op``, or there are no values.
    """
    whole = [_summed(input_tensors, red_op)] * len(input_tensors)
    spread = _spread(whole, [each.device for each in input_tensors])
    return graphs.on_own_devices(un_op, spread) if un_op else spread


def _summed(tensors: Tensors, red_op: Any) -> Any:
    if inspect.unwrap(red_op) is not add:  # the public one takes ragged tensors as well
        raise ValueError(f"red_op not supported by NCCL all-reduce: {red_op}; allowed is tf.add")
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations; found none")
    with scopes.device(tensors[0].device):
        return add_n(list(tensors))


def _spread(values: Tensors, devices: Sequence[str]) -> list[Any]:
    found = []
    for value, device in zip(values, devices, strict=True):
        with scopes.device(device):
            found.append(identity(value))
    return found


def _nccl_hybrid(
    input_tensors: Tensors, red_op: Any, across: Callable[[Tensors], Any]
) -> list[Any]:
    devices = [each.device for each in input_tensors]
    flat, shape = graphs.flattened(input_tensors)
    tasks = graphs.by_task(flat)
    sums = across([_summed([flat[each] for each in task], red_op) for task in tasks])
    of_value = {each: value for task, value in zip(tasks, sums, strict=True) for each in task}
    whole = _spread([of_value[each] for each in range(len(flat))], devices)
    return graphs.restored(whole, shape)


def _several(
    values: Tensors, reduce: Callable[[Tensors], list[Any]], un_op: Unary
) -> Sequence[Any]:
    """The reduction over tasks; of one task there is nothing to reduce."""
    if len(values) > 1:
        return reduce(values)
    return graphs.on_own_devices(un_op, values) if un_op else values


def _ring_of_tasks(subdiv: int, red_op: Any, un_op: Unary) -> Callable[[Tensors], Any]:
    def across(values: Tensors) -> list[Any]:
        return build_ring_all_reduce(values, len(values), subdiv, [0], red_op, un_op)

    return lambda values: _several(values, across, un_op)


def _shuffle_of_tasks(
    devices: Sequence[str], red_op: Any, un_op: Unary
) -> Callable[[Tensors], Any]:
    def across(values: Tensors) -> list[Any]:
        return build_shuffle_all_reduce(values, devices, red_op, un_op)

    return lambda values: _several(values, across, un_op)


def build_nccl_then_ring(
    input_tensors: Tensors, subdiv: int, red_op: Any, un_op: Unary = None
) -> list[Any]:
    """Sums within each task, along a ring over the tasks, and gives each device the result.

    Args:
      input_tensors: as of ``build_ring_all_reduce``; their devices name tasks.
      subdiv: how many rings; 1.
      red_op, un_op: as of ``build_nccl_all_reduce``.
    """
    return _nccl_hybrid(input_tensors, red_op, _ring_of_tasks(subdiv, red_op, un_op))


def build_nccl_then_recursive_hd(
    input_tensors: Tensors, red_op: Any, un_op: Unary = None
) -> list[Any]:
    """Sums within each task, over the tasks by halving and doubling, then spreads the result.

    Args:
      input_tensors: as of ``build_recursive_hd_all_reduce``, a power of two of tasks.
      red_op, un_op: as of ``build_nccl_all_reduce``.
    """

    def across(values: Tensors) -> list[Any]:
        return build_recursive_hd_all_reduce(values, red_op, un_op)

    return _nccl_hybrid(input_tensors, red_op, across)


def build_nccl_then_shuffle(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    nccl_red_op: Any,
    shuffle_red_op: Any,
    un_op: Unary = None,
) -> list[Any]:
    """Sums within each task, over the tasks by a shuffle, and gives each device the result.

    Args:
      input_tensors, gather_devices: as of ``build_shuffle_all_reduce``.
      nccl_red_op: ``tf.add``.
      shuffle_red_op, un_op: as of ``build_shuffle_all_reduce``.
    """
    across = _shuffle_of_tasks(gather_devices, shuffle_red_op, un_op)
    return _nccl_hybrid(input_tensors, nccl_red_op, across)


def _shuffle_hybrid(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    red_op: Any,
    across: Callable[[Tensors], Any],
) -> list[Any]:
    devices = [each.device for each in input_tensors]
    flat, shape = graphs.flattened(input_tensors)
    tasks = graphs.by_task(flat)
    if len(gather_devices) != len(tasks):
        raise ValueError(
            "For shuffle hybrid, gather_devices must contain one device per worker."
            f" found {len(gather_devices)} devices, {len(tasks)} workers"
        )
    sums = []
    for task, device in zip(tasks, gather_devices, strict=True):
        sums += graphs.gathered([flat[each] for each in task], [device], red_op, None)
    whole: dict[int, Any] = {}
    for task, value in zip(tasks, across(sums), strict=True):
        spread = graphs.scattered([value], [devices[each] for each in task])
        whole.update(zip(task, spread, strict=True))
    return graphs.restored([whole[each] for each in range(len(flat))], shape)


def build_shuffle_then_ring(
    input_tensors: Tensors,
    gather_devices: Sequence[str],
    subdiv: int,
    red_n_op: Any,
    red_op: Any,
    un_op: Unary = None,
) -> list[Any]:
    """Reduces in one place of each task, along a ring over the tasks, then spreads the result.

    Args:
      input_tensors: as of ``build_ring_all_reduce``; their devices name tasks.
      gather_devices: where each task reduces, tasks in the order of their first value.
      subdiv: how many rings; 1.
      red_n_op: reduces a list of values, as ``tf.add_n``.
      red_op, un_op: as of ``build_ring_all_reduce``.

    Raises:
      ValueError: ``gather_devices`` are not one for each task.
    """
    across = _ring_of_tasks(subdiv, red_op, un_op)
    return _shuffle_hybrid(input_tensors, gather_devices, red_n_op, across)


def build_shuffle_then_shuffle(
    input_tensors: Tensors,
    first_gather_devices: Sequence[str],
    second_gather_devices: Sequence[str],
    red_op: Any,
    un_op: Unary = None,
) -> list[Any]:
    """Reduces in one place of each task, then shards of that over the tasks, and spreads both.

    Args:
      input_tensors: as of ``build_shuffle_then_ring``.
      first_gather_devices: where each task reduces, tasks in the order of their first value.
      second_gather_devices, red_op, un_op: as of ``build_shuffle_all_reduce``.

    Raises:
      ValueError: ``first_gather_devices`` are not one for each task.
    """
    across = _shuffle_of_tasks(second_gather_devices, red_op, un_op)
    return _shuffle_hybrid(input_tensors, first_gather_devices, red_op, across)

"""Which parameter server has which variable: ``replica_device_setter`` and its strategies.

A strategy maps an operation to the number of a task.  Every worker builds the same graph and must
come to the same answer, so a strategy depends on nothing but the variables that it has been asked
about, in their order: no clock, no load of a running server, no unseeded draw.

The default, ``BalancedStrategy``, is TensorFlow's round robin as long as variables are small or
alike, and looks at their sizes where these matter.

State: of a strategy, what it has given to each task so far.
"""

from __future__ import annotations

import hashlib
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.foundation.base import dtypes
from penstock.foundation.base.devices import DeviceSpec
from penstock.foundation.graph.operation import Operation

# From this size on a variable goes to the task that has least, in bytes.
LARGE_BYTES = 1 << 20

# Op types whose nodes hold what parameter servers are for.
STANDARD_PS_OPS = (
    "Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
    "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
)  # fmt: skip

_log = logging.getLogger("penstock")


def byte_size_load_fn(op: Any) -> int:
    """The bytes of a variable's value, for ``GreedyLoadBalancingStrategy``.

    A resource variable counts as much as a reference variable; in TensorFlow 1.15 it counts one
    byte, that of its handle.

    Args:
      op: an operation with one output.

    Returns:
      The number of bytes.

    Raises:
      ValueError: the shape is not fully known, or there is not one output.
    """
    if len(op.outputs) != 1:
        raise ValueError(f"{op.name!r} has {len(op.outputs)} outputs; allowed is one")
    size = _byte_size(op)
    if size is None:
        raise ValueError(
            f"the shape of {op.name!r} is not fully defined, so its size in bytes is not known"
        )
    return size


class RoundRobinStrategy:
    """Gives one task after the other, whatever is asked about; TensorFlow's default.

    Args:
      num_tasks: how many there are.
    """

    def __init__(self, num_tasks: int) -> None:
        self._num_tasks = num_tasks
        self._next = 0

    def __call__(self, op: Any) -> int:
        task = self._next
        self._next = (task + 1) % self._num_tasks
        return task


class BalancedStrategy:
    """Round robin for small variables; a large one goes to the task that has the fewest bytes.

    Large is ``LARGE_BYTES`` and more.  Of tasks with equally few, round robin's next is taken; so
    where variables are alike, small or large, the answers are round robin's.  A variable whose size
    is not known counts nothing.

    Args:
      num_tasks: how many there are.

    Example:
      Weights of 4 MB, their bias, weights of 4 MB, on two tasks.  Round robin would give both
      weights to task 0; here the second weights go to task 1:

      >>> import penstock as tf
      >>> strategy = BalancedStrategy(2)
      >>> with tf.Graph().as_default():
      ...     shapes = [1024, 1024], [1024], [1024, 1024]
      ...     [strategy(tf.Variable(tf.zeros(shape)).op) for shape in shapes]
      [0, 1, 1]
    """

    def __init__(self, num_tasks: int) -> None:
        self._bytes = [0] * num_tasks
        self._next = 0

    def __call__(self, op: Any) -> int:
        count = len(self._bytes)
        size = _byte_size(op) or 0
        task = self._next
        if size >= LARGE_BYTES:
            task = min(range(count), key=lambda t: (self._bytes[t], (t - self._next) % count))
        self._next = (self._next + 1) % count
        self._bytes[task] += size
        return task


class GreedyLoadBalancingStrategy:
    """Gives the task whose load is least, the first of those that are equal.

    Args:
      num_tasks: how many there are.
      load_fn: from an operation to the load that it is, such as ``byte_size_load_fn``.
    """

    def __init__(self, num_tasks: int, load_fn: Callable[[Any], float]) -> None:
        self._loads = [0.0] * num_tasks
        self._load_fn = load_fn

    def __call__(self, op: Any) -> int:
        task = self._loads.index(min(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


class RandomStrategy:
    """Draws a task by the operation's name: the same in every process.

    Args:
      num_ps_tasks: how many there are.
      seed: another seed draws others.
    """

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._num_tasks = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Any) -> int:
        digest = hashlib.md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False).digest()
        return int.from_bytes(digest, "big") % self._num_tasks


class _ReplicaDeviceChooser:
    """The device function of ``replica_device_setter``."""

    def __init__(
        self,
        ps_device: str | None,
        worker_device: str | None,
        merge_devices: bool,
        ps_ops: Sequence[str],
        ps_strategy: Callable[[Any], int],
    ) -> None:
        self._ps_device = DeviceSpec.from_string(ps_device) if ps_device else None
        self._worker_device = DeviceSpec.from_string(worker_device or "")
        self._merge_devices = merge_devices
        self._ps_ops = frozenset(ps_ops)
        self._ps_strategy = ps_strategy

    def device_function(self, op: Any) -> str:
        """The device of a node: what it asks for already, completed.

        Args:
          op: an operation, or a NodeDef.
        """
        if not self._merge_devices and op.device:
            return str(op.device)
        asked = DeviceSpec.from_string(op.device or "")
        op_type = op.type if isinstance(op, Operation) else op.op
        chosen = self._worker_device
        if self._ps_device is not None and op_type in self._ps_ops:
            chosen, job = self._ps_device, self._ps_device.job
            if job and asked.job in (None, job):
                chosen = chosen.replace(task=self._ps_strategy(op))
        return chosen.make_merged_spec(asked).to_string()


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str | None = "/job:ps",
    worker_device: str | None = "/job:worker",
    merge_devices: bool = True,
    cluster: Any = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], str] | None:
    """A device function for ``tf.device``: variables to parameter servers, the rest to the worker.

    Args:
      ps_tasks: how many tasks the job of ``ps_device`` has; ``cluster`` tells it too.
      ps_device: where variables go; where it names a job, with the task that the strategy gives.
      worker_device: where everything else goes.
      merge_devices: whether nodes that ask for a part of a device have the rest filled in; without
        it they are left alone.
      cluster: a ``ClusterSpec``, a ``ClusterDef``, or a dict from job names to tasks.
      ps_ops: the op types that count as variables; by default those of variables and tables.
      ps_strategy: from an operation to the number of its task; by default ``BalancedStrategy``,
        which is round robin but for variables of at least 1 MB: such a one goes to the server that
        has the fewest bytes.  Every worker must build the same variables in the same order.

    Returns:
      The function, or None where there are no parameter servers.

    Raises:
      TypeError: ``cluster`` or ``ps_strategy`` is something else.

    Example:
      >>> import penstock as tf
      >>> place = tf.train.replica_device_setter(cluster={"ps": ["a:1", "b:1"], "worker": ["c:1"]})
      >>> with tf.Graph().as_default(), tf.device(place):
      ...     v, w = tf.Variable(1.0), tf.Variable(2.0)
      ...     v.device, w.device, (v + w).device
      ('/job:ps/task:0', '/job:ps/task:1', '/job:worker')
    """
    if cluster is not None:
        job = DeviceSpec.from_string(ps_device or "").job
        ps_tasks = _tasks_by_job(cluster).get(job or "", 0)
    if not ps_tasks:
        return None
    if not merge_devices:
        _log.warning("replica_device_setter: merge_devices=False is deprecated")
    if ps_strategy is None:
        ps_strategy = BalancedStrategy(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError(f"ps_strategy must be callable; found {ps_strategy!r}")
    types = STANDARD_PS_OPS if ps_ops is None else ps_ops
    chooser = _ReplicaDeviceChooser(ps_device, worker_device, merge_devices, types, ps_strategy)
    return chooser.device_function


def _tasks_by_job(cluster: Any) -> dict[str, int]:
    """How many tasks each job of a cluster has."""
    if hasattr(cluster, "as_dict"):
        cluster = cluster.as_dict()
    if isinstance(cluster, Mapping):
        return {str(job): 1 if isinstance(t, str) else len(t) for job, t in cluster.items()}
    if hasattr(cluster, "job"):
        return {job.name: len(job.tasks) for job in cluster.job}
    raise TypeError(
        "`cluster` must be a dictionary from job names to tasks, a `ClusterDef` or a `ClusterSpec`;"
        f" found {cluster!r}"
    )


def _byte_size(op: Any) -> int | None:
    """Bytes of what a node makes, or of the variable it holds; None where these are not known."""
    outputs: Sequence[Any] = getattr(op, "outputs", ())
    if len(outputs) == 1 and outputs[0].dtype is not dtypes.resource:
        shape = outputs[0].shape
        if shape.is_fully_defined():
            return _bytes_of(shape.as_list(), outputs[0].dtype)
    try:
        message, dtype = op.get_attr("shape"), dtypes.as_dtype(op.get_attr("dtype"))
    except (AttributeError, ValueError):
        return None
    if message.unknown_rank or any(dim.size < 0 for dim in message.dim):
        return None
    return _bytes_of([dim.size for dim in message.dim], dtype)


def _bytes_of(dims: Sequence[int], dtype: dtypes.DType) -> int:
    return math.prod(dims) * int(dtype.size)

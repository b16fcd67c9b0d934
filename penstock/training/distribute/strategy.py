"""``tf.distribute.Strategy``: what all strategies share; the default strategy; replica contexts.

A ``Strategy`` is what users call; its ``extended`` has what libraries call, and is what kinds of
strategies override: where variables are made, how replicas run, how their values are reduced.
Strategies hold no state of a graph; they may be used in several.
"""

from __future__ import annotations

import enum
from contextlib import nullcontext
from typing import Any

from penstock.foundation.graph import nest, scopes
from penstock.library.autodiff import custom
from penstock.ops.array import cast, shape, slicing
from penstock.ops.control import control
from penstock.ops.math import reduction
from penstock.training.data import dataset
from penstock.training.distribute import context, input, modes
from penstock.training.distribute.context import ReduceOp
from penstock.training.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice
from penstock.training.distribute.extended import StrategyExtended
from penstock.training.distribute.values import select


class InputReplicationMode(enum.Enum):
    """How often an input function is called: once a worker."""

    PER_WORKER = "PER_WORKER"


class Strategy:
    """Where variables live and how often a training step runs; see its subclasses.

    Args:
      extended: the part that kinds of strategies differ in.
    """

    def __init__(self, extended: StrategyExtended) -> None:
        self._extended = extended

    @property
    def extended(self) -> StrategyExtended:
        """What libraries use."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """Replicas whose gradients make one update, on all tasks."""
        return self._extended._num_replicas_in_sync

    def scope(self) -> Any:
        """A ``with`` block in which variables are made as this strategy makes them."""
        return self._extended._scope(self)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """Deprecated; ``extended.colocate_vars_with``."""
        return self._extended.colocate_vars_with(colocate_with_variable)

    def experimental_run_v2(self, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls ``fn`` once for each replica of this task.

        Args:
          fn: makes the nodes of one replica.
          args, kwargs: for ``fn``; PerReplica values among them are taken apart.

        Returns:
          The nesting that ``fn`` returns, of PerReplica values (of one replica: what it returned).

        Example:
          >>> import penstock as tf
          >>> strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
          >>> def replica():
          ...     return tf.distribute.get_replica_context().replica_id_in_sync_group
          >>> with tf.Graph().as_default(), strategy.scope():
          ...     ids = strategy.experimental_run_v2(replica)
          ...     total = strategy.reduce(tf.distribute.ReduceOp.SUM, ids)
          ...     with tf.Session(config=strategy.update_config_proto(tf.ConfigProto())) as sess:
          ...         int(sess.run(total))
          1
        """
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    # The name since TensorFlow 2.2.
    run = experimental_run_v2

    def experimental_run(self, fn: Any, input_iterator: Any = None) -> Any:
        """As ``experimental_run_v2``, of one element of ``input_iterator``."""
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
            return self.experimental_run_v2(fn, args=args)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None = None) -> Any:
        """The sum or mean of what the replicas returned.

        Args:
          reduce_op: ``tf.distribute.ReduceOp.SUM`` or ``MEAN``.
          value: PerReplica values, or what is equal on all.
          axis: also reduce along this axis of each value; MEAN is then of all elements.

        Returns:
          A tensor.
        """
        op = ReduceOp[reduce_op.upper()] if isinstance(reduce_op, str) else reduce_op
        if axis is None:
            return self._extended._reduce(op, value)
        return self._reduce_axis(op, value, axis)

    def _reduce_axis(self, op: ReduceOp, value: Any, axis: int) -> Any:
        def sums(x: Any) -> Any:
            return reduction.reduce_sum(x, axis)

        total = self._extended._reduce(ReduceOp.SUM, self.experimental_run_v2(sums, (value,)))
        if op is ReduceOp.SUM:
            return total

        def counts(x: Any) -> Any:
            return cast.cast(slicing.getitem(shape.shape(x), axis), total.dtype.base_dtype)

        count = self._extended._reduce(ReduceOp.SUM, self.experimental_run_v2(counts, (value,)))
        return total / count

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this task, as a tuple."""
        return self._extended._local_results(value)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """Deprecated name of ``experimental_local_results``."""
        return self._extended._local_results(value)

    def group(self, value: Any, name: str | None = None) -> Any:
        """One operation that runs what all replicas returned."""
        return control.group(*self._extended._local_results(value), name=name)

    # ---- input -------------------------------------------------------------------------------

    def make_dataset_iterator(self, dataset: Any) -> Any:
        """An iterator over ``dataset``; each replica gets its rows of each (global) batch."""
        return input.DistributedDataset(self, dataset).make_initializable_iterator()

    def make_input_fn_iterator(
        self, input_fn: Any, replication_mode: Any = InputReplicationMode.PER_WORKER
    ) -> Any:
        """An iterator over what ``input_fn(InputContext)`` gives, a batch for each replica.

        Raises:
          ValueError: another replication mode than PER_WORKER.
        """
        if replication_mode is not InputReplicationMode.PER_WORKER:
            raise ValueError(f"only InputReplicationMode.PER_WORKER; found {replication_mode!r}")
        dataset = self.experimental_distribute_datasets_from_function(input_fn)
        return dataset.make_initializable_iterator()

    def experimental_distribute_dataset(self, dataset: Any) -> Any:
        """``dataset`` of global batches, of which each replica gets its rows.

        Every task reads the whole data set, and takes its own rows of each batch.

        Args:
          dataset: a batched ``tf.data.Dataset``.

        Returns:
          A dataset: ``make_one_shot_iterator``, ``make_initializable_iterator``.
        """
        return input.DistributedDataset(self, dataset)

    def experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        """The data set that ``dataset_fn(InputContext)`` makes, already in replicas' batches."""
        return input.DatasetOfReplicas(self, dataset_fn(self._extended.input_context()))

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """A data set of the rows of arrays (a nesting of them)."""
        return dataset.Dataset.from_tensor_slices(numpy_input)

    # ---- sessions ----------------------------------------------------------------------------

    def configure(
        self, session_config: Any = None, cluster_spec: Any = None, task_type: Any = None,
        task_id: Any = None,
    ) -> None:  # fmt: skip
        """Sets what is known when a session is made; nothing to set here."""
        if session_config is not None:
            self._extended._update_config_proto(session_config)

    def update_config_proto(self, config_proto: Any) -> Any:
        """A copy of ``config_proto`` with what this strategy needs of a session."""
        updated = type(config_proto)()
        updated.CopyFrom(config_proto)
        self._extended._update_config_proto(updated)
        return updated


class DefaultStrategy(Strategy):
    """What holds outside any strategy: one replica, ordinary variables."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

    def replica_context(self) -> ReplicaContext:
        return ReplicaContext(self, 0)

    @property
    def num_replicas_in_sync(self) -> int:
        """1."""
        return 1

    def scope(self) -> Any:
        """Nothing changes in this scope."""
        return nullcontext(self)


class _DefaultExtended(StrategyExtended):
    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Wherever nodes are placed."""
        return ("",)

    def colocate_vars_with(self, colocate_with_variable: Any) -> Any:
        """With that variable."""
        return scopes.colocate_with(colocate_with_variable)

    def call_for_each_replica(self, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls it, in the default context."""
        return fn(*args, **(kwargs or {}))

    def _cross_device_ops_for(self) -> CrossDeviceOps:
        return ReductionToOneDevice()

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any) -> Any:
        """The value itself."""
        return value

    def _reduce(self, reduce_op: Any, value: Any) -> Any:
        return value


class ReplicaContext:
    """What a function that runs once a replica knows about its replica.

    Args:
      strategy: the strategy.
      replica_id_in_sync_group: the replica's number, an int32 scalar (an int outside strategies).
    """

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any) -> None:
        self._strategy, self._replica_id = strategy, replica_id_in_sync_group
        # Set by what runs the replica: its number on this task, and its thread.
        self.local_index = 0
        self.worker_thread: Any = None

    def __enter__(self) -> ReplicaContext:
        self._entered = modes.entered(self._strategy, self)
        self._entered.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:
        self._entered.__exit__(*exc)

    @property
    def strategy(self) -> Any:
        """The strategy."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """Replicas whose gradients make one update."""
        return int(self._strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self) -> Any:
        """This replica's number among them."""
        return self._replica_id

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices of this replica: one."""
        return (self._strategy.extended.worker_devices[self.local_index],)

    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Stops until all replicas of this task are here, and calls ``merge_fn`` once.

        Args:
          merge_fn: called as ``merge_fn(strategy, *args, **kwargs)`` in the cross-replica context,
            with the PerReplica values of what the replicas gave.
          args, kwargs: this replica's.

        Returns:
          This replica's part of what ``merge_fn`` returns.
        """
        if self.worker_thread is not None:
            return self.worker_thread.merge_call(merge_fn, args, kwargs)
        if self._strategy is context.default_strategy():
            return merge_fn(self._strategy, *args, **(kwargs or {}))
        with modes.entered(self._strategy):
            return select(self.local_index, merge_fn(self._strategy, *args, **(kwargs or {})))

    def all_reduce(self, reduce_op: Any, value: Any) -> Any:
        """The sum or mean over all replicas, which all must ask for; gradients are reduced too.

        Args:
          reduce_op: SUM or MEAN.
          value: a tensor, or a nesting of tensors.

        Returns:
          The same nesting, equal on all replicas.
        """
        op = ReduceOp[reduce_op.upper()] if isinstance(reduce_op, str) else reduce_op

        def batch(strategy: Any, *values: Any) -> Any:
            return strategy.extended.batch_reduce_to(op, [(v, v) for v in values])

        def reduced(*values: Any) -> list[Any]:
            return list(self.merge_call(batch, values))

        @custom.custom_gradient
        def differentiable(*values: Any) -> tuple[list[Any], Any]:
            return reduced(*values), lambda *grads: reduced(*grads)

        flat = nest.flatten(value)
        done = differentiable(*flat)
        done = list(done) if isinstance(done, list | tuple) else [done]
        return nest.pack_sequence_as(value, done)

    def __repr__(self) -> str:
        return f"<ReplicaContext {self.local_index} of {type(self._strategy).__name__}>"

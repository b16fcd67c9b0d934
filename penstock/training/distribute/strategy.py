"""``tf.distribute.Strategy``: what all strategies share.

A ``Strategy`` is what users call; its ``extended`` has what libraries call, and is what kinds of
strategies override: where variables are made, how replicas run, how their values are reduced.
Strategies hold no state of a graph; they may be used in several.
"""

from __future__ import annotations

import enum
from typing import Any

from penstock.ops.array import cast, shape, slicing
from penstock.ops.control import control
from penstock.ops.math import reduction
from penstock.training.data import dataset
from penstock.training.distribute import input
from penstock.training.distribute.context import ReduceOp
from penstock.training.distribute.extended import StrategyExtended


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

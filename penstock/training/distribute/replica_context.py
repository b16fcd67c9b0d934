"""What a function that runs once a replica knows about its replica, and how replicas meet."""

from __future__ import annotations

from typing import Any

from penstock.foundation.graph import nest
from penstock.library.autodiff import custom
from penstock.training.distribute import modes
from penstock.training.distribute.context import ReduceOp
from penstock.training.distribute.values import select


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

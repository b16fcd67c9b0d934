"""What holds outside any strategy: one replica, ordinary variables."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from penstock.foundation.graph import scopes
from penstock.training.distribute import modes
from penstock.training.distribute.cross_device import CrossDeviceOps, ReductionToOneDevice
from penstock.training.distribute.extended import StrategyExtended
from penstock.training.distribute.replica_context import ReplicaContext
from penstock.training.distribute.strategy import Strategy


class DefaultStrategy(Strategy):
    """What holds outside any strategy: one replica, ordinary variables."""

    def __init__(self) -> None:
        super().__init__(_DefaultExtended(self))

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


class _OnlyReplica(ReplicaContext):
    def merge_call(self, merge_fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Calls it: there are no others to wait for."""
        return merge_fn(self.strategy, *args, **(kwargs or {}))


_DEFAULT = DefaultStrategy()
_ONLY_REPLICA = _OnlyReplica(_DEFAULT, 0)


def get_strategy() -> Any:
    """The strategy in whose scope this is; else the default strategy, which has one replica.

    >>> import penstock as tf
    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    mode = modes.innermost()
    return _DEFAULT if mode is None else mode.strategy


def get_replica_context() -> Any:
    """The context of the replica that this code is for; None in a cross-replica context.

    >>> import penstock as tf
    >>> tf.distribute.get_replica_context().num_replicas_in_sync
    1
    """
    mode = modes.innermost()
    return _ONLY_REPLICA if mode is None else mode.replica


def require_replica_context(replica_ctx: Any) -> None:
    """Checks that ``replica_ctx`` is the current one.

    Raises:
      RuntimeError: it is not.
    """
    current = get_replica_context()
    if current is not replica_ctx:
        where = "a cross-replica context" if current is None else "another replica's context"
        raise RuntimeError(f"this needs the context {replica_ctx!r}; the current one is {where}")

"""Where the code that builds a graph stands: outside a strategy, in its scope, or in a replica.

``with strategy.scope()`` enters the *cross-replica* context; ``experimental_run_v2(fn)`` calls
``fn`` in a *replica* context, once a replica; ``merge_call`` leaves it for a cross-replica one, and
in an *update* context a function works on one component of a mirrored variable.

State: per thread, the stack of contexts, each for the graph in which it was entered, and the
replica whose components an update works on.
"""

from __future__ import annotations

import enum
from typing import Any

from penstock.foundation.graph import replicas, scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.variable import VariableAggregation
from penstock.ops.array.static_values import get_static_value
from penstock.training.distribute.modes import innermost, standing


class ReduceOp(enum.Enum):
    """How the values of replicas are brought together."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation: Any) -> ReduceOp:
        """The reduction that a variable's aggregation stands for.

        Raises:
          ValueError: it stands for none.
        """
        if isinstance(aggregation, VariableAggregation):
            for op in ReduceOp:
                if op.name == aggregation.name:
                    return op
        raise ValueError(f"aggregation {aggregation!r} is no reduction; SUM and MEAN are")


_default: list[Any] = []


def current_index() -> int:
    """Index, among the devices of this task, of the replica that this code is for; else 0."""
    if standing.updating is not None:
        return standing.updating
    mode = innermost()
    return mode.replica.local_index if mode is not None and mode.replica is not None else 0


def get_strategy() -> Any:
    """The strategy in whose scope this is; else the default strategy, which has one replica.

    >>> import penstock as tf
    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    mode = innermost()
    return default_strategy() if mode is None else mode.strategy


def get_replica_context() -> Any:
    """The context of the replica that this code is for; None in a cross-replica context.

    >>> import penstock as tf
    >>> tf.distribute.get_replica_context().num_replicas_in_sync
    1
    """
    mode = innermost()
    return default_strategy().replica_context() if mode is None else mode.replica


def skip_summary() -> bool:
    """Whether this code is for a replica whose summaries are not written: any but the first."""
    replica = get_replica_context()
    number = 0 if replica is None else replica.replica_id_in_sync_group
    return bool(get_static_value(number) if isinstance(number, Tensor) else number)


def get_cross_replica_context() -> Any:
    """The strategy in a cross-replica context; None in a replica's."""
    mode = innermost()
    return mode.strategy if mode is not None and mode.replica is None else None


def in_cross_replica_context() -> bool:
    """Whether this is in a strategy's scope, and in none of its replicas."""
    return get_cross_replica_context() is not None


def _replicas_in_sync(asker: str) -> int:
    if in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{asker}` in cross replica context, while it was expected to be"
            " called in replica context."
        )
    count: int = get_strategy().num_replicas_in_sync
    return count


replicas.give(_replicas_in_sync)


def require_replica_context(replica_ctx: Any) -> None:
    """Checks that ``replica_ctx`` is the current one.

    Raises:
      RuntimeError: it is not.
    """
    current = get_replica_context()
    if current is not replica_ctx:
        where = "a cross-replica context" if current is None else "another replica's context"
        raise RuntimeError(f"this needs the context {replica_ctx!r}; the current one is {where}")


def get_loss_reduction() -> ReduceOp:
    """How losses of replicas are to be summed up; SUM outside estimators, as in TensorFlow."""
    return ReduceOp.SUM


def colocate_vars_with(variable: Any) -> Any:
    """Where variables that belong to ``variable`` (its slots) are made."""
    mode = innermost()
    if mode is None:
        return scopes.colocate_with(variable)
    return mode.strategy.extended.colocate_vars_with(variable)


def default_strategy() -> Any:
    if not _default:
        from penstock.training.distribute.strategy import DefaultStrategy

        _default.append(DefaultStrategy())
    return _default[0]

"""Where the code that builds a graph stands: outside a strategy, in its scope, or in a replica.

``with strategy.scope()`` enters the *cross-replica* context; ``experimental_run_v2(fn)`` calls
``fn`` in a *replica* context, once a replica; ``merge_call`` leaves it for a cross-replica one, and
in an *update* context a function works on one component of a mirrored variable.
"""

from __future__ import annotations

import enum
from typing import Any

from penstock.foundation.graph import replicas, scopes
from penstock.foundation.graph.tensor import Tensor
from penstock.library.variables.variable import VariableAggregation
from penstock.ops.array.static_values import get_static_value
from penstock.training.distribute import modes
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


def current_index() -> int:
    """Index, among the devices of this task, of the replica that this code is for; else 0."""
    if standing.updating is not None:
        return standing.updating
    replica = modes.replica()
    return 0 if replica is None else replica.local_index


def skip_summary() -> bool:
    """Whether this code is for a replica whose summaries are not written: any but the first."""
    replica = modes.replica()
    number = 0 if replica is None else replica.replica_id_in_sync_group
    return bool(get_static_value(number) if isinstance(number, Tensor) else number)


def get_cross_replica_context() -> Any:
    """The strategy in a cross-replica context; None in a replica's."""
    mode = innermost()
    return mode.strategy if mode is not None and mode.replica is None else None


def in_cross_replica_context() -> bool:
    """Whether this is in a strategy's scope, and in none of its replicas."""
    return get_cross_replica_context() is not None


def replicas_in_sync() -> int:
    """How many replicas make one update; 1 outside strategies."""
    mode = innermost()
    return 1 if mode is None else int(mode.strategy.num_replicas_in_sync)


def _in_sync(asker: str) -> int:
    if in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{asker}` in cross replica context, while it was expected to be"
            " called in replica context."
        )
    return replicas_in_sync()


replicas.give(_in_sync)


def get_loss_reduction() -> ReduceOp:
    """How losses of replicas are to be summed up; SUM outside estimators, as in TensorFlow."""
    return ReduceOp.SUM


def colocate_vars_with(variable: Any) -> Any:
    """Where variables that belong to ``variable`` (its slots) are made."""
    mode = innermost()
    if mode is None:
        return scopes.colocate_with(variable)
    return mode.strategy.extended.colocate_vars_with(variable)

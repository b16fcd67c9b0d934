"""Where the code that builds a graph stands: outside a strategy, in its scope, or in a replica.

``with strategy.scope()`` enters the *cross-replica* context; ``experimental_run_v2(fn)`` calls
``fn`` in a *replica* context, once a replica; ``merge_call`` leaves it for a cross-replica one, and
in an *update* context a function works on one component of a mirrored variable.

State: per thread, the stack of contexts, each for the graph in which it was entered, and the
replica whose components an update works on.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from penstock.foundation.graph import replicas, scopes
from penstock.library.variables.variable import VariableAggregation


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


class Mode(NamedTuple):
    """An entry of the stack: in a replica, ``replica`` is its context; else it is None."""

    graph: Any
    strategy: Any
    replica: Any


class _Contexts(threading.local):
    def __init__(self) -> None:
        self.modes: list[Mode] = []
        self.updating: int | None = None


_contexts = _Contexts()
_default: list[Any] = []


def _mode() -> Mode | None:
    if not _contexts.modes:
        return None
    graph = scopes.get_default_graph()
    return next((mode for mode in reversed(_contexts.modes) if mode.graph is graph), None)


@contextmanager
def entered(strategy: Any, replica: Any = None) -> Iterator[None]:
    """Enters the cross-replica context of ``strategy``, or the context of one of its replicas."""
    _contexts.modes.append(Mode(scopes.get_default_graph(), strategy, replica))
    try:
        yield
    finally:
        _contexts.modes.pop()


@contextmanager
def updating(replica: int) -> Iterator[None]:
    """Lets mirrored variables stand for their component on the ``replica``-th device."""
    saved, _contexts.updating = _contexts.updating, replica
    try:
        yield
    finally:
        _contexts.updating = saved


def is_updating() -> bool:
    """Whether this code works on one component of mirrored variables."""
    return _contexts.updating is not None


def current_index() -> int:
    """Index, among the devices of this task, of the replica that this code is for; else 0."""
    if _contexts.updating is not None:
        return _contexts.updating
    mode = _mode()
    return mode.replica._index if mode is not None and mode.replica is not None else 0


def has_strategy() -> bool:
    """Whether this is in the scope of a strategy other than the default one."""
    return _mode() is not None


def get_strategy() -> Any:
    """The strategy in whose scope this is; else the default strategy, which has one replica.

    >>> import penstock as tf
    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    mode = _mode()
    return default_strategy() if mode is None else mode.strategy


def get_replica_context() -> Any:
    """The context of the replica that this code is for; None in a cross-replica context.

    >>> import penstock as tf
    >>> tf.distribute.get_replica_context().num_replicas_in_sync
    1
    """
    mode = _mode()
    return default_strategy().replica_context() if mode is None else mode.replica


def get_cross_replica_context() -> Any:
    """The strategy in a cross-replica context; None in a replica's."""
    mode = _mode()
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
    mode = _mode()
    if mode is None:
        return scopes.colocate_with(variable)
    return mode.strategy.extended.colocate_vars_with(variable)


def default_strategy() -> Any:
    if not _default:
        from penstock.training.distribute.strategy import DefaultStrategy

        _default.append(DefaultStrategy())
    return _default[0]

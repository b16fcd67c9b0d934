"""Mutexes in the graph: a step that has taken the lock runs alone among those that want it.

``MutexLock`` gives a variant value whose life holds the mutex (``resources.mutex``).  In a program
that value is a local, and its life is the program's: the line of its last use frees it, and so does
the end of the function, or the clearing of its frame when a node failed, timed out or was
cancelled.  ``ConsumeMutexLock`` is such a last use; it does nothing else.  A lock that is fetched
from a session lives as long as the caller keeps it.
"""

from __future__ import annotations

from typing import Any

from penstock.engine.resources.mutex import Mutex
from penstock.foundation.opdef import define_op
from penstock.foundation.opdef.inference import no_outputs, scalar
from penstock.foundation.opdef.shared_state import SharedState

_NO_GRADIENT = "synchronizes steps"


def _make_state(attrs: dict[str, Any], name: str) -> Mutex:
    return Mutex(attrs["shared_name"] or name)


def _consume(mutex_lock: Any) -> None:
    """Only its being the last use matters."""


define_op(
    "MutexV2",
    "-> resource: resource",
    attrs=['container: string = ""', 'shared_name: string = ""'],
    shape=scalar,
    state=SharedState("mutex", _make_state),
    stateful=True,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "MutexLock",
    "mutex: resource -> mutex_lock: variant",
    shape=scalar,
    kernel="{mutex}.acquire()",
    writes=("mutex",),
    stateful=True,
    blocking=True,
    no_gradient=_NO_GRADIENT,
)
define_op(
    "ConsumeMutexLock",
    "mutex_lock: variant ->",
    shape=no_outputs,
    kernel=_consume,
    stateful=True,
    effect=True,
    no_gradient=_NO_GRADIENT,
)

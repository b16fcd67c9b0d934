"""Calls to other processes that a step waits for.

Such a call ends with the step's deadline and when its session is closed, and says every ten seconds
what is awaited: a task that is down looks like one that is slow.
"""

from __future__ import annotations

import logging
import time
from typing import Any

from penstock.cluster.distributed.rpc import Method
from penstock.engine.resources import blocking, waiting
from penstock.foundation.base import errors

_log = logging.getLogger("penstock")
# Seconds between a connection that broke and the next one.
_PAUSE = 0.05


def answer_of(
    method: Method, request: Any, seconds: float | None, whom: str, what: str, said: bool = True
) -> Any:
    """Calls, for the step that this thread runs or prepares.

    Args:
      method: of a stub.
      request: its message.
      seconds: until the call is given up, where the step has more time; None for any time.
      whom: who is awaited, and where: "/job:ps/replica:0/task:0 (localhost:2222)".
      what: to do what: "to be up".
      said: whether it is said that the call still waits.

    Returns:
      The response.

    Raises:
      tf.errors.DeadlineExceededError: the time of the step is up.
      tf.errors.CancelledError: the session was closed.
      tf.errors.OpError: as ``Method`` raises.
    """
    began = time.monotonic()

    def remind() -> None:
        _log.warning(
            "%s still waiting for response from worker: %s %s (%.0f s so far)",
            method.name, whom, what, time.monotonic() - began,
        )  # fmt: skip

    pending = method.start(request, seconds)
    waiter = blocking.Waiter()
    pending.on_done(waiter.wake)
    try:
        blocking.wait(
            waiter, lambda: not pending.done(), lambda: f"{whom} {what}", remind if said else None
        )
    except BaseException:  # nobody takes the answer any more
        pending.cancel()
        raise
    return pending.result()


def answer_once_up(method: Method, request: Any, seconds: float, whom: str) -> Any:
    """``answer_of`` a server that is to be up, whether it was before or not.

    A connection that breaks meanwhile is that of a server which ends, and the next one is awaited.

    Args:
      method: of a stub; a call that does no harm twice.

    Raises:
      tf.errors.UnavailableError: it is not up in so many seconds.
      tf.errors.OpError: as ``answer_of``.
    """
    end, found = time.monotonic() + seconds, "no server answers there"
    while (left := end - time.monotonic()) > 0:
        try:
            return answer_of(method, request, left, whom, "to be up")
        except errors.UnavailableError as error:
            found = error.message
            time.sleep(_PAUSE)
        except errors.DeadlineExceededError as error:
            try:
                waiting.check_deadline()
            except errors.DeadlineExceededError:
                raise error from None  # the step's own, which says what it waited for
    raise errors.UnavailableError(None, None, f"waited {seconds:g} s for {whom} to be up: {found}")

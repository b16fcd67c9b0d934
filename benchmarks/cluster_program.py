"""What the cluster's cases are made of: where a worker builds, and what it gives its task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Program(NamedTuple):
    """What a worker holds while a case runs.

    Attributes:
        step: Does one step and returns a number.
        check: Gives the number of steps that the state itself has counted.
        close: Stops threads, closes the session.
        counts: Whether each step adds one to ``check``.
    """

    step: Callable[[], float]
    check: Callable[[], float]
    close: Callable[[], None]
    counts: bool = True


class Place(NamedTuple):
    """Which task builds, and in what cluster.

    Attributes:
        target: The session target of this worker's server.
        index: Of the worker.
        ps: Parameter servers in use.
        workers: Workers in use.
        container: Of the case's state.
    """

    target: str
    index: int
    ps: int
    workers: int
    container: str


def config_of(tf: Any, place: Place) -> Any:
    """Other workers are of no concern: the session neither asks nor waits for them."""
    filters = ["/job:ps", f"/job:worker/task:{place.index}"]
    return tf.ConfigProto(device_filters=filters)

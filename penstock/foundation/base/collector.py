"""Python's collector, kept from looking where there is no garbage to find."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """For what makes many objects that live on, as passes and imports do: looking only costs."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def kept_for_good() -> None:
    """Has the collector leave alone what there is now, for as long as the process lives.

    Modules live until the end, and there Python looks through all of them, several times: 0.4 s for
    those of torch, of the 3 s of a short program. What a program made before its first public name
    stays out of account, too: it is freed when nothing refers to it, but not as part of a circle.
    """
    gc.freeze()

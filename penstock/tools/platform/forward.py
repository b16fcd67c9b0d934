"""``tf.compat.forward_compatible``: whether programs of a date may be written for.

State: the date up to which graphs may use what is new. It is that of TensorFlow 1.15, moved by
``TF_FORWARD_COMPATIBILITY_DELTA_DAYS`` days.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterator

from penstock.foundation.base.decorators import contextmanager

_DAYS_LATER = int(os.environ.get("TF_FORWARD_COMPATIBILITY_DELTA_DAYS") or 0)
_horizon = datetime.date(2019, 8, 21) + datetime.timedelta(days=_DAYS_LATER)


def forward_compatible(year: int, month: int, day: int) -> bool:
    """Whether a graph may use ops that were new on this date.

    Args:
      year, month, day: the date.

    >>> forward_compatible(2019, 1, 1), forward_compatible(2031, 1, 1)
    (True, False)
    """
    # Not made a date: TensorFlow takes day 31 in any month.
    return (_horizon.year, _horizon.month, _horizon.day) > (year, month, day)


@contextmanager
def forward_compatibility_horizon(year: int, month: int, day: int) -> Iterator[None]:
    """For tests: another horizon in a ``with`` block.

    Args:
      year, month, day: the date that counts inside.
    """
    global _horizon
    before, _horizon = _horizon, datetime.date(year, month, day)
    try:
        yield
    finally:
        _horizon = before

"""Numbers that nothing else of the process has: programs put them into names they register.

State: the last number.
"""

from __future__ import annotations

from itertools import count

_numbers = count()


def uid() -> int:
    """The next number, from 0 on."""
    return next(_numbers)

"""Waits between tries: each has a deadline, and says what it waits for when that has passed.

State of a wait: when it began, and how long its next pause is.
"""

from __future__ import annotations

import math
import time

from penstock.foundation.base import errors

# What a lost or restarted task raises; a new session may do better.
PREEMPTION_ERRORS = (errors.AbortedError, errors.UnavailableError)
_FIRST_PAUSE = 0.1


class Wait:
    """A wait in growing pauses.

    Args:
      what: what is waited for, for messages.
      seconds: the deadline, from now; infinity and None mean none.
      longest_pause: pauses grow up to so many seconds.
      at_once: how many tries come without a pause.
    """

    def __init__(
        self,
        what: str,
        seconds: float | None,
        longest_pause: float,
        at_once: int = 0,
    ) -> None:
        self.what = what
        self.seconds = math.inf if seconds is None else seconds
        self._end = time.monotonic() + self.seconds
        self._pause = min(_FIRST_PAUSE, longest_pause)
        self._longest = longest_pause
        self._at_once = at_once

    @property
    def over(self) -> bool:
        """Whether the deadline has passed."""
        return time.monotonic() >= self._end

    def pause(self, why: object) -> None:
        """Sleeps until the next try is due.

        Args:
          why: what the last try met, for the message.

        Raises:
          tf.errors.DeadlineExceededError: the deadline has passed.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            error = errors.DeadlineExceededError(
                None, None,
                f"{self.what} after waiting {self.seconds:g} secs; the last try met: {why}",
            )  # fmt: skip
            raise error from (why if isinstance(why, BaseException) else None)
        if self._at_once > 0:
            self._at_once -= 1
            return
        time.sleep(min(self._pause, left))
        self._pause = min(self._pause * 2, self._longest)

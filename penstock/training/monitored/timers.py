"""When a hook is to act: every so many steps, every so many seconds, or never.

State: step and time of the last trigger.
"""

from __future__ import annotations

import time


class SecondOrStepTimer:
    """Triggers at most once in so many seconds, or once in so many steps.

    Args:
      every_secs: seconds between triggers.
      every_steps: steps between triggers; exactly one of both is to be given.

    Raises:
      ValueError: both or none were given.

    Example:
      >>> import penstock as tf
      >>> timer = tf.train.SecondOrStepTimer(every_steps=10)
      >>> timer.should_trigger_for_step(3), timer.update_last_triggered_step(3)
      (True, (None, None))
      >>> timer.should_trigger_for_step(12), timer.should_trigger_for_step(13)
      (False, True)
    """

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided")
        if every_secs is not None and every_steps is not None:
            raise ValueError(
                "Can not provide both every_secs and every_steps; found"
                f" every_secs={every_secs}, every_steps={every_steps}"
            )
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self) -> None:
        """Forgets the last trigger."""
        self._last_triggered_step: int | None = None
        self._last_triggered_time: float | None = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether it is time to act at ``step``; never twice for one step."""
        if self._last_triggered_step is None or self._last_triggered_time is None:
            return True
        if self._last_triggered_step == step:
            return False
        if self._every_secs is not None:
            return time.monotonic() >= self._last_triggered_time + self._every_secs
        assert self._every_steps is not None
        return bool(step >= self._last_triggered_step + self._every_steps)

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that something was done at ``step``.

        Returns:
          Seconds and steps since the last time; (None, None) the first time.
        """
        now = time.monotonic()
        seconds = steps = None
        if self._last_triggered_time is not None and self._last_triggered_step is not None:
            seconds = now - self._last_triggered_time
            steps = step - self._last_triggered_step
        self._last_triggered_time, self._last_triggered_step = now, step
        return seconds, steps

    def last_triggered_step(self) -> int | None:
        """The step of the last trigger, or None."""
        return self._last_triggered_step


class NeverTriggerTimer:
    """Never triggers."""

    def reset(self) -> None:
        """Nothing is to be forgotten."""

    def should_trigger_for_step(self, step: int) -> bool:
        """False."""
        return False

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes nothing."""
        return None, None

    def last_triggered_step(self) -> int | None:
        """None."""
        return None

"""Running a program: what its lines raise becomes the error of the node."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from typing import Any

import torch

from penstock.engine.resources import ending
from penstock.engine.runtime.program import Program
from penstock.foundation.base import errors

# The guard itself: its context manager takes five times as long.
InferenceMode = torch._C._InferenceMode


def execute(program: Program, args: Sequence[Any]) -> tuple[Any, ...]:
    """Runs a program on run-time values.

    Raises:
      tf.errors.OpError: a node failed; the message names it and the line that made it.
    """
    if ending.begun:
        ending.check()
    guard = InferenceMode(True)
    team = program.team
    entered = team.enter() if team is not None else None
    try:
        return program.function(*args)
    except BaseException as raised:
        error = program.error(raised)
        if error is None:
            raise
        # The failed frame must not outlive the step: it holds temporaries.
        traceback.clear_frames(raised.__traceback__)
        cause = raised.with_traceback(None)
    finally:
        if entered is not None:
            team.leave(entered)  # type: ignore[union-attr]
        del guard
    raise error from (None if isinstance(cause, errors.OpError) else cause)

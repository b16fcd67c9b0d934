"""What a step that is run now would try of teams, and why: for ``penstock doctor``."""

from __future__ import annotations

import time
from typing import Any

from penstock.engine.resources import threads
from penstock.engine.runtime.teams import CORES
from penstock.foundation.machine.load import Use


def report(seconds: float = 0.3) -> dict[str, Any]:
    """What a step that is run now would try, and why.

    Args:
      seconds: how long others' use is looked at.

    Returns:
      ``cores`` that are usable, ``most`` threads that the environment or torch allows, ``others``
      (cores that others use; None where nobody tells), ``team`` that is worth trying, ``waits``
      (``spinning`` or ``sleeping``), and ``why`` in words.
    """
    CORES.look(pass_over=True)
    time.sleep(seconds)
    CORES.look()
    most = threads.settle()
    use = CORES.use
    team = min(most, CORES.wide)
    return {
        "cores": CORES.cores,
        "most": most,
        "others": None if use is None else round(use.others, 2),
        "team": team,
        "waits": "sleeping" if CORES.sleeping else "spinning",
        "why": _why(most, team, use),
    }


def _why(most: int, team: int, use: Use | None) -> str:
    if most == 1:
        return "one thread is all that OMP_NUM_THREADS, torch or the machine allows"
    if use is None:
        return "what others use of the cores cannot be told here, so they count as free"
    beside = f"others use {use.others:.1f} of {CORES.cores} cores"
    tried = "each program tries one thread and the team, and keeps what is faster"
    if CORES.sleeping:
        return f"{beside}: fewer than two are free, so teams sleep in their waits; {tried}"
    return f"{beside}, so {team} threads have a core each; {tried}"

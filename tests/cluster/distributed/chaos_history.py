"""What a run of ``chaos`` must have seen, whatever happened to its tasks.

Each training step adds one to a version on each parameter server and records what it saw.  Within
an *era*, the time in which no server's state is lost, versions are what a counter gives that
everybody shares: no two steps see the same, and who begins after another ended sees more.  The
global step is never behind what somebody saw who ended before.  An era ends when a parameter server
is killed; the next one begins with the chief's first session after it runs again, at the last
checkpoint or later.  What overlaps the time between is not judged.
"""

from __future__ import annotations

import bisect
import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Seen:
    """A line of a record.

    Args:
      what: "step", "session" (the chief's, made anew), or "saved".
      begin, end: seconds of the machine's monotonic clock.
      step: the global step.
      versions: of the parameter servers.
    """

    what: str
    task: str
    begin: float
    end: float
    step: int
    versions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Loss:
    """A parameter server lost its state at ``begin``, and ran again from ``end`` on."""

    begin: float
    end: float


@dataclass
class Verdict:
    """What was found.

    Attributes:
      wrong: a line for each thing that may not be.
      eras: spans between losses of state.
      judged: how many steps were held against others.
      longest: seconds between two steps, anybody's.
      given: the most of those that the machine gave, which a hang is told by.
    """

    wrong: list[str] = field(default_factory=list)
    eras: list[tuple[float, float]] = field(default_factory=list)
    judged: int = 0
    longest: float = 0.0
    given: float = 0.0


def read(directory: Path) -> list[Seen]:
    """All records of a run, in the order in which things ended; a torn last line is left out."""
    found = []
    for file in directory.glob("history-*.jsonl"):
        for line in file.read_text().splitlines():
            try:
                fields = json.loads(line)
            except ValueError:
                continue
            found.append(Seen(**{**fields, "versions": tuple(fields.get("versions", ()))}))
    return sorted(found, key=lambda seen: seen.end)


def judge(
    seen: Sequence[Seen],
    losses: Sequence[Loss],
    given: Callable[[float, float], float] = lambda begin, end: end - begin,
) -> Verdict:
    """Holds what was seen against what may be.

    Args:
      seen: in the order of their ends.
      losses: of parameter servers' state, in order.
      given: ``(begin, end)``: the seconds of that time that the machine gave.
    """
    verdict = Verdict()
    sessions = [each for each in seen if each.what == "session"]
    saved = [each for each in seen if each.what == "saved"]
    steps = [each for each in seen if each.what == "step"]
    _judge_restores(sessions, saved, losses, verdict)
    verdict.eras = _eras(sessions, losses)
    for begin, end in verdict.eras:
        inside = [each for each in steps if begin <= each.begin and each.end <= end]
        verdict.judged += len(inside)
        _judge_era(inside, verdict)
    pauses = list(itertools.pairwise(each.end for each in steps))
    verdict.longest = max((end - begin for begin, end in pauses), default=0.0)
    verdict.given = max((given(*pause) for pause in pauses if pause[1] > pause[0] + 5), default=0.0)
    return verdict


def _restored(sessions: Iterable[Seen], loss: Loss) -> Seen | None:
    """The chief's first session that found the server running again."""
    return next((each for each in sessions if each.begin >= loss.end), None)


def _eras(sessions: Sequence[Seen], losses: Sequence[Loss]) -> list[tuple[float, float]]:
    eras = []
    begin = float("-inf")
    for loss in losses:
        if loss.begin > begin:
            eras.append((begin, loss.begin))
        session = _restored(sessions, loss)
        begin = float("inf") if session is None else max(begin, session.end)
    return [*eras, (begin, float("inf"))]


def _judge_restores(
    sessions: Sequence[Seen], saved: Sequence[Seen], losses: Sequence[Loss], verdict: Verdict
) -> None:
    for session in sessions:
        # A checkpoint that ended before the session began is there, unless all say otherwise.
        least = max((each.step for each in saved if each.end < session.begin), default=0)
        lost = any(loss.begin < session.end for loss in losses)
        if session.step < least:
            why = "after a loss" if lost else "and nothing was lost"
            verdict.wrong.append(
                f"a session began at step {session.step}, {why}, below the checkpoint of {least}"
            )


def _judge_era(steps: Sequence[Seen], verdict: Verdict) -> None:
    """``steps`` by their ends."""
    servers = len(steps[0].versions) if steps else 0
    for server in range(servers):
        values = [each.versions[server] for each in steps]
        verdict.wrong.extend(_not_a_counter(steps, values, f"version {server}", strict=True))
    verdict.wrong.extend(
        _not_a_counter(steps, [each.step for each in steps], "global step", strict=False)
    )


def _not_a_counter(
    steps: Sequence[Seen], values: Sequence[int], what: str, *, strict: bool
) -> list[str]:
    wrong = []
    twice = sorted(value for value, times in Counter(values).items() if times > 1)
    if strict and twice:
        wrong.append(f"{what} was seen twice: {twice[:5]} ({len(twice)} such)")
    ends = [each.end for each in steps]
    highest: list[int] = []
    for value in values:
        highest.append(max(value, highest[-1]) if highest else value)
    behind = []
    for each, value in zip(steps, values, strict=True):
        before = bisect.bisect_left(ends, each.begin)
        if before and (value < highest[before - 1] or (strict and value == highest[before - 1])):
            behind.append(
                f"at {each.begin:.2f} {each.task} saw {what} {value} in a step that began after"
                f" another had ended that saw {highest[before - 1]}"
            )
    if behind:
        wrong.append(f"{behind[0]} ({len(behind)} such)")
    return wrong

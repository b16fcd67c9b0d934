"""What a process of ``chaos`` grows by: its memory, and its threads beyond those of its links.

How many threads a server has says first how many of the other tasks are there: a link has two.  A
parameter server that came up while others were down, and had two links in its first minute, has
five later and is no leak.  So two threads for each link are left out, for one link to each other
task; those of links that nobody gave back are more, and count.  Nor does it grow when somebody
first comes: threads that listen for links and that serve begin then.
"""

from __future__ import annotations

import json
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# What a process may grow by.
MOST_KB, MOST_THREADS = 65_536, 8
# Its second half minute with a link is compared with its last one, if that begins after so long.
HALF, LATE = 30.0, 90.0
# A link has one of each.
LINK_THREADS = ("penstock-link-in", "penstock-link-out")


@dataclass(frozen=True)
class Used:
    """What a process used at a moment, as ``programs/chaos_train.py`` writes it down.

    Args:
      at: seconds of the machine's monotonic clock.
      kb: of memory.
      threads: how many of each name.
    """

    at: float
    kb: int
    threads: Counter[str]

    def counted(self, others: int) -> int:
        """The threads that may not grow; ``others`` is the number of other tasks."""
        links = sum(min(self.threads[name], others) for name in LINK_THREADS)
        return self.threads.total() - links


@dataclass(frozen=True)
class Growth:
    """What a process grew by, and what is wrong with that; ""."""

    kb: float = 0.0
    threads: float = 0.0
    wrong: str = ""


def read(file: Path) -> list[Used]:
    """A process's record; a torn last line is left out."""
    found = []
    for line in file.read_text().splitlines() if file.exists() else []:
        try:
            fields = json.loads(line)
        except ValueError:
            continue
        found.append(Used(fields["at"], fields["kb"], Counter(fields["threads"])))
    return found


def judge(used: Sequence[Used], began: float, ended: float, others: int) -> Growth:
    """Holds a process against itself.

    Args:
      used: its record, which begins when its server is up.
      began, ended: when it was started, and ended or was killed.
      others: the number of other tasks.
    """
    moments = [each.at for each in used if each.threads[LINK_THREADS[0]]] or [e.at for e in used]
    first = moments[0] if moments else began
    if ended - HALF < first + LATE:
        return Growth()
    early = [each for each in used if first + HALF <= each.at < first + 2 * HALF]
    late = [each for each in used if each.at >= ended - HALF]
    if not early or not late:
        return Growth(wrong="wrote nothing down of its memory and threads for half a minute")
    kb = [statistics.median(each.kb for each in part) for part in (early, late)]
    threads = [statistics.median(each.counted(others) for each in part) for part in (early, late)]
    wrong = []
    if kb[1] - kb[0] > MOST_KB:
        wrong.append(f"grew from {kb[0]:g} to {kb[1]:g} kB")
    if threads[1] - threads[0] > MOST_THREADS:
        names = ", ".join(_changed(early, late))
        wrong.append(f"grew from {threads[0]:g} to {threads[1]:g} threads ({names})")
    return Growth(kb[1] - kb[0], threads[1] - threads[0], " and ".join(wrong))


def _changed(early: Sequence[Used], late: Sequence[Used]) -> list[str]:
    """Each name whose number is another, with both."""
    found = []
    for name in sorted({name for each in (*early, *late) for name in each.threads}):
        was, now = (statistics.median(e.threads[name] for e in part) for part in (early, late))
        if was != now:
            found.append(f"{name} {was:g} to {now:g}")
    return found

"""The counts of this process's servers, in the text format of Prometheus (version 0.0.4).

Only counts: no name of a graph, a node, a variable or a session is in it, nor any value of a
tensor.  Everything but the counts of ``tally`` is looked up when somebody asks.  Each line bears
the name of its server's task, and what is of the process has the names that Prometheus' own
clients give it.
"""

from __future__ import annotations

import os
import resource
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path

from penstock.cluster.distributed.master import Master
from penstock.cluster.distributed.propagated import Memberships
from penstock.cluster.distributed.tally import BOUNDS
from penstock.cluster.distributed.worker import Worker
from penstock.engine.resources.variable import Variable

# How often the launcher has started this task again.
RESTARTS = "PENSTOCK_RESTARTS"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Labels, without the task's, and a value.
Sample = tuple[dict[str, str], float]


@dataclass(frozen=True, eq=False)
class Watched:
    """A server, as who watches it sees it.

    Args:
      worker, master, memberships: of the server.
      is_ready: tells whether it listens.
    """

    worker: Worker
    master: Master
    memberships: Memberships
    is_ready: Callable[[], bool]
    began: float = field(default_factory=time.time)

    def workers(self) -> list[Worker]:
        """Its own worker, and those of the clusters that sessions named."""
        return [self.worker, *self.memberships.workers()]

    def resources(self) -> list[object]:
        """All state that sessions share."""
        managers = [each for worker in self.workers() for each in worker.managers()]
        return [each for manager in managers for each in manager.all()]


def text(servers: Sequence[Watched]) -> str:
    """The page.

    Args:
      servers: of this process.
    """
    named = _named(servers)
    lines: list[str] = []
    for name, kind, what, samples in _FAMILIES:
        found = [({**who, **ls}, v) for who, server in named for ls, v in samples(server)]
        lines += _family(name, kind, what, found)
    lines += _histogram(named)
    for name, kind, what, value in _process():
        lines += _family(name, kind, what, [({}, value)])
    return "\n".join(lines) + "\n"


def _named(servers: Sequence[Watched]) -> list[tuple[dict[str, str], Watched]]:
    """Each server with the labels that only it has; local ones all have the same task."""
    seen: Counter[str] = Counter()
    found = []
    for server in servers:
        task = server.worker.task
        seen[task] += 1
        again = {"server": str(seen[task])} if seen[task] > 1 else {}
        found.append(({"task": task, **again}, server))
    return found


def _of_workers(what: str) -> Callable[[Watched], list[Sample]]:
    return lambda server: [({}, sum(worker.counts()[what] for worker in server.workers()))]


def _steps(server: Watched) -> list[Sample]:
    counts = server.worker.tally.counts()
    return [({"result": "done"}, counts.done), ({"result": "failed"}, counts.failed)]


def _bytes(server: Watched) -> list[Sample]:
    counts = server.worker.tally.counts()
    return [({"direction": "sent"}, counts.sent), ({"direction": "received"}, counts.received)]


def _lost(server: Watched) -> list[Sample]:
    counts = server.worker.tally.counts()
    return [({"why": "restarted"}, counts.restarted), ({"why": "unreachable"}, counts.unreachable)]


def _variables(server: Watched) -> list[object]:
    """The values of initialized variables."""
    found = [each for each in server.resources() if isinstance(each, Variable)]
    values = [getattr(each, "value", None) for each in found]
    return [value for value in values if value is not None]


def _variable_bytes(server: Watched) -> list[Sample]:
    return [({}, sum(int(getattr(value, "nbytes", 0)) for value in _variables(server)))]


def _resources(server: Watched) -> list[Sample]:
    kinds = Counter(type(each).__name__ for each in server.resources())
    return [({"kind": kind}, count) for kind, count in sorted(kinds.items())]


def _restarts(server: Watched) -> list[Sample]:
    told = os.environ.get(RESTARTS, "")
    return [({}, int(told))] if told.isascii() and told.isdecimal() else []


_FAMILIES: tuple[tuple[str, str, str, Callable[[Watched], list[Sample]]], ...] = (
    ("penstock_server_info", "gauge", "The process that runs the task now.",
     lambda s: [({"incarnation": f"{s.worker.incarnation:x}"}, 1)]),
    ("penstock_server_ready", "gauge", "Whether the server listens.",
     lambda s: [({}, s.is_ready())]),
    ("penstock_server_start_time_seconds", "gauge", "When the server was made.",
     lambda s: [({}, s.began)]),
    ("penstock_task_restarts", "gauge", "How often penstock launch has started the task again.",
     _restarts),
    ("penstock_steps_total", "counter", "Steps that have ended here, whoever led them.", _steps),
    ("penstock_steps_running", "gauge", "Steps that run here now.", _of_workers("open")),
    ("penstock_steps_waiting", "gauge", "Those of them that wait for something.",
     lambda s: [({}, sum(worker.table.waiting() for worker in s.workers()))]),
    ("penstock_sessions_led", "gauge", "Sessions whose target is this server.",
     lambda s: [({}, s.master.session_count())]),
    ("penstock_sessions", "gauge", "Sessions that have registered something here.",
     _of_workers("sessions")),
    ("penstock_graphs", "gauge", "Parts of steps that are registered here.",
     _of_workers("graphs")),
    ("penstock_clusters_joined", "gauge", "Clusters of sessions' configs that it is a task of.",
     lambda s: [({}, len(s.memberships.workers()))]),
    ("penstock_link_bytes_total", "counter", "Bytes over links to other tasks.", _bytes),
    ("penstock_links", "gauge", "Links to other tasks that are open.",
     lambda s: [({}, s.worker.tally.counts().links)]),
    ("penstock_tasks_lost_total", "counter", "How often another task was lost.", _lost),
    ("penstock_variables", "gauge", "Variables that hold a value.",
     lambda s: [({}, len(_variables(s)))]),
    ("penstock_variable_bytes", "gauge", "Bytes of their values.", _variable_bytes),
    ("penstock_resources", "gauge", "State that sessions share, by kind.", _resources),
)  # fmt: skip


def _process() -> list[tuple[str, str, str, float]]:
    used = resource.getrusage(resource.RUSAGE_SELF)
    rows = [
        ("process_cpu_seconds_total", "counter", "Processor time.", used.ru_utime + used.ru_stime),
        ("process_threads", "gauge", "Threads of Python.", float(threading.active_count())),
    ]
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        files = len(os.listdir("/proc/self/fd"))
    except (OSError, ValueError, IndexError):
        return rows  # not Linux, or no file can be opened just now
    return [
        *rows,
        ("process_resident_memory_bytes", "gauge", "Memory.",
         float(pages * os.sysconf("SC_PAGE_SIZE"))),
        ("process_open_fds", "gauge", "Open files.", float(files)),
    ]  # fmt: skip


def _family(name: str, kind: str, what: str, samples: Iterable[Sample]) -> list[str]:
    lines = [_line(name, labels, value) for labels, value in samples]
    return [f"# HELP {name} {what}", f"# TYPE {name} {kind}", *lines] if lines else []


def _histogram(named: Sequence[tuple[dict[str, str], Watched]]) -> list[str]:
    name = "penstock_step_seconds"
    lines = []
    for who, server in named:
        counts = server.worker.tally.counts()
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), accumulate(counts.buckets)):
            lines.append(_line(f"{name}_bucket", {**who, "le": bound}, count))
        lines.append(_line(f"{name}_sum", who, counts.seconds))
        lines.append(_line(f"{name}_count", who, sum(counts.buckets)))
    what = "How long steps took, those that failed included."
    return [f"# HELP {name} {what}", f"# TYPE {name} histogram", *lines] if lines else []


def _line(name: str, labels: dict[str, str], value: float) -> str:
    named = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels.items())
    number = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{{{named}}} {number}" if named else f"{name} {number}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")

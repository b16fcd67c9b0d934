"""The table of steps over processes: which rows on which clusters, and what is required of them.

Everything here is data; ``cluster`` measures by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.cases import Requirement, steady

PEER = "tensorflow"
READS = ("scalar_read", "read_1mb", "read_100mb")
UPDATES = ("scalar_update", "update_1mb", "update_100mb")
REMOTE = ("scalar_read", "scalar_update", "read_1mb", "update_1mb", "read_100mb", "update_100mb")
NULL = ("null_scalar", "null_dense", "null_sparse")
WORDS = "job_word2vec"
JOB = ("job_softmax", "job_mlp", WORDS)
SYNCHRONOUS = (*NULL, "train_sync")
# Processes of the jobs that share this machine: half of them ps, half workers.
JOB_SIZES = (2, 4)


@dataclass(frozen=True)
class Row:
    """One row of the table: a case at a number of parameter servers and workers."""

    case: str
    ps: int
    workers: int

    @property
    def name(self) -> str:
        """Its key in the results.

        >>> Row("read_1mb", 1, 1).name, Row("null_dense", 4, 2).name, Row("job_mlp", 2, 2).name
        ('read_1mb', 'null_dense_4ps_2w', 'job_4_mlp')
        """
        if self.case in JOB:
            return self.case.replace("job", f"job_{self.ps + self.workers}", 1)
        return self.case if self.case in REMOTE else f"{self.case}_{self.ps}ps_{self.workers}w"


@dataclass(frozen=True)
class Layout:
    """A cluster and the rows measured on it.

    Attributes:
        ps, workers: Its processes.
        threads: Of each process's kernels: two where two processes work in turns, one where many
            do. None leaves it to the implementation, as users of small jobs do.
    """

    ps: int
    workers: int
    threads: int | None
    rows: tuple[Row, ...]


def layouts(ps_counts: Sequence[int], workers: Sequence[int]) -> list[Layout]:
    """The clusters that are needed, smallest first.

    Args:
        ps_counts: Of the null steps.
        workers: Of the null steps.
    """
    remote = Layout(1, 1, 2, tuple(Row(case, 1, 1) for case in REMOTE))
    jobs = [Layout(n, n, None, _jobs(n)) for n in (size // 2 for size in JOB_SIZES)]
    null = [
        Layout(ps, max(workers), 1, tuple(Row(case, ps, w) for case in NULL for w in workers))
        for ps in ps_counts
    ]
    return [remote, *jobs, *null]


def _jobs(n: int) -> tuple[Row, ...]:
    # word2vec draws in its steps; the losses of one worker must be those of others.
    return tuple(Row(case, n, n) for case in JOB if n > 1 or case != WORDS)


_JOB_ROWS = [row.name for size in JOB_SIZES for row in _jobs(size // 2)]
# What the processes of a job do to each other shows in the tail and in the CPU time of all.
_JOBS = tuple(
    Requirement(f"{row}_{figure}", PEER, 1.0) for row in _JOB_ROWS for figure in ("p95", "cpu")
)
REQUIREMENTS = (
    *(Requirement(row, PEER, 0.6) for row in ("scalar_read", "scalar_update")),
    *(Requirement(row, PEER, 0.7) for row in REMOTE if not row.startswith("scalar")),
    *(Requirement(row, PEER, 0.8) for row in ("job_4_word2vec", "job_4_word2vec_cpu")),
    *_JOBS,
)
# Those of a run beside busy processes.
BUSY_REQUIREMENTS = (
    *(Requirement(row, PEER, 1.0) for row in READS),
    *(Requirement(f"{row}_p50", PEER, 1.0) for row in READS),
    *(steady(row, 2.0) for row in READS),
    *_JOBS,
)

"""Figures of the OSDI 2016 paper beside ours: ``python -m penstock.cluster.simulate.paper``.

Each row says whether the paper's number was used to fit a cost (``osdi2016`` in ``profile``, and
the stragglers below) or is predicted from costs that were fitted elsewhere. docs/simulate.md holds
the table and what to think of it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass

from penstock.cluster.simulate.profile import PROFILES
from penstock.cluster.simulate.result import Result
from penstock.cluster.simulate.training import simulate
from penstock.cluster.simulate.workload import Compute, Job, Model

_PS = 16
_ROW_BYTES = 32 * 128 * 4
# What a step with an embedding does besides messages: choose rows by ps, gather, stitch, scatter.
_SPARSE_COMPUTE = Compute(3.2e-3)

INCEPTION_PS = 17
INCEPTION = Model(
    dense_bytes=95e6, batch=32, compute=Compute(1.672, 0.01, straggler_share=0.045,
                                                straggler_factor=1.24),
)  # fmt: skip
_BACKUPS = range(6)


@functools.cache
def _run(model: Model, job: Job) -> Result:
    return simulate(model, job, PROFILES["osdi2016"])


def _null(model: Model, workers: int) -> float:
    """Milliseconds of a null step."""
    return _run(model, Job(_PS, workers, "sync", steps=20)).median * 1e3


def _inception(workers: int, mode: str, backups: int = 0, steps: int = 20) -> Result:
    return _run(INCEPTION, Job(INCEPTION_PS, workers + backups, mode, backups, steps=steps, seed=1))


def _with_backups(backups: int) -> float:
    return _inception(50, "sync", backups, steps=200).median


def _speedup(backups: int) -> float:
    """How much more work a worker does, by the paper's formula: t(0)/t(b) * 50/(50+b)."""
    return _with_backups(0) / _with_backups(backups) * 50 / (50 + backups)


@dataclass(frozen=True)
class Row:
    """A number of the paper.

    Attributes:
        what: It is of.
        unit: Of both.
        paper: The paper's number.
        fitted: Whether it was used to fit costs.
        ours: Simulates it.
    """

    what: str
    unit: str
    paper: float
    fitted: bool
    ours: Callable[[], float]


def _null_rows() -> list[Row]:
    sparse = Model(sparse_bytes=_ROW_BYTES, compute=_SPARSE_COMPUTE)
    models = (
        ("scalar", Model(4 * _PS), 1.8, True, 8.8, True),
        ("dense 100 MB", Model(100e6), 147, False, 613, True),
        ("dense 1 GB", Model(1e9), 1010, False, 7160, False),
        ("sparse", sparse, 5, True, 20, False),
    )
    rows = []
    for name, model, one, one_fitted, hundred, hundred_fitted in models:
        for workers, paper, fitted in ((1, one, one_fitted), (100, hundred, hundred_fitted)):
            what = f"null step, {name}, {workers} worker{'s' * (workers > 1)}"
            rows.append(Row(what, "ms", paper, fitted, functools.partial(_null, model, workers)))
    return rows


ROWS = (
    *_null_rows(),
    Row("Inception-v3, 200 workers, sync", "images/s", 2300, False,
        lambda: _inception(200, "sync").throughput),
    Row("Inception-v3, 200 workers, async", "images/s", 2300, False,
        lambda: _inception(200, "async").throughput),
    Row("median sync step by async, 50 workers", "", 1.1, False,
        lambda: _inception(50, "sync").median / _inception(50, "async").median),
    Row("step with 50 workers and 4 backups", "s", 1.93, True, lambda: _with_backups(4)),
    Row("backups with the shortest step", "", 4, True, lambda: min(_BACKUPS, key=_with_backups)),
    Row("backups best per resource", "", 3, True, lambda: max(_BACKUPS, key=_speedup)),
    Row("gain per resource of 3 backups", "%", 9.5, True, lambda: (_speedup(3) - 1) * 100),
)  # fmt: skip


def _short(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def table() -> str:
    """The rows as a table in Markdown."""
    lines = ["| what | paper | ours | | |", "|---|---|---|---|---|"]
    for row in ROWS:
        ours = row.ours()
        off = f"{ours / row.paper - 1:+.0%}"
        kind = "fitted" if row.fitted else "predicted"
        unit = f" {row.unit}".rstrip()
        both = f"{row.paper:g}{unit} | {_short(ours)}{unit}"
        lines.append(f"| {row.what} | {both} | {off} | {kind} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")

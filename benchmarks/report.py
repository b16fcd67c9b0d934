"""From samples to medians, ratios, verdicts, the printed table and the JSON.

Pure functions over ``Results``: ``{row: {implementation: figure}}``. The row of a case holds the
median over turns, in seconds a step, except for ``construct`` (seconds an op), ``construct_build``
(seconds for the whole network), ``import`` (seconds a process) and ``memory`` (bytes). Rows of
single steps (``cases.STEP_ROWS``) hold percentiles over all of them and the CPU seconds a step.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.cases import (
    BEFORE,
    BEST_PEER,
    IMPLEMENTATIONS,
    PENSTOCK,
    REQUIREMENTS,
    STEP_ROWS,
    Requirement,
)

Results = dict[str, dict[str, float]]

ALL = tuple(implementation.name for implementation in IMPLEMENTATIONS)
SAME_RTOL = 1e-3
RANDOM_RTOL = 0.05


def medians(samples: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """The median of each implementation that has samples.

    >>> medians({"penstock": [3.0, 1.0, 2.0], "torch": []})
    {'penstock': 2.0}
    """
    return {name: float(median(values)) for name, values in samples.items() if values}


def best_peer(row: Mapping[str, float]) -> str | None:
    """The peer with the smallest median, or None if no peer has one; no Penstock is a peer.

    >>> best_peer({"penstock": 1.0, "torch": 3.0, "jax": 2.0})
    'jax'
    """
    peers = [name for name in row if name not in (PENSTOCK, BEFORE)]
    return min(peers, key=lambda name: row[name], default=None)


def percentile(values: Sequence[float], share: float) -> float:
    """The value that a share of all values does not exceed.

    >>> percentile([4.0, 1.0, 3.0, 2.0], 0.75)
    3.0
    """
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def step_rows(
    case: str, steps: Mapping[str, Sequence[float]], cpu: Mapping[str, Sequence[float]]
) -> Results:
    """The rows of single steps.

    Args:
        case: Its name.
        steps: Single steps of each implementation, in seconds.
        cpu: CPU seconds a step, a sample a turn.

    Example:
        >>> step_rows("cnn", {"penstock": [1.0, 1.0, 9.0]}, {"penstock": [2.0]})
        {'cnn_p50': {'penstock': 1.0}, 'cnn_p95': {'penstock': 9.0}, 'cnn_cpu': {'penstock': 2.0}}
    """
    found = (
        {name: percentile(values, 0.5) for name, values in steps.items() if values},
        {name: percentile(values, 0.95) for name, values in steps.items() if values},
        {name: sum(values) / len(values) for name, values in cpu.items() if values},
    )
    return {f"{case}_{row}": values for row, values in zip(STEP_ROWS, found, strict=True)}


@dataclass(frozen=True)
class Verdict:
    """How a requirement came out.

    Attributes:
        requirement: The requirement.
        peer: The peer compared with; None if it was not measured.
        ratio: Penstock's median by the peer's; None if either was not measured.
    """

    requirement: Requirement
    peer: str | None
    ratio: float | None

    @property
    def met(self) -> bool | None:
        """Whether the ratio is within the requirement; None if there is no ratio."""
        return None if self.ratio is None else self.ratio <= self.requirement.ratio

    def __str__(self) -> str:
        required = self.requirement
        against = required.against
        if against == BEST_PEER and self.peer is not None:
            against = f"{BEST_PEER} ({self.peer})"
        if required.of:
            against = f"{against}'s {required.of}"
        bound = f"{required.case}: at most {required.ratio:.3g} of {against}"
        if self.ratio is None:
            return f"{bound}: not measured"
        return f"{bound}: {self.ratio:.3g}, {'met' if self.met else 'NOT MET'}"


def judge(results: Results, requirements: Sequence[Requirement] = REQUIREMENTS) -> list[Verdict]:
    """A verdict for each requirement on a case that the results hold."""
    verdicts = []
    for requirement in requirements:
        if requirement.case not in results:
            continue
        row = results[requirement.case]
        base = results.get(requirement.of, {}) if requirement.of else row
        peer = best_peer(row) if requirement.against == BEST_PEER else requirement.against
        if peer is not None and base.get(peer, 0.0) >= requirement.under:
            continue
        if peer is None or peer not in base:
            verdicts.append(Verdict(requirement, None, None))
        elif PENSTOCK not in row:
            verdicts.append(Verdict(requirement, peer, None))
        else:
            verdicts.append(Verdict(requirement, peer, row[PENSTOCK] / base[peer]))
    return verdicts


def compare_same(values: Mapping[str, Sequence[float]]) -> list[str]:
    """What differs in the first and tenth (or last) values of steps that should be the same.

    Args:
        values: The values of the first steps, as many of each implementation.

    Returns:
        A sentence for each difference beyond a relative 1e-3 from the reference, which is
        TensorFlow 2 where it ran, else the first implementation.
    """
    problems: list[str] = []
    reference = "tensorflow" if "tensorflow" in values else next(iter(values), None)
    if reference is None:
        return problems
    for name, found in values.items():
        for step in (0, min(9, len(found) - 1)):
            a, b = found[step], values[reference][step]
            if not math.isclose(a, b, rel_tol=SAME_RTOL):
                problems.append(f"{name}: step {step + 1} gives {a:.7g}, {reference} gives {b:.7g}")
    return problems


def compare_random(values: Mapping[str, Sequence[float]]) -> list[str]:
    """What is wrong with losses that depend on random draws.

    They must be finite, lower in the last tenth than in the first, and agree in their mean with
    the reference to 5%. Arguments and result as in ``compare_same``.
    """
    problems: list[str] = []
    reference = "tensorflow" if "tensorflow" in values else next(iter(values), None)
    for name, found in values.items():
        tenth = max(1, len(found) // 10)
        mean = sum(found) / len(found)
        if not all(map(math.isfinite, found)):
            problems.append(f"{name}: a loss is not finite")
        elif sum(found[-tenth:]) >= sum(found[:tenth]):
            problems.append(f"{name}: the loss does not fall")
        elif reference is not None:
            expected = sum(values[reference]) / len(values[reference])
            if not math.isclose(mean, expected, rel_tol=RANDOM_RTOL):
                problems.append(f"{name}: mean loss {mean:.4g}, {reference} has {expected:.4g}")
    return problems


def format_value(case: str, value: float) -> str:
    """A median with its unit.

    >>> format_value("cnn", 0.0214), format_value("memory", 3 * 2**20)
    ('21.4 ms', '3 MiB')
    """
    if case == "memory" or case.endswith("_memory"):
        return f"{value / 2**20:.0f} MiB"
    for unit, scale in (("us", 1e-6), ("ms", 1e-3)):
        if value < 1000 * scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value:.3g} s"


def table(
    results: Results,
    marked: Sequence[str] = (),
    names: Sequence[str] = ALL,
    verdicts: Sequence[Verdict] | None = None,
) -> str:
    """The medians as text: under each peer its median and Penstock's as a ratio of it.

    Args:
        results: The rows.
        marked: Cases whose checks failed; they get a ``!``.
        names: The columns: implementations.
        verdicts: What is required of the rows and how it came out; else that of ``judge``.
    """
    verdicts = judge(results) if verdicts is None else verdicts
    rows = [["case", *names, "required", ""]]
    for case, row in results.items():
        cells = [case + (" !" if case in marked else "")]
        for name in names:
            cells.append(_cell(case, row, name))
        of_case = [verdict for verdict in verdicts if verdict.requirement.case == case]
        cells.append(", ".join(_requirement(verdict) for verdict in of_case) or "-")
        cells.append(_outcome(of_case))
        rows.append(cells)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip() for row in rows]
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def _cell(case: str, row: Mapping[str, float], name: str) -> str:
    if name not in row:
        return "-"
    text = format_value(case, row[name])
    if name == PENSTOCK or PENSTOCK not in row or not row[name]:
        return text
    return f"{text} ({row[PENSTOCK] / row[name]:.3g})"


def _requirement(verdict: Verdict) -> str:
    required = verdict.requirement
    against = verdict.peer if required.against == BEST_PEER else required.against
    return f"<= {required.ratio:.3g} {required.of or against or required.against}"


def _outcome(verdicts: Sequence[Verdict]) -> str:
    if not verdicts:
        return ""
    if any(verdict.met is None for verdict in verdicts):
        return "not measured"
    return "met" if all(verdict.met for verdict in verdicts) else "NOT MET"


def to_json(value: Any) -> str:
    """Results or details as JSON text, numbers in full."""
    return json.dumps(value, indent=2) + "\n"

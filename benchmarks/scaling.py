"""``python -m benchmarks.scaling``: how a step's time grows with what it works on.

Penstock, TensorFlow 2.21 and JAX take turns at each size of ``scaling_data.SIZES``; the losses must
agree. A time is that of the fastest turn: what other processes do to a turn only adds to it.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path

from benchmarks import report, scaling_plot
from benchmarks.cases import IMPLEMENTATIONS, PENSTOCK, Case, known_names
from benchmarks.driver import Driver, Settings
from benchmarks.scaling_data import JAX_NODES, SIZES, name_of
from benchmarks.workers import RESULTS

_TITLES = {
    "nodes": "a chain of small nodes",
    "vocabulary": "128 rows of a table, looked up and updated",
    "width": "two hidden layers of this width, batch 128",
    "batch": "784-512-512-10, SGD, by batch",
}
_KINDS = {"graph": "graph_scaling", "jax": "jax_scaling"}
_SETTINGS = Settings(rounds=7, turn_seconds=0.15, lead_seconds=0.1)
Times = dict[str, dict[str, dict[int, float]]]


def cases(names: list[str]) -> list[Case]:
    """The sizes of what is named, of all for no names.

    >>> [case.name for case in cases(["vocabulary"])]
    ['vocabulary_50000', 'vocabulary_500000', 'vocabulary_5000000']
    """
    chosen = known_names(names, list(SIZES), "row")
    found = []
    for what in SIZES:
        for size in SIZES[what] if not chosen or what in chosen else ():
            jax = () if what == "nodes" and size > JAX_NODES else ("jax_scaling",)
            title = f"{_TITLES[what]}: {size:,}"
            kinds = ("graph_scaling", *jax)
            found.append(Case(name_of(what, size), title, kinds=kinds, warm_steps=3))
    return found


def times_of(details: dict[str, dict[str, dict[str, list[float]]]]) -> Times:
    """Seconds of the fastest turn, by row, implementation and size."""
    times: Times = {}
    for what, sizes in SIZES.items():
        for size in sizes:
            samples = details.get(name_of(what, size), {}).get("samples", {})
            for name, turns in samples.items():
                if turns:
                    times.setdefault(what, {}).setdefault(name, {})[size] = min(turns)
    return times


def tables(times: Times) -> list[str]:
    """Lines of a table of each row, in Markdown."""
    lines: list[str] = []
    for what, curves in times.items():
        names = list(curves)
        lines += ["", f"| {what} | {' | '.join(names)} |", "|---" * (len(names) + 1) + "|"]
        for size in sorted({size for curve in curves.values() for size in curve}):
            cells = [
                scaling_plot.duration(curves[name][size]) if size in curves[name] else ""
                for name in names
            ]
            lines.append(f"| {size:,} | {' | '.join(cells)} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Measures, prints tables, writes the times and, asked to, a plot; 1 when values differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scaling", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="ROW", help=", ".join(SIZES))
    parser.add_argument("--plot", metavar="FILE", help="write the curves as SVG")
    options = parser.parse_args(arguments)
    try:
        chosen = cases(options.names)
    except ValueError as error:
        parser.error(str(error))
    implementations = [
        dataclasses.replace(item, kind=_KINDS[item.kind])
        for item in IMPLEMENTATIONS
        if item.name in (PENSTOCK, "tensorflow", "jax")
    ]
    outcome = Driver(_SETTINGS, _say, implementations).run(chosen)
    times = times_of(outcome.details)
    for line in tables(times):
        print(line)
    for case, problems in outcome.failures.items():
        for problem in problems:
            print(f"! {case}: {problem}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "scaling.json").write_text(report.to_json(times))
    if options.plot:
        panels = {_TITLES[what]: curves for what, curves in times.items()}
        Path(options.plot).write_text(scaling_plot.svg(panels))
    return 1 if outcome.failures else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

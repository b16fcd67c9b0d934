"""``python -m benchmarks [CASES]``: measures, prints the tables, writes the JSON files."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import comparison, machine, report
from benchmarks.cases import (
    BEFORE,
    BUSY_CASES,
    BUSY_REQUIREMENTS,
    CASES,
    IMPLEMENTATIONS,
    PENSTOCK,
    REQUIREMENTS,
    Implementation,
    before,
    implementations,
    select,
)
from benchmarks.driver import QUICK, Driver, Outcome, Settings
from benchmarks.workers import RESULTS


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmarks.

    Returns:
        0 when every case ran everywhere and did the same work; 1 otherwise. Requirements that
        are not met are printed and do not change it.
    """
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        cases = select(options.names + options.cases or _by_default(options.busy))
        chosen = implementations(options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.against:
        if not (Path(options.against) / "penstock" / "__init__.py").exists():
            parser.error(f"--against: no penstock in {options.against}")
        chosen = _with_before(chosen, str(Path(options.against).resolve()))
    settings = QUICK if options.quick else Settings()
    started = time.perf_counter()
    outcome = Driver(settings, _say, chosen, options.busy).run(cases)
    for line in _report(outcome, chosen, options.busy):
        _say(line)
    # What runs busy and idle is not compared; neither overwrites the other.
    suffix = f"-busy{options.busy}" if options.busy else ""
    RESULTS.mkdir(parents=True, exist_ok=True)
    latest = RESULTS / f"latest{suffix}.json"
    latest.write_text(report.to_json({**outcome.results, **outcome.steps}))
    (RESULTS / f"details{suffix}.json").write_text(report.to_json(outcome.details))
    seconds = time.perf_counter() - started
    _say(f"\n{seconds:.0f} s; results are in benchmarks/results/{latest.name}")
    return 1 if outcome.failures else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Penstock and its peers side by side.",
        epilog="cases: "
        + ", ".join(case.name for case in CASES)
        + "; implementations: "
        + ", ".join(each.name for each in IMPLEMENTATIONS),
    )
    parser.add_argument("names", nargs="*", metavar="CASES", help="names, commas between")
    parser.add_argument("--cases", action="append", default=[], help="the same, as an option")
    parser.add_argument("--only", action="append", default=[], help="implementations likewise")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all?")
    parser.add_argument(
        "--busy",
        type=int,
        default=0,
        metavar="N",
        help="N processes keep a core busy each, all the time; by default the cases "
        + ", ".join(BUSY_CASES),
    )
    parser.add_argument(
        "--against", metavar="DIR", help="another checkout of Penstock, measured in the same run"
    )
    return parser


def _by_default(busy: int) -> list[str]:
    return list(BUSY_CASES) if busy else []


def _with_before(chosen: Sequence[Implementation], checkout: str) -> list[Implementation]:
    """Puts the other Penstock right behind this one."""
    ours = [each for each in chosen if each.name == PENSTOCK]
    others = [each for each in chosen if each.name != PENSTOCK]
    return [*ours, before(checkout), *others]


def _report(outcome: Outcome, chosen: Sequence[Implementation], busy: int) -> list[str]:
    """All that is printed after the measuring."""
    verdicts = report.judge(
        {**outcome.results, **outcome.steps}, BUSY_REQUIREMENTS if busy else REQUIREMENTS
    )
    names = [each.name for each in chosen]
    marked = list(outcome.failures)
    lines = ["", *_circumstances(outcome)]
    lines += ["", report.table(outcome.results, marked, names, verdicts)]
    if outcome.steps:
        lines += ["", report.table(outcome.steps, [], names, verdicts)]
    lines += ["", "Under each peer: its figure, and in parentheses Penstock's as a ratio of it."]
    lines += ["p50, p95: of single steps; cpu: CPU seconds a step of all threads.", ""]
    lines += map(str, verdicts)
    lines += map(str, _compared(outcome))
    for case, problems in outcome.failures.items():
        lines += [f"! {case}: {problem}" for problem in problems]
    return lines


def _circumstances(outcome: Outcome) -> list[str]:
    """What the figures depend on: the machine, who else used it, what was compared."""
    found = outcome.details["machine"]
    lines = [*machine.describe(found["before"])]
    lines.append(f"during the run: {machine.describe_use(found['whole_run'])}")
    if found["busy"]:
        lines.append(f"BUSY={found['busy']}: so many processes kept a core busy each")
    for name, packages in outcome.details.get("packages", {}).items():
        versions = ", ".join(f"{package} {version}" for package, version in packages.items())
        place = f" from {outcome.details['paths'][name]}" if name in (PENSTOCK, BEFORE) else ""
        lines.append(f"{name}: {versions}{place}")
    return lines


def _compared(outcome: Outcome) -> list[comparison.Comparison]:
    """This checkout beside the other one, of cases that both ran to the end."""
    found = []
    for case in outcome.results:
        samples = outcome.details.get(case, {}).get("samples", {})
        if samples.get(PENSTOCK) and samples.get(BEFORE):
            found.append(comparison.compare(case, samples[PENSTOCK], samples[BEFORE]))
    return found


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

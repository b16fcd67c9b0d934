"""``python -m benchmarks [CASES]``: measures, prints the table, writes the JSON files."""

from __future__ import annotations

import argparse
import sys
import time

from benchmarks import report
from benchmarks.cases import CASES, select
from benchmarks.driver import QUICK, Driver, Settings
from benchmarks.workers import RESULTS


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmarks.

    Returns:
        0 when every case ran everywhere and did the same work; 1 otherwise. Requirements that
        are not met are printed and do not change it.
    """
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Penstock and its peers side by side.",
        epilog="cases: " + ", ".join(case.name for case in CASES),
    )
    parser.add_argument("names", nargs="*", metavar="CASES", help="names, commas between")
    parser.add_argument("--cases", action="append", default=[], help="the same, as an option")
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all?")
    options = parser.parse_args(arguments)
    try:
        cases = select(options.names + options.cases)
    except ValueError as error:
        parser.error(str(error))
    started = time.perf_counter()
    outcome = Driver(QUICK if options.quick else Settings(), _say).run(cases)
    print()
    print(report.table(outcome.results, list(outcome.failures)))
    print("\nUnder each peer: its median, and in parentheses Penstock's as a ratio of it.\n")
    for verdict in report.judge(outcome.results):
        print(verdict)
    for case, problems in outcome.failures.items():
        for problem in problems:
            print(f"! {case}: {problem}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "latest.json").write_text(report.to_json(outcome.results))
    (RESULTS / "details.json").write_text(report.to_json(outcome.details))
    seconds = time.perf_counter() - started
    print(f"\n{seconds:.0f} s; results are in benchmarks/results/latest.json")
    return 1 if outcome.failures else 0


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())

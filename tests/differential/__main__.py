"""Random calls of public functions, in Penstock and in TensorFlow 1.15.

    python -m tests.differential [--functions a,b] [--cases 200] [--seed 0] [--shard i/n]
                                [--fresh] [--out file] [--verbose]

``calls/`` has a row a function; ``generator.py`` makes many calls of a row; ``runner.py`` makes
them on both sides, in processes that may die; ``judge.py`` compares.  Prints a table, a line a
function: calls, those that agree (of them how many where both raise), those not comparable, those
whose difference is explained, those that differ.  Exit status 1 if a function has more of these
than are admitted.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.conformance import peers
from tests.differential import answers
from tests.differential.args import Call
from tests.differential.calls import all_calls
from tests.differential.generator import cases
from tests.differential.judge import Verdict, judge
from tests.peers import TF115, absence

# Functions whose calls one process makes; more would be lost with an interrupted run.
TOGETHER = 30
# The share of a function's calls that may differ. With seed 0 none does; one of 200 leaves room for
# what differs by the processor, and for memory that TensorFlow leaves unwritten.
UNSEEN = 0.005


@dataclasses.dataclass
class Tally:
    """What was found of one function."""

    name: str
    calls: int = 0
    agree: int = 0
    refuse: int = 0
    skipped: int = 0
    explained: int = 0
    verdicts: list[Verdict] = dataclasses.field(default_factory=list)

    @property
    def differ(self) -> int:
        """How many calls differ."""
        return len(self.verdicts)

    def add(self, verdict: Verdict, ours: dict[str, Any]) -> None:
        """Counts one call."""
        self.calls += 1
        if verdict.differences:
            self.verdicts.append(verdict)
        elif verdict.skipped:
            self.skipped += 1
        elif verdict.explained:
            self.explained += 1
        else:
            self.agree += 1
            self.refuse += "error" in ours

    def line(self) -> str:
        """One line of the table."""
        kinds = collections.Counter(v.differences[0].split(":")[0] for v in self.verdicts)
        text = ", ".join(f"{count} {kind}" for kind, count in kinds.most_common())
        return (
            f"{self.name:44s} {self.calls:5d} {self.agree:5d} ({self.refuse:3d} raise)"
            f" {self.skipped:4d} {self.explained:4d} {self.differ:4d}  {text}"
        )


def _tensorflow(jobs: dict[str, Any], kept: Path | None) -> dict[str, Any]:
    """TensorFlow's results by case; it is asked for those that the folder does not have."""
    known = {op: answers.read(kept, op) for op in dict.fromkeys(c["op"] for c in jobs.values())}
    keys = {name: answers.key(case) for name, case in jobs.items()}
    left = [case for name, case in jobs.items() if keys[name] not in known[case["op"]]]
    if left:
        new: dict[str, answers.Answers] = {case["op"]: {} for case in left}
        found = peers.run_jobs("tf1", left, runner=answers.RUNNER, timeout=7200)
        for name, result in found.items():
            new[jobs[name]["op"]][keys[name]] = result
        for op, results in new.items():
            known[op].update(results)
            answers.add(kept, op, results)
    return {name: {**known[case["op"]][keys[name]], "id": name} for name, case in jobs.items()}


def run(
    rows: list[Call], count: int, seed: int, kept: Path | None = None
) -> tuple[list[Tally], dict[str, Any]]:
    """Runs calls of rows on both sides; returns what was found, and the calls by name.

    Args:
      rows: Of ``calls/``.
      count: Calls of each.
      seed: Which calls.
      kept: The folder of TensorFlow's answers (``answers.py``), which this adds to.
    """
    jobs = {case["id"]: case for row in rows for case in cases(row, seed, count)}
    found: dict[str, dict[str, Any]] = {}
    failures: list[BaseException] = []

    def side(peer: str) -> None:
        try:
            if peer == "tf1":
                found[peer] = _tensorflow(jobs, kept)
            else:
                work = list(jobs.values())
                found[peer] = peers.run_jobs(peer, work, runner=answers.RUNNER, timeout=7200)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=side, args=(peer,)) for peer in ("tf1", "penstock")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    tallies = {row.name: Tally(row.name) for row in rows}
    for name, case in jobs.items():
        ours = found["penstock"][name]
        tallies[case["op"]].add(judge(case, ours, found["tf1"][name]), ours)
    return list(tallies.values()), jobs


def of_shard(rows: list[Call], shard: int, of: int) -> list[Call]:
    """The rows of the shard, from 1: every ``of``-th."""
    return rows[shard - 1 :: of]


def beyond(tally: Tally) -> bool:
    """Whether a function differs more often than is admitted."""
    return tally.differ > UNSEEN * tally.calls


def _shown(value: Any) -> str:
    """An argument as a reader wants it."""
    if not isinstance(value, dict):
        return repr(value)
    if "parts" in value:
        return f"{value['k']}({', '.join(map(_shown, value['parts']))})"
    if "dtype" not in value:
        return repr(value["v"])
    from tests.conformance.jobs import unpack

    array = unpack(value["v"])
    text = repr(array.tolist()) if array.size <= 12 else f"<{list(array.shape)}>"
    static = f" known {value['static']}" if value["k"] == "feed" else ""
    return f"{value['k']}:{value['dtype']}{list(array.shape)}{static} {text}"


def shown(case: dict[str, Any]) -> str:
    """A call on one line."""
    given = [_shown(spec) for spec in case["args"]]
    given += [f"{key}={_shown(spec)}" for key, spec in case["kwargs"].items()]
    return f"{case['op']}({', '.join(given)})"


def main(argv: list[str] | None = None) -> int:
    """Command line; see the module docstring."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--functions", default="", help="separated by commas (default: all)")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shard", default="1/1", help="as in 2/20")
    parser.add_argument("--verbose", action="store_true", help="print every difference")
    parser.add_argument("--fresh", action="store_true", help="ask TensorFlow for every answer")
    parser.add_argument("--out", help="write all differences to this file, as JSON")
    options = parser.parse_args(argv)
    if not peers.available("tf1"):
        print(absence(TF115))
        return 2
    known = all_calls()
    names = [n for n in options.functions.split(",") if n] or list(known)
    shard, of = (int(part) for part in options.shard.split("/"))
    rows = of_shard([known[name] for name in names], shard, of)
    kept = None if options.fresh else answers.folder()
    started = time.monotonic()
    print(f"{'function':44s} calls agree             skip expl diff")
    tallies: list[Tally] = []
    differing: list[dict[str, Any]] = []
    for first in range(0, len(rows), TOGETHER):
        part = rows[first : first + TOGETHER]
        found, jobs = run(part, options.cases, options.seed, kept)
        tallies += found
        for tally in found:
            print(tally.line(), flush=True)
            differing += [
                {"case": v.case, "call": shown(jobs[v.case]), "differences": v.differences}
                for v in tally.verdicts
            ]
    for item in differing if options.verbose else ():
        print(f"{item['case']} {item['call']}", *item["differences"], sep="\n    ")
    columns = ("calls", "agree", "skipped", "explained", "differ")
    total = {key: sum(getattr(t, key) for t in tallies) for key in columns}
    seconds = time.monotonic() - started
    print(f"{len(tallies)} functions: {json.dumps(total)} ({seconds:.0f} s)")
    if options.out:
        Path(options.out).write_text(json.dumps(differing, indent=1) + "\n")
    return int(any(beyond(tally) for tally in tallies))


if __name__ == "__main__":
    sys.exit(main())

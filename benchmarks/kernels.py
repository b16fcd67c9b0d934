"""``python -m benchmarks.kernels``: the most used ops at three sizes, as a table of ratios.

One interleaved run of Penstock, TensorFlow 2.21 (a ``compat.v1`` session) and PyTorch eager; the
table is printed and ``results/kernels.json`` written.  ``kernel_cases`` says what is measured.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Sequence

from benchmarks import kernel_cases, report
from benchmarks.cases import IMPLEMENTATIONS, PENSTOCK, Case
from benchmarks.driver import Driver, Settings
from benchmarks.workers import RESULTS

PEERS = ("tensorflow", "torch")
# Penstock at large sizes, as a ratio of the best peer.
MOST = 2.0

_KINDS = {"graph": "graph_kernels", "torch": "torch_kernels"}
_SETTINGS = Settings(rounds=11, turn_seconds=0.06, warm_seconds=0.2, lead_seconds=0.0)
_QUICK = Settings(rounds=3, turn_seconds=0.02, warm_seconds=0.02, lead_seconds=0.0)


def cases(names: list[str], sizes: Sequence[str] = tuple(kernel_cases.SIZES)) -> list[Case]:
    """The cases of the named kernels and updates, all without names.

    Args:
        names: Of ``KERNELS`` and ``ROWS``.
        sizes: Of ``SIZES``; updates have none and are always there.

    Raises:
        ValueError: There is no such kernel.

    Example:
        >>> [case.name for case in cases(["matmul"])]
        ['matmul_small', 'matmul_medium', 'matmul_large']
        >>> [case.name for case in cases(["matmul"], ["large"])]
        ['matmul_large']
    """
    known = {**kernel_cases.KERNELS, **kernel_cases.ROWS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise ValueError(f"no such kernel: {', '.join(wrong)}; there are {', '.join(known)}")
    kinds = tuple(_KINDS.values())
    made = []
    for name, size in kernel_cases.names():
        if (not names or name in names) and kernel_cases.SIZES[size] in sizes:
            check = "" if kernel_cases.KERNELS[name].random else "same"
            title = kernel_cases.case_name(name, size)
            made.append(Case(title, f"{name}, {kernel_cases.SIZES[size]}", 3, check, kinds))
    for name, rows in kernel_cases.ROWS.items():
        if not names or name in names:
            title = f"{rows.touched} of {rows.rows} rows of {kernel_cases.ROW_WIDTH}"
            made.append(Case(name, title, 10, "same", kinds))
    return made


def table(results: report.Results) -> str:
    """A line for each kernel: Penstock's time and its ratio to each peer, for each size."""
    sizes = kernel_cases.SIZES
    heads = [f"{size:^28}" for size in sizes]
    lines = [f"{'op':24}" + " ".join(heads)]
    columns = f"{'penstock':>10}{'/ tf':>8}{'/ torch':>9} "
    lines.append(f"{'':24}" + " ".join([columns] * len(sizes)))
    for name in kernel_cases.KERNELS:
        rows = [results.get(f"{name}_{size}", {}) for size in sizes]
        if any(rows):
            lines.append(f"{name:24}" + " ".join(map(_cell, rows)))
    updates = [name for name in kernel_cases.ROWS if name in results]
    if updates:
        lines += ["", f"{'table, rows touched':34}{'penstock':>10}{'/ tf':>8}{'/ torch':>9}"]
        lines += [f"{name:34}{_cell(results[name])}" for name in updates]
    return "\n".join(line.rstrip() for line in lines)


def _cell(row: dict[str, float]) -> str:
    if PENSTOCK not in row:
        return " " * 28
    ours = row[PENSTOCK]
    cells = [f"{report.format_value('', ours):>10}"]
    for peer, width in zip(PEERS, (8, 9), strict=True):
        cells.append(f"{ours / row[peer]:.2f}".rjust(width) if peer in row else "-".rjust(width))
    return "".join(cells) + " "


def slow(results: report.Results) -> list[str]:
    """A sentence for each op that is slower at large sizes than it should be.

    >>> slow({"abs_large": {"penstock": 0.3, "torch": 0.1, "tensorflow": 0.2}})
    ['abs: 3.00 times the time of torch at large size (at most 2)']
    """
    found = []
    for name in kernel_cases.KERNELS:
        row = results.get(f"{name}_large", {})
        peer = report.best_peer(row)
        if peer is not None and PENSTOCK in row and row[PENSTOCK] > MOST * row[peer]:
            ratio = row[PENSTOCK] / row[peer]
            found.append(f"{name}: {ratio:.2f} times the time of {peer} at large size (at most 2)")
    return found


def growths(results: report.Results) -> list[str]:
    """How the time of sparse updates grows with the table, and with the rows touched."""
    found = []
    for name in ("embedding_gradient", "scatter_update"):
        for what, first, last in (
            ("table of 50k to 5M rows, 1024 touched", "50k_1024", "5000k_1024"),
            ("256 to 4096 rows touched, table of 500k", "500k_256", "500k_4096"),
        ):
            a, b = results.get(f"{name}_{first}", {}), results.get(f"{name}_{last}", {})
            both = [side for side in (PENSTOCK, *PEERS) if side in a and side in b]
            if both:
                factors = ", ".join(f"{side} {b[side] / a[side]:.2f}" for side in both)
                found.append(f"{name}, {what}: time x {factors}")
    return found


def main(arguments: list[str] | None = None) -> int:
    """Measures, prints the table and writes it; 1 when a case failed or values differ."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="KERNEL")
    sizes = tuple(kernel_cases.SIZES)
    parser.add_argument("--sizes", nargs="+", choices=sizes, default=sizes)
    parser.add_argument("--quick", action="store_true", help="few rounds: does it run at all?")
    options = parser.parse_args(arguments)
    try:
        chosen = cases(options.names, options.sizes)
    except ValueError as error:
        parser.error(str(error))
    implementations = [
        dataclasses.replace(item, kind=_KINDS[item.kind])
        for item in IMPLEMENTATIONS
        if item.name in (PENSTOCK, *PEERS)
    ]
    started = time.perf_counter()
    driver = Driver(_QUICK if options.quick else _SETTINGS, _say, implementations)
    outcome = driver.run(chosen)
    print(table(outcome.results), "\n")
    for line in [*growths(outcome.results), *slow(outcome.results)]:
        print(line)
    for case, problems in outcome.failures.items():
        for problem in problems:
            print(f"! {case}: {problem}")
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "kernels.json").write_text(report.to_json(outcome.results))
    seconds = time.perf_counter() - started
    print(f"\n{seconds:.0f} s; results are in benchmarks/results/kernels.json")
    return 1 if outcome.failures else 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

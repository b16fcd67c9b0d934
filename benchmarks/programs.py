"""``python -m benchmarks.programs``: whole programs, from the start of the process to its end.

Ten programs of one file in the idioms of 2015 to 2019 (``tests/tf1/eras``), each run unchanged: by
``penstock run``, by TensorFlow 1.15 and, where it can, by TensorFlow 2.21 with ``compat.v1`` in the
place of its package. The implementations take turns; the table is printed and
``results/programs.json`` written.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

from benchmarks import report
from benchmarks.cases import IMPLEMENTATIONS, PENSTOCK, Implementation, known_names
from benchmarks.workers import RESULTS, ROOT, environment, interpreter_of

FOLDER = ROOT / "tests" / "tf1" / "eras"
PROGRAMS = (
    "cnn_deep_mnist",
    "cnn_layers",
    "cnn_slim",
    "rnn_dynamic_lengths",
    "text_language_model",
    "seq2seq_attention",
    "gan_dcgan",
    "autoencoder_variational",
    "data_iterators",
    "estimator_dnn",
)
# The median over programs of Penstock's time as a ratio of the better peer's is at most this.
MOST = 0.8
ROUNDS = 5
# Numbers that programs print agree to this; they have six digits.
TOLERANCE = 1e-3

# Runs the program that is named with `compat.v1` as what it imports by the name `tensorflow`.
_AS_OF_1 = (
    "import runpy, sys, tensorflow.compat.v1 as tf\n"
    "tf.disable_v2_behavior()\n"
    "sys.modules['tensorflow'] = tf\n"
    "del sys.argv[0]\n"
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
_NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")

Seconds = dict[str, dict[str, list[float]]]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures, prints and writes.

    Returns:
        0 when every program ran in Penstock and in TensorFlow 1.15 and printed the same numbers.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="PROGRAMS", help="names, commas between")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    try:
        names = known_names(options.names, PROGRAMS, "program") or list(PROGRAMS)
    except ValueError as error:
        parser.error(str(error))
    peers = [each for each in IMPLEMENTATIONS if each.kind == "graph"]
    there = [each for each in peers if interpreter_of(each).exists()]
    seconds, problems = measure(names, there, options.rounds)
    medians = {
        name: {who: statistics.median(taken) for who, taken in row.items() if taken}
        for name, row in seconds.items()
    }
    print("\n".join([*table(medians), *problems]))
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "programs.json").write_text(report.to_json(seconds))
    return 1 if any("tensorflow:" not in problem for problem in problems) else 0


def measure(
    names: Sequence[str], implementations: Sequence[Implementation], rounds: int
) -> tuple[Seconds, list[str]]:
    """Runs the programs in turns.

    Returns:
        Seconds by program and implementation, and what went wrong: a program that fails or prints
        other numbers than Penstock's has no times.
    """
    seconds: Seconds = {name: {} for name in names}
    problems = []
    for name in names:
        said: dict[str, str] = {}
        # The first round only brings the files into the page cache.
        for turn in range(rounds + 1):
            for each in implementations:
                if turn and each.name not in seconds[name]:
                    continue
                taken, printed, problem = run(name, each)
                said.setdefault(each.name, printed)
                if not problem and not same(said[PENSTOCK], printed):
                    problem = "prints other numbers than Penstock"
                if problem:
                    problems.append(f"! {name}: {each.name}: {problem}")
                    seconds[name].pop(each.name, None)
                elif turn:
                    seconds[name][each.name].append(taken)
                else:
                    seconds[name][each.name] = []
    return seconds, problems


def run(name: str, implementation: Implementation) -> tuple[float, str, str]:
    """One process of a program: its seconds, what it printed, and why it failed if it did."""
    command = [str(interpreter_of(implementation))]
    command += {PENSTOCK: ["-m", "penstock", "run"], "tensorflow": ["-c", _AS_OF_1]}.get(
        implementation.name, []
    )
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        done = subprocess.run(
            [*command, str(FOLDER / f"{name}.py")],
            cwd=folder,
            env={**environment(), "TMPDIR": folder, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=False,
        )
        seconds = time.perf_counter() - started
    problem = (done.stderr.strip().splitlines() or ["?"])[-1] if done.returncode else ""
    return seconds, done.stdout, problem


def same(one: str, other: str) -> bool:
    """Whether two outputs have the same numbers.

    >>> same("loss 1.25000", "loss 1.25001"), same("loss 1.25", "loss 1.35")
    (True, False)
    """
    found = [[float(text) for text in _NUMBER.findall(each)] for each in (one, other)]
    if len(found[0]) != len(found[1]):
        return False
    pairs = zip(*found, strict=True)
    return all(abs(a - b) <= TOLERANCE * max(abs(a), abs(b), 1e-3) for a, b in pairs)


def table(medians: dict[str, dict[str, float]]) -> list[str]:
    """A line for each program, and the median of its ratios to the better peer.

    >>> table({"a": {"penstock": 1.0, "tensorflow1": 2.0}})[1:]
    ['a                           1.00        2.00           -      0.50', \
'median over programs: 0.50 of the better peer (at most 0.8)']
    """
    columns = (PENSTOCK, "tensorflow1", "tensorflow")
    lines = [f"{'program':24}" + "".join(f"{who:>12}"[:12] for who in columns) + f"{'ratio':>10}"]
    ratios = []
    for name, row in medians.items():
        cells = [f"{row[who]:12.2f}"[-8:] if who in row else "-" for who in columns]
        peers = [row[who] for who in columns[1:] if who in row]
        if PENSTOCK in row and peers:
            ratios.append(row[PENSTOCK] / min(peers))
        ratio = f"{ratios[-1]:10.2f}" if PENSTOCK in row and peers else f"{'-':>10}"
        lines.append(f"{name:20}" + "".join(f"{cell:>12}" for cell in cells) + ratio)
    if ratios:
        median = statistics.median(ratios)
        lines.append(f"median over programs: {median:.2f} of the better peer (at most {MOST})")
    return lines


if __name__ == "__main__":
    sys.exit(main())

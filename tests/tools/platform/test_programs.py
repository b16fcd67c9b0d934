"""Small programs, run as processes: their flags, log, tests and exit codes.

`programs/` has them. Each says what it prints with Penstock; the long tests hold that against
TensorFlow 1.15 (`make tf115`), which prints the same.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.peers import TF115, needs
from tests.suite import warm
from tests.suite.daily import long_but

HERE = Path(__file__).parent / "programs"
# Lines of TensorFlow 1.15 about its own future, of NumPy and of Python; and absl's second copies.
_NOISE = re.compile(
    r".*(is deprecated|Instructions for updating|^Use |FutureWarning|np_resource|np_dtype|_np_q)"
    r"|[IWEF]\d{4} |WARNING:root|\[|.*array_ops.py"
)


class Case(NamedTuple):
    """A run: the program and its arguments, its environment; the exit code and what it prints."""

    command: str
    environment: dict[str, str]
    code: int
    out: str
    err: str = ""


HELP = """\
A program with flags, as TF1 programs have them; its framework is in the environment.
flags:

trainer.py:
  --data_dir: Where the data is.
    (default: '/tmp/data')
  --data_url: Where the data comes from.
  --layers: Widths.
    (default: '64,32')
    (a comma separated list)
  --mode: <train|eval>: What to do.
    (default: 'train')
  --rate: The learning rate.
    (default: '0.5')
    (a number)
  --steps: How many steps.
    (default: '3')
    (an integer)
  --[no]verbose: Whether to say more.
    (default: 'false')

Try --helpfull to get a list of all flags.
"""
LOG = """\
WARNING:tensorflow:warned of this
INFO:tensorflow:shown: 1
ERROR:tensorflow:an error
CRITICAL:tensorflow:the worst
WARNING:tensorflow:old name
INFO:tensorflow:by level x
ERROR:tensorflow:verbose
ERROR:tensorflow:of the task
WARNING:tensorflow:if 5
INFO:tensorflow:every 2: 0
INFO:tensorflow:every 2: 2
INFO:tensorflow:every 2: 4
INFO:tensorflow:Graph was finalized.
INFO:tensorflow:Running local_init_op.
INFO:tensorflow:Done running local_init_op.
INFO:tensorflow:a = 2.0
"""
CASES = {
    # Flags that nobody defined are the program's, with the other arguments.
    "flags": Case(
        "trainer.py --steps=2 --rate 0.25 a --unknown=3 b", {}, 0,
        "argv ['a', '--unknown=3', 'b'] list\n/tmp/data 2 0.25 False None train\n"
        "['64', '32'] 2 True 2\nx 2.5\n",
    ),
    # Reading a flag parses the command line; what `main` returns is the exit code.
    "read first": Case(
        "trainer.py --steps=4 --verbose", {"READ_EARLY": "1"}, 4,
        "early 4 True\nargv [] list\n/tmp/data 4 0.5 True None train\n"
        "['64', '32'] 4 True 4\nx 0.0\n",
    ),
    "unknown": Case(
        "trainer.py --other=3", {"READ_EARLY": "1"}, 1, "",
        "absl.flags._exceptions.UnrecognizedFlagError: Unknown command line flag 'other'."
        " Did you mean: stderrthreshold ?\n",
    ),
    "not a number": Case(
        "trainer.py --steps=x", {}, 1, "",
        "absl.flags._exceptions.IllegalFlagValueError: flag --steps=x: invalid literal for int()"
        " with base 10: 'x'\n",
    ),
    "help": Case("trainer.py --help", {}, 1, HELP),
    "log": Case("logger.py", {}, 0, "30 tensorflow True\n20 10 30 50\n", LOG),
    "tests": Case(
        "cases.py --size=3", {}, 0, "",
        "Ran 5 tests in TIME\n\nOK (skipped=1)\n",
    ),
    "a test that fails": Case(
        "cases.py SquareTest.testWrong", {"WRONG": "1"}, 1, "",
        "Ran 1 test in TIME\n\nFAILED (failures=1)\n",
    ),
    "one test": Case(
        "cases.py SquareTest.testSquare", {}, 0, "", "Ran 1 test in TIME\n\nOK\n"
    ),
    "benchmarks": Case(
        "cases.py --benchmarks=Products", {}, 0,
        'entry {\n  name: "Products.product"\n  iters: 3\n  wall_time: TIME\n',
        "INFO:tensorflow:Benchmark [Products.product] iters: 3, wall_time: TIME, cpu_time: -1,"
        "throughput: 0, extras: ",
    ),
}  # fmt: skip


def _run(case: Case, python: str, framework: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ, **case.environment, "FRAMEWORK": framework, "PYTHONWARNINGS": "ignore",
        "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1",
    }  # fmt: skip
    if framework == "tensorflow":
        environment.pop("PYTHONPATH", None)
    else:
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    run = warm.run if python == sys.executable else subprocess.run
    return run(
        [python, *case.command.split()], cwd=HERE, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def _without_times(text: str) -> str:
    return re.sub(r"\d+(\.\d+)?(e-?\d+)?s\b|(?<=wall_time: )[\d.e-]+", "TIME", text)


def _check(case: Case, python: str, framework: str) -> None:
    done = _run(case, python, framework)
    assert done.returncode == case.code, done.stderr[-3000:]
    out, err = _without_times(done.stdout), _without_times(done.stderr)
    err = "".join(line for line in err.splitlines(True) if not _NOISE.match(line))
    if "benchmarks" in case.command:
        # What an allocator hands out, in extras, is each system's own.
        assert out.startswith(case.out) and case.err in err, err
    elif "logger" in case.command:
        lines = [line for line in err.splitlines() if line and "first 2: " not in line]
        assert (out, lines) == (case.out, case.err.splitlines())
        assert framework == "tensorflow" or err.count("first 2: ") == 2
    else:
        assert out == case.out
        assert case.err in err, err[-3000:]


# Every day those without which no program runs; the others start as many processes.
_DAILY = {"flags", "log", "tests"}


@pytest.mark.parametrize("name", long_but(_DAILY, CASES))
def test_program(name: str) -> None:
    _check(CASES[name], sys.executable, "penstock")


@pytest.mark.long
@pytest.mark.parametrize("name", CASES)
def test_tensorflow_does_the_same(name: str) -> None:
    needs(TF115)
    _check(CASES[name], str(TF115), "tensorflow")


@pytest.mark.long
def test_a_log_that_is_set_up_otherwise() -> None:
    """Where the program has a handler each line comes once, with the program's own file in it."""
    done = _run(Case("logger.py own", {}, 0, ""), sys.executable, "penstock")
    lines = done.stderr.splitlines()
    assert lines[0] == "own WARNING logger.py <module> warned of this"
    assert lines[1] == "own INFO logger.py work shown: 1"
    assert "own INFO logger.py work every 2: 4" in lines and len(lines) == 18
    assert all(line.startswith("own ") for line in lines)


_APP = """
import penstock as tf
tf.flags.DEFINE_string("log_dir", "/tmp/mine", "a name that absl has as well")
def main(argv):
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("once")
    import logging
    logging.getLogger("mine").warning("by absl")
    print(tf.flags.FLAGS.log_dir, tf.app.flags is tf.flags or dir(tf.app.flags))
    tf.app.flags.FLAGS.log_dir = "set"
    del tf.flags.FLAGS.log_dir
    print(hasattr(tf.flags.FLAGS, "log_dir"), len(tf.flags.FLAGS) > 3)
tf.app.run(main, ["program"])
"""


def test_each_line_once_with_absl() -> None:
    done = warm.run([sys.executable, "-c", _APP], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("/tmp/mine ") and done.stdout.endswith("False True\n")
    lines = done.stderr.splitlines()
    assert lines[0] == "INFO:tensorflow:once"
    assert len(lines) == 2 and lines[1].endswith("] by absl")

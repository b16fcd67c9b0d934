"""Lines that start a program by themselves, and those that the whole command reads."""

import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli.start import Asked, plain_run


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("run a.py", Asked(["a.py"], "1.15.0", False, False)),
        ("run a.py --instead", Asked(["a.py", "--instead"], "1.15.0", False, False)),
        ("run --instead --strict a.py", Asked(["a.py"], "1.15.0", True, True)),
        ("run --tf-version=1.4 -m a -m", Asked(["-m", "a", "-m"], "1.4", False, False)),
        ("run --tf-version 0.12 a.py", Asked(["a.py"], "0.12", False, False)),
    ],
)
def test_plain_lines(line: str, asked: Asked) -> None:
    assert plain_run(line.split()) == asked


@pytest.mark.parametrize(
    "line",
    ["", "run", "run --help", "run --strict", "run --tf-version", "run --strict=1 a", "run -- a.py",
     "--debug run a.py", "run --debug a.py", "inspect run"],
)  # fmt: skip
def test_the_whole_command_reads_all_others(line: str) -> None:
    assert plain_run(line.split()) is None


def test_a_program_starts_without_what_reads_other_lines(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys\nprint({'typer', 'rich', 'pydantic'} & set(sys.modules))")
    done = subprocess.run(
        [sys.executable, "-m", "penstock", "run", str(program)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "set()\n"

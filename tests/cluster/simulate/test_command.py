"""``penstock simulate`` and ``penstock calibrate``, and the examples of docs/simulate.md."""

from __future__ import annotations

import doctest
import importlib
import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from penstock.cli import simulating
from penstock.cli.main import app
from penstock.cluster.simulate import PROFILES, Profile, calibrate as calibration

PAGE = Path(__file__).resolve().parents[3] / "docs" / "simulate.md"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def run(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, (done.stdout, done.stderr)
    assert not code or len(done.stderr.splitlines()) == 1
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", ["events", "servers", "result", "training"])
def test_doctests(name: str) -> None:
    result = doctest.testmod(importlib.import_module(f"penstock.cluster.simulate.{name}"))
    assert result.attempted and not result.failed


def test_the_examples_of_the_page() -> None:
    blocks = re.findall(r"```console\n\$ penstock (.*?)\n(.*?)```", PAGE.read_text(), re.S)
    assert blocks
    for command, expected in blocks:
        said = run(*shlex.split(command))
        assert doctest.OutputChecker().check_output(expected, said, FLAGS), said


def test_rows_of_every_number_of_tasks() -> None:
    said = run("simulate", "--ps", "1,2", "--workers", "2,3", "--backups", "0,1", "--steps", "5")
    rows = [line.split()[:3] for line in said.splitlines()[2:]]
    assert rows == [[ps, w, b] for ps in "12" for w in "23" for b in "01"]


def test_json_holds_profile_model_and_results() -> None:
    said = run("simulate", "--workers", "4", "--compute", "1s", "--batch", "8", "--json", "--steps",
               "10", "--profile", "osdi2016", "--set", "latency=0", "--set", "sharing=fifo",
               "--set", "bandwidth=none", "--set", "ps_cores=4", "--dense", "1GB")  # fmt: skip
    found = json.loads(said)
    changed = {"latency": 0.0, "sharing": "fifo", "bandwidth": None, "ps_cores": 4}
    assert {key: found["profile"][key] for key in changed} == changed
    assert found["model"]["dense_bytes"] == 1e9
    (row,) = found["results"]
    assert row["job"]["workers"] == 4
    assert row["median"] > 1.0 and row["throughput"] == pytest.approx(32 / row["mean"])


@pytest.mark.parametrize(
    "words, message",
    [
        (["--dense", "ten"], "no number with one of the units"),
        (["--dense", "1..2"], "is no number"),
        (["--workers", "1;2"], "whole numbers"),
        (["--profile", "nope"], "profiles are loopback, osdi2016"),
        (["--set", "speed=1"], "no FIELD=VALUE"),
        (["--set", "bandwidth=0"], "bandwidth is 0"),
        (["--set", "latency=none"], "--set"),
        (["--mode", "async", "--backups", "1"], "only mode sync has backups"),
        (["--straggler-factor", "0.5"], "straggler"),
    ],
)
def test_mistakes_are_one_line(words: list[str], message: str) -> None:
    assert message in run("simulate", *words, code=2)


def test_calibrate_writes_a_profile_that_simulate_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, object] = {}

    def measured(name: str, **options: object) -> Profile:
        asked.update(options)
        return PROFILES["loopback"]

    monkeypatch.setattr(calibration, "calibrate", measured)
    dest = tmp_path / "here.json"
    said = run(
        "calibrate", dest, "--threads", 2, "--module", "some.api", "--interpreter", "python9"
    )
    assert "latency 40 us" in said and "3.23 GB/s" in said
    assert asked == {"module": "some.api", "threads": 2, "interpreter": "python9"}
    run("simulate", "--profile", dest, "--steps", 2)
    assert "no directory" in run("calibrate", tmp_path / "no" / "x.json", code=1)


def test_a_failed_calibration_is_one_line(tmp_path: Path) -> None:
    said = run("calibrate", tmp_path / "x.json", "--module", "no_such_module", code=1)
    assert "no_such_module" in said and not (tmp_path / "x.json").exists()


def test_units() -> None:
    assert doctest.testmod(simulating).failed == 0
    assert simulating.size_of("1.5KiB", "x") == 1536 and simulating.size_of("7", "x") == 7
    assert simulating.seconds_of("3us", "x") == pytest.approx(3e-6)


@pytest.mark.long
def test_the_page_holds_what_the_simulator_gives() -> None:
    from penstock.cluster.simulate import paper

    assert paper.table() in PAGE.read_text()

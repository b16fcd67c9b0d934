"""Records that outlive a process: where they lie, and files that are not ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from penstock.foundation.machine import cache
from penstock.foundation.machine.cache import Records

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("environ", "where"),
    [
        ({"PENSTOCK_CACHE": "/a", "HOME": "/h"}, "/a"),
        ({"XDG_CACHE_HOME": "/x", "HOME": "/h"}, "/x/penstock"),
        ({"XDG_CACHE_HOME": "not/absolute", "HOME": "/h"}, "/h/.cache/penstock"),
        ({"HOME": "/h"}, "/h/.cache/penstock"),
        ({"PENSTOCK_CACHE": "off", "HOME": "/h"}, None),
        ({}, None),
    ],
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux's folders")
def test_where_records_lie(environ: dict[str, str], where: str | None) -> None:
    assert cache.folder(environ) == (None if where is None else Path(where))


def test_what_is_added_is_read_and_the_first_of_a_key_stays(tmp_path: Path) -> None:
    records = Records("kind", tmp_path / "made" / "when needed")
    assert records.read() == {}
    assert all([records.add("a", [1, "x"]), records.add("b", {"c": 2.5}), records.add("a", 3)])
    assert Records("kind", tmp_path / "made" / "when needed").read() == {
        "a": [1, "x"], "b": {"c": 2.5},
    }  # fmt: skip


def test_nothing_is_kept_without_a_folder() -> None:
    records = Records("kind", None)
    assert not records.add("a", 1)
    assert records.read() == {}


def test_a_folder_that_cannot_be_made_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    records = Records("kind", tmp_path / "file" / "below")
    assert not records.add("a", 1)
    assert records.read() == {}


@pytest.mark.long
@given(garbage=st.binary(max_size=200))
def test_lines_that_are_no_records_are_passed_over(
    garbage: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    where = tmp_path_factory.mktemp("cache")
    records = Records("kind", where)
    records.add("before", 1)
    with open(where / "kind.jsonl", "ab") as file:
        file.write(garbage + b"\n")
    records.add("after", 2)
    found = records.read()
    assert found["before"] == 1 and found["after"] == 2


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"a": 1}', "[1, 2]", '["a"]', '["a", 1, 2]', "null", '"a"', "\x00"]
)
def test_other_json_is_no_record(line: str, tmp_path: Path) -> None:
    (tmp_path / "kind.jsonl").write_text(f'{line}\n["good", 1]\n')
    assert Records("kind", tmp_path).read() == {"good": 1}


def test_a_file_too_long_to_be_ours_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "_LONGEST", 100)
    (tmp_path / "kind.jsonl").write_text('["a", 1]\n' * 20)
    assert Records("kind", tmp_path).read() == {}


_ADD = """
import sys
from pathlib import Path
from penstock.foundation.machine.cache import Records
records = Records("kind", Path(sys.argv[1]))
for number in range(200):
    records.add(f"{sys.argv[2]}-{number}", [number, "x" * 100])
"""


def test_processes_add_at_the_same_time(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    started = [
        subprocess.Popen([sys.executable, "-c", _ADD, tmp_path, str(each)], env=environment)
        for each in range(4)
    ]
    assert [each.wait() for each in started] == [0] * 4
    lines = (tmp_path / "kind.jsonl").read_text().splitlines()
    assert len(lines) == 800 == len({json.loads(line)[0] for line in lines})

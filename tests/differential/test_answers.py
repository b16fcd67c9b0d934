"""Kept answers are found again by the same call, asked in the same way, and by no other."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.conformance import peers
from tests.differential import answers
from tests.differential.__main__ import run
from tests.differential.calls import all_calls
from tests.differential.generator import cases

ROWS = all_calls()
ANSWER = {"id": "f/0/0", "outputs": []}
LATE = {"id": "f/0/1", "error": {"class": "ProcessDied", "message": "it takes too long"}}


def test_the_folder_is_penstocks() -> None:
    found = answers.folder({"PENSTOCK_CACHE": "/a"})
    assert found is not None and found.parent == Path("/a/differential")
    assert found.name == answers.asked_of(peers.PEERS["tf1"].python)
    assert answers.folder({"PENSTOCK_CACHE": "off"}) is None


def test_calls_have_keys_of_their_own() -> None:
    found = [case for name in ("reduce_sum", "add", "abs") for case in cases(ROWS[name], 0, 50)]
    assert len({answers.key(case) for case in found}) == 150
    assert answers.key({**found[1], "id": "other"}) == answers.key(found[1])
    assert answers.key({**found[1], "values": False}) != answers.key(found[1])


def test_another_tensorflow_or_runner_is_asked_anew(tmp_path: Path) -> None:
    python, source = tmp_path / "bin" / "python", tmp_path / "runner.py"
    packages = tmp_path / "lib" / "python3.7" / "site-packages"
    for part in ("tensorflow-1.15.0.dist-info", "numpy-1.18.5.dist-info", "tensorflow"):
        (packages / part).mkdir(parents=True)
    source.write_text("1")
    names = [answers.asked_of(python, [source]), answers.asked_of(python, [source])]
    assert names[0] == names[1]
    source.write_text("2")
    names.append(answers.asked_of(python, [source]))
    (packages / "numpy-1.18.5.dist-info").rename(packages / "numpy-1.19.0.dist-info")
    names.append(answers.asked_of(python, [source]))
    assert len(set(names)) == 3


def test_answers_are_added_to_those_that_are_there(tmp_path: Path) -> None:
    kept = tmp_path / "made" / "when needed"
    assert answers.read(kept, "f") == {}
    assert answers.add(kept, "f", {"a": ANSWER}) and answers.add(kept, "f", {"b": ANSWER})
    assert answers.read(kept, "f") == {"a": ANSWER, "b": ANSWER}
    assert [file.name for file in kept.iterdir()] == ["f.pickle"]


def test_what_took_too_long_is_asked_again(tmp_path: Path) -> None:
    answers.add(tmp_path, "f", {"a": ANSWER, "b": LATE})
    assert answers.read(tmp_path, "f") == {"a": ANSWER}


@pytest.mark.parametrize("content", [b"", b"\x80\x04", b"no pickle", pickle.dumps([1])])
def test_a_file_that_is_none_costs_asking_again(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "f.pickle").write_bytes(content)
    assert answers.read(tmp_path, "f") == {}
    assert answers.add(tmp_path, "f", {"a": ANSWER}) and answers.read(tmp_path, "f")


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not answers.add(tmp_path / "file", "f", {"a": ANSWER})
    assert not answers.add(None, "f", {"a": ANSWER}) and answers.read(None, "f") == {}


def test_only_new_calls_are_asked_whatever_rows_run_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(peer: str, jobs: list[dict[str, Any]], **_: Any) -> dict[str, Any]:
        asked.extend(job["id"] for job in jobs if peer == "tf1")
        return {job["id"]: {"id": job["id"], "outputs": []} for job in jobs}

    monkeypatch.setattr(peers, "run_jobs", answer)
    run([ROWS["abs"], ROWS["operator:neg"]], 2, 0, tmp_path)
    asked.clear()
    run([ROWS["add"], ROWS["operator:neg"], ROWS["abs"]], 3, 0, tmp_path)
    assert asked == ["add/0/0", "add/0/1", "add/0/2", "operator:neg/0/2", "abs/0/2"]

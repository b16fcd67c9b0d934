"""What is kept on disk: verdicts, of which the last counts, and folders up to a size."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.engine.native import store as stores
from penstock.engine.native.marks import left_behind, trying
from penstock.engine.native.request import MANIFEST
from penstock.engine.native.store import Store, Verdict

DAY = 86_400
ROOT = Path(__file__).resolve().parents[3]


def test_the_last_trial_counts(tmp_path: Path) -> None:
    store = Store("here", tmp_path)
    store.judge("k", 0, Verdict("slow", 1.2, 1e-4, 1, 5.0, True))
    store.judge("k", 1, Verdict("different", 1.0, 1e-4, 1, 5.0, False))
    store.judge("k", 0, Verdict("fast", 0.5, 5e-5, 2, 9.0, False))
    found = Store("here", tmp_path).verdicts()
    assert found["k/0"] == Verdict("fast", 0.5, 5e-5, 2, 9.0, False)
    assert found["k/1"].word == "different"


@pytest.mark.parametrize(
    ("verdict", "days", "again"),
    [
        (Verdict("slow", 1.2, 1e-4, 1, 0.0, False), 0.5, False),
        (Verdict("slow", 1.2, 1e-4, 1, 0.0, False), 1.5, True),
        (Verdict("slow", 1.2, 1e-4, 1, 0.0, True), 0.5, True),
        (Verdict("failed", 1.2, 1e-4, 4, 0.0, True), 0.5, True),
        (Verdict("slow", 1.2, 1e-4, 5, 0.0, True), 9.0, False),
        (Verdict("fast", 0.5, 1e-4, 1, 0.0, True), 9.0, False),
        (Verdict("different", 0.5, 1e-4, 1, 0.0, True), 9.0, False),
        (Verdict(), 9.0, False),
    ],
)
def test_what_was_lost_by_chance_is_tried_again(verdict: Verdict, days: float, again: bool) -> None:
    found = verdict.again(days * DAY)
    assert found == (Verdict(trials=verdict.trials) if again else verdict)


def test_what_was_not_used_for_longest_goes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store("here", tmp_path)

    def fill(folder: Path) -> None:
        (folder / "0.so").write_bytes(b"x" * 1000)
        (folder / MANIFEST).write_text('{"stretches": []}')

    monkeypatch.setattr(stores, "_MOST_BYTES", 3500)
    for number, key in enumerate("abc"):
        store.make(key, fill)
        os.utime(tmp_path / "native" / key / MANIFEST, (number, number))
    assert store.find("a") is not None  # so it is used last
    store.make("d", fill)
    assert [key for key in "abcd" if store.find(key)] == ["a", "c", "d"]
    monkeypatch.setattr(stores, "_MOST_BYTES", 10)
    store.make("e", fill)
    assert [key for key in "abcde" if store.find(key)] == ["e"]


def make(store: Store, key: str = "key") -> Path:
    def fill(folder: Path) -> None:
        (folder / "0.so").write_bytes(b"library" * 100)
        about = {"refused": {}, "stretches": [{"library": "0.so"}, {"why": "too hard"}]}
        (folder / MANIFEST).write_text(json.dumps(about))

    store.make(key, fill)
    found = store.find(key)
    assert found is not None
    return found[0]


def test_what_is_not_whole_is_made_anew(tmp_path: Path) -> None:
    store = Store("here", tmp_path)
    assert store.is_empty() and store.find("key") is None
    place = make(store)
    library, manifest = place / "0.so", place / MANIFEST
    whole, said = library.read_bytes(), manifest.read_text()
    broken = [
        (library, whole[:50]), (library, whole[:-1] + b"?"), (library, b""), (library, None),
        (manifest, said[:20].encode()), (manifest, b""), (manifest, b"[]"), (manifest, b"{}"),
        (manifest, b"null"), (manifest, b'{"stretches": 7}'), (manifest, b"\xff\xfe"),
        (manifest, b'{"stretches": [{"library": "0.so"}]}'), (manifest, None),
    ]  # fmt: skip
    for file, text in broken:
        if text is None:
            file.unlink()
        else:
            file.write_bytes(text)
        assert store.find("key") is None, (file, text)
        assert make(store) == place
        assert library.read_bytes() == whole and manifest.read_text() == said
    assert not list((tmp_path / "native").glob("new-*"))


def test_a_folder_that_cannot_be_written_is_an_error_of_making_alone(tmp_path: Path) -> None:
    (tmp_path / "native").write_text("a file in its place")
    store = Store("here", tmp_path)
    with store.alone(), pytest.raises(OSError):
        make(store)
    assert store.find("key") is None and store.verdicts() == {}


@pytest.mark.skipif(os.name != "posix", reason="nothing is marked there")
def test_a_mark_is_left_by_a_process_that_ends_and_by_no_other(tmp_path: Path) -> None:
    with trying(tmp_path, 3):
        assert left_behind(tmp_path) == set()  # it is being tried
        assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(RuntimeError), trying(tmp_path, 3):
        raise RuntimeError("a call that fails ends no process")
    assert not list(tmp_path.iterdir())
    script = f"""
import os
from pathlib import Path
from penstock.engine.native.marks import trying
with trying(Path({str(tmp_path)!r}), 12):
    os.abort()
"""
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    assert left_behind(tmp_path) == {12}
    assert left_behind(tmp_path) == set()  # the mark is gone
    with trying(tmp_path / "absent", 0):
        pass  # nothing is marked where nothing can be written


@pytest.mark.skipif(os.name != "posix", reason="there are no record locks")
def test_one_process_compiles_at_a_time(tmp_path: Path) -> None:
    script = f"""
from pathlib import Path
from penstock.engine.native.store import Store
print("asks", flush=True)
with Store("here", Path({str(tmp_path)!r})).alone():
    print("has it", flush=True)
"""
    command = [sys.executable, "-c", script]
    with Store("here", tmp_path).alone():
        other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        assert other.stdout is not None and other.stdout.readline() == "asks\n"
        time.sleep(0.2)
        assert not select.select([other.stdout], [], [], 0)[0]
    assert other.stdout.readline() == "has it\n" and other.wait() == 0


def test_nothing_is_made_of_no_folder_until_something_is_compiled() -> None:
    store = Store("here", None)
    assert store.is_empty() and store.find("key") is None and store.verdicts() == {}
    place = make(store)
    assert place.parent.parent != Path(".") and not store.is_empty()

"""What is kept on disk: verdicts, of which the last counts, and folders up to a size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from penstock.engine.native import store as stores
from penstock.engine.native.request import MANIFEST
from penstock.engine.native.store import Store, Verdict

DAY = 86_400


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

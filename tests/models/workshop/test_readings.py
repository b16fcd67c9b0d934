"""Steps of readings are handed out once each, to threads that end with the caller or its error."""

from __future__ import annotations

import threading
import time
from collections import Counter
from typing import Any

import pytest

from penstock.models.workshop.readings import Readings


class _Text:
    """Stands for the session: readings of some steps, and how often each step was run."""

    def __init__(self, lengths: list[int]) -> None:
        self.lengths, self.reading, self.at = lengths, -1, 0
        self.session = self
        self.steps: Counter[int] = Counter()
        self._lock = threading.Lock()

    def run(self, asked: Any) -> tuple[int, None]:
        assert self.at == (0 if self.reading < 0 else self.lengths[self.reading]), "begun too soon"
        self.reading, self.at = self.reading + 1, 0
        return self.lengths[self.reading], None

    def step(self) -> None:
        time.sleep(0.0002)
        with self._lock:
            self.at += 1
            self.steps[self.reading] += 1


def _train(text: _Text, total: int, threads: int) -> Readings:
    readings = Readings("steps", "begin")
    readings.left = total
    with readings.helped(text.step, threads - 1) as check:
        while readings.left > 0:
            readings.before_run(text)
            text.step()
            check()
            for _ in range(3):
                readings.step(text.step)
    return readings


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_readings_begin_when_all_steps_of_the_last_are_done(threads: int) -> None:
    text = _Text([40, 1, 7, 60])
    _train(text, 98, threads)
    assert dict(text.steps) == {0: 40, 1: 1, 2: 7, 3: 50}


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_reading_begins_after_the_last_step(threads: int) -> None:
    for _ in range(20):
        text = _Text([7, 9])  # a third one would be an error
        _train(text, 16, threads)
        assert dict(text.steps) == {0: 7, 1: 9}


def test_what_ends_a_thread_ends_the_caller() -> None:
    text = _Text([1000])
    caller = threading.get_ident()

    def step() -> None:
        if threading.get_ident() != caller and text.at > 10:
            raise ArithmeticError("of a helper")
        text.step()

    before = threading.active_count()
    readings = Readings("steps", "begin")
    readings.left = 1000
    with pytest.raises(ArithmeticError, match="of a helper"):
        with readings.helped(step, 2) as check:
            while readings.left > 0:
                readings.before_run(text)
                step()
                check()
    assert threading.active_count() == before and text.at < 1000


def test_the_callers_error_ends_the_threads() -> None:
    text = _Text([1000])
    before = threading.active_count()
    readings = Readings("steps", "begin")
    readings.left = 1000
    with pytest.raises(KeyboardInterrupt):
        with readings.helped(text.step, 3):
            readings.before_run(text)
            text.step()
            raise KeyboardInterrupt
    assert threading.active_count() == before


def test_a_new_session_begins_a_new_reading() -> None:
    text = _Text([5, 5])
    readings = Readings("steps", "begin")
    readings.before_run(text)
    text.at = 5  # what the lost session had read does not count
    readings.after_create_session(None, None)
    readings.before_run(text)
    assert text.reading == 1

"""Many threads on one queue: nothing is lost, nothing comes twice, nothing hangs.

Producers and consumers run real sessions' steps on queues of all kinds.  Each element has its own
number.  What producers put in (as far as their steps ended, or were refused) and what consumers
took are held against each other at the end, when the queue has been closed and emptied.  A watchdog
dumps the stacks of all threads and ends the process's wait if a run takes too long.
"""

from __future__ import annotations

import faulthandler
import random
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.suite.clock import Clock

ENDINGS = ("close", "cancel", "session")
_ENDS = (tf.errors.CancelledError, tf.errors.OutOfRangeError)


def _queue(kind: int) -> Any:
    types, shapes = [tf.int64, tf.float32], [[], [3]]
    return [
        lambda: tf.FIFOQueue(257, types, shapes),
        lambda: tf.RandomShuffleQueue(300, 40, types, shapes, seed=3),
        lambda: tf.PaddingFIFOQueue(100, types, [[], [None]]),
        lambda: tf.PriorityQueue(200, types[1:], shapes[1:]),
    ][kind]()


class Run:
    """One queue, its threads, and an account of every element."""

    def __init__(self, seed: int, elements: int, threads: int) -> None:
        self.random = random.Random(seed)
        self.ending = ENDINGS[seed % len(ENDINGS)]
        self.threads = threads
        self.share = elements // threads
        self.put: list[np.ndarray] = []  # by steps that ended well
        self.tried: list[np.ndarray] = []  # by steps that did not: some may be in
        self.taken: list[np.ndarray] = []
        self.failures: list[BaseException] = []
        with tf.Graph().as_default():
            self.queue = _queue(seed % 4)
            self.session = tf.Session()
            self._make_calls()

    def _make_calls(self) -> None:
        queue, call = self.queue, self.session.make_callable
        one = [tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [3])]
        many = [tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [None, 3])]
        count = tf.placeholder(tf.int32, [])
        self.put_one = call(queue.enqueue(one), one)
        self.put_many = call(queue.enqueue_many(many), many)
        self.take_one = call(queue.dequeue())
        self.take_many = call(queue.dequeue_many(count), [count])
        self.take_up_to = call(queue.dequeue_up_to(count), [count])
        self.size = call(queue.size())
        self.close = call(queue.close())
        self.cancel = call(queue.close(cancel_pending_enqueues=True))

    def produce(self, index: int) -> None:
        """Puts this thread's share in, in steps of all sizes, until it is refused."""
        own = random.Random(index)
        start, stop = index * self.share, (index + 1) * self.share
        while start < stop:
            count = min(own.choice([1, 1, 7, 64, 128, 400]), stop - start)
            numbers = np.arange(start, start + count)
            rows = np.repeat(numbers[:, None] % 1000, 3, 1).astype(np.float32)
            try:
                if count == 1:
                    self.put_one(numbers[0], rows[0])
                else:
                    self.put_many(numbers, rows)
            except tf.errors.CancelledError:
                self.tried.append(numbers)
                return
            self.put.append(numbers)
            start += count

    def consume(self, index: int) -> None:
        """Takes elements out until there can be no more."""
        own = random.Random(-1 - index)
        while True:
            way = own.random()
            count = own.choice([1, 5, 64, 300])
            try:
                if way < 0.2:
                    numbers, rows = self.take_one()
                    numbers, rows = np.array([numbers]), rows[None]
                elif way < 0.5:
                    numbers, rows = self.take_many(count)
                else:
                    numbers, rows = self.take_up_to(count)
            except tf.errors.OutOfRangeError:
                if own.random() < 0.5 or self.session_is_closed or not self.size():
                    return
                continue
            except (tf.errors.CancelledError, RuntimeError):
                assert self.session_is_closed
                return
            assert (rows == (numbers % 1000)[:, None]).all(), "components of different elements"
            self.taken.append(numbers)

    session_is_closed = False

    def guarded(self, work: Any, index: int) -> None:
        try:
            work(index)
        except RuntimeError as error:  # a producer whose session is closed
            if not self.session_is_closed:
                self.failures.append(error)
        except BaseException as error:
            self.failures.append(error)

    def run(self, seconds: float) -> None:
        faulthandler.dump_traceback_later(seconds, exit=False)
        try:
            self._run(seconds, Clock())
        finally:
            faulthandler.cancel_dump_traceback_later()
            self.session.close()

    def _run(self, seconds: float, clock: Clock) -> None:
        producers = self._start(self.produce)
        consumers = self._start(self.consume)
        if self.ending == "close":
            self._join(producers, seconds, clock)
            self.close()
        else:
            time.sleep(self.random.uniform(0.0, 0.3))
            if self.ending == "cancel":
                self.cancel()
            else:
                self.session_is_closed = True
                self.session.close()
        self._join(producers + consumers, seconds, clock)
        if self.ending != "session":
            self._empty()
        self._check()

    def _start(self, work: Any) -> list[threading.Thread]:
        made = [
            threading.Thread(target=self.guarded, args=(work, i), daemon=True)
            for i in range(self.threads)
        ]
        for thread in made:
            thread.start()
        return made

    def _join(self, threads: list[threading.Thread], seconds: float, clock: Clock) -> None:
        for thread in threads:
            while thread.is_alive() and not self.failures and clock.seconds() < seconds:
                thread.join(0.05)
        assert not self.failures, self.failures
        assert not any(t.is_alive() for t in threads), "a thread hangs; its stack is above"

    def _empty(self) -> None:
        while self.size():
            self.taken.append(self.take_up_to(1000)[0])
        with pytest.raises(tf.errors.OutOfRangeError):
            self.take_one()

    def _check(self) -> None:
        taken = Counter(_joined(self.taken).tolist())
        put, tried = set(_joined(self.put).tolist()), set(_joined(self.tried).tolist())
        assert max(taken.values(), default=1) == 1, "an element came twice"
        if self.ending == "close":
            assert not tried and len(put) == self.share * self.threads
        if self.ending != "session":  # its elements went with it
            assert put <= set(taken), "an element was lost"
        else:
            put |= set(range(self.share * self.threads))
        assert set(taken) <= put | tried, "an element came that nobody put in"


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.int64), *parts])


@pytest.mark.parametrize("seed", range(12))
def test_few_elements(seed: int) -> None:
    Run(seed, 4_000, 4).run(60)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_a_million_elements_in_all(seed: int) -> None:
    """Of the 20 runs 7 end by themselves, with 150 000 elements each; the others are cut short."""
    Run(seed, 150_000, 16).run(60)

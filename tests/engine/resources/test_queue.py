"""The state machine of queues: the two lines, closing, withdrawing, and memory."""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from penstock.engine.resources import blocking, stores, waiting
from penstock.engine.resources.queue import Queue
from penstock.foundation.base import errors
from tests.suite.clock import PATIENCE, wait_until


def _queue(capacity: int = 3, kept: int = 0, shape: Any = ()) -> Queue:
    return Queue("FIFOQueue", "q", capacity, stores.Store([torch.int64], [shape]), kept)


def _put(queue: Queue, *values: int) -> None:
    queue.enqueue_many([torch.tensor(values)])


def _get(queue: Queue, count: int) -> list[int]:
    return list(queue.dequeue_many(count)[0].tolist())


class Step(threading.Thread):
    """Runs a call in a thread; keeps its result or error."""

    def __init__(self, call: Callable[[], Any], cancellation: Any = None) -> None:
        super().__init__(daemon=True)
        self.call, self.cancellation = call, cancellation
        self.result: Any = None
        self.start()

    def run(self) -> None:
        try:
            with waiting.running(self.cancellation, PATIENCE):
                self.result = self.call()
        except errors.OpError as error:
            self.result = error

    def waits(self) -> bool:
        """Whether it has come to a wait, and stays there."""
        wait_until(lambda: not self.is_alive() or self._is_in_a_wait())
        self.join(0.05)
        return self.is_alive()

    def _is_in_a_wait(self) -> bool:
        frame = sys._current_frames().get(self.ident or 0)
        while frame is not None and frame.f_code is not blocking.wait.__code__:
            frame = frame.f_back
        return frame is not None

    def end(self) -> Any:
        self.join()
        return self.result


def test_a_large_dequeue_empties_a_small_queue_several_times() -> None:
    queue = _queue(2)
    taker = Step(lambda: _get(queue, 7))
    _put(queue, 1, 2, 3, 4, 5)
    assert taker.waits()
    _put(queue, 6, 7, 8)
    assert taker.end() == [1, 2, 3, 4, 5, 6, 7]
    assert queue.size() == 1


def test_nobody_overtakes() -> None:
    queue = _queue(2)
    large = Step(lambda: _get(queue, 3))
    assert large.waits()
    small = Step(lambda: _get(queue, 1))
    assert small.waits()
    _put(queue, 1, 2)
    assert large.waits() and small.waits()
    _put(queue, 3, 4)
    assert (large.end(), small.end()) == ([1, 2, 3], [4])


def test_closing_waits_for_the_enqueues_before_it() -> None:
    queue = _queue(1)
    putter = Step(lambda: _put(queue, 1, 2))
    assert putter.waits()
    closer = Step(queue.close)
    assert closer.waits() and not queue.closed
    late = Step(lambda: _put(queue, 3))
    assert late.waits()
    assert _get(queue, 1) == [1]
    putter.end()
    closer.end()
    assert queue.closed
    assert isinstance(late.end(), errors.CancelledError)
    assert _get(queue, 1) == [2]
    with pytest.raises(errors.OutOfRangeError, match=r"closed and has insufficient .*requested 1"):
        queue.dequeue()
    with pytest.raises(errors.CancelledError, match="already closed"):
        queue.close()
    queue.close(cancel_pending_enqueues=True)


def test_closing_cancels_pending_enqueues() -> None:
    queue = _queue(1)
    putter = Step(lambda: _put(queue, 1, 2, 3))
    assert putter.waits()
    queue.close(cancel_pending_enqueues=True)
    assert isinstance(putter.end(), errors.CancelledError)
    assert _get(queue, 1) == [1]


def test_closing_ends_pending_dequeues() -> None:
    queue = _queue(5)
    up_to = Step(lambda: queue.dequeue_up_to(4)[0].tolist())
    assert up_to.waits()
    _put(queue, 1, 2)
    many = Step(lambda: _get(queue, 2))
    one = Step(lambda: _get(queue, 1))
    assert many.waits() and one.waits()
    queue.close()
    assert up_to.end() == [1, 2]
    assert isinstance(many.end(), errors.OutOfRangeError)
    assert isinstance(one.end(), errors.OutOfRangeError)


def test_what_a_failed_dequeue_had_taken_is_not_lost() -> None:
    queue = _queue(5)
    many = Step(lambda: _get(queue, 4))
    assert many.waits()
    _put(queue, 1, 2, 3)
    assert queue.size() == 0
    queue.close()
    assert isinstance(many.end(), errors.OutOfRangeError)
    assert _get(queue, 3) == [1, 2, 3]


def test_a_dequeue_that_times_out_gives_back_and_lets_the_next_go_on() -> None:
    queue = _queue(5)
    with waiting.running(None, 0.2), pytest.raises(errors.DeadlineExceededError) as caught:
        Step(lambda: (time.sleep(0.02), _put(queue, 1, 2)))
        _get(queue, 3)
    text = "1 of 3 element(s) asked of FIFOQueue 'q' of capacity 5, which holds 0"
    assert text in caught.value.message
    assert _get(queue, 2) == [1, 2]


def test_cancelled_requests_leave_the_line() -> None:
    queue, cancellation = _queue(1), waiting.Cancellation()
    _put(queue, 1)
    putter = Step(lambda: _put(queue, 2), cancellation)
    assert putter.waits()
    cancellation.cancel("the session was closed")
    error = putter.end()
    assert isinstance(error, errors.CancelledError)
    assert "room for 1 element(s) in FIFOQueue 'q' of capacity 1" in error.message
    assert _get(queue, 1) == [1]
    assert queue.size() == 0


def test_min_after_dequeue_stays_until_closed() -> None:
    queue = _queue(10, kept=2)
    _put(queue, 1, 2, 3)
    assert _get(queue, 1) == [1]
    with waiting.running(None, 0.02), pytest.raises(errors.DeadlineExceededError, match="stay"):
        queue.dequeue()
    queue.close()
    assert _get(queue, 2) == [2, 3]


def test_zero_elements_never_wait() -> None:
    queue = _queue(1)
    queue.enqueue_many([torch.zeros(0, dtype=torch.int64)])
    assert _get(queue, 0) == []
    queue.close()
    queue.enqueue_many([torch.zeros(0, dtype=torch.int64)])
    assert _get(queue, 0) == [] and queue.dequeue_up_to(0)[0].tolist() == []


def test_batches_need_shapes_and_a_sensible_count() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="give `shapes`"):
        _queue(shape=None).dequeue_many(0)
    with pytest.raises(errors.InvalidArgumentError, match="requested -1 < 0 elements"):
        _queue().dequeue_up_to(-1)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("pending", [False, True])
def test_elements_are_copies(shuffled: bool, pending: bool) -> None:
    store = (
        stores.ShuffledStore([torch.int64, object], [(), ()], [1, 2])
        if shuffled
        else (stores.Store([torch.int64, object], [(), ()]))
    )
    queue = Queue("Queue", "q", 1 if pending else 9, store)
    values, texts = torch.tensor([5, 5]), np.array([b"x", b"x"], object)
    putter = Step(lambda: queue.enqueue_many([values, texts]))
    assert putter.waits() == pending
    values.zero_()
    texts[:] = b"y"
    got = [queue.dequeue() for _ in range(2)]
    assert [(int(a), b.item()) for a, b in got] == [(5, b"x"), (5, b"x")]


def test_an_error_of_one_request_does_not_hold_up_the_line() -> None:
    queue = _queue(5)
    broken = torch.zeros(2)
    _put(queue, 1)
    queue._store.take, kept = None, queue._store.take  # type: ignore[method-assign,assignment]
    with pytest.raises(TypeError):
        queue.dequeue()
    queue._store.take = kept  # type: ignore[method-assign]
    assert _get(queue, 1) == [1] and broken.sum() == 0


def test_started_enqueues() -> None:
    queue = _queue(1)
    ticket = queue.start_enqueue_many([torch.tensor([1, 2])])
    assert queue.size() == 1
    settler = Step(ticket.settle)
    assert settler.waits()
    assert _get(queue, 2) == [1, 2]
    settler.end()
    ticket.settle()


def test_a_dropped_ticket_withdraws() -> None:
    queue = _queue(1)
    _put(queue, 1)
    ticket = queue.start_enqueue([torch.tensor(2)])
    closer = Step(queue.close)
    assert closer.waits()
    del ticket
    gc.collect()
    closer.end()
    assert queue.closed and _get(queue, 1) == [1] and queue.size() == 0


def _sorted_queue(capacity: int = -1) -> Queue:
    store = stores.PriorityStore([torch.int64], [()])
    return Queue("PriorityQueue", "q", capacity, store)


def test_a_queue_that_sorts_gives_all_of_a_request_at_once() -> None:
    queue = _sorted_queue()
    step = Step(lambda: _get(queue, 6))
    for values in ((5, 3), (4, 9), (1,)):
        _put(queue, *values)
        assert step.waits()
    assert queue.size() == 5
    _put(queue, 2, 0)
    step.join(PATIENCE)
    assert step.result == [0, 1, 2, 3, 4, 5]
    assert queue.size() == 1


def test_a_queue_that_sorts_closes_with_what_is_left() -> None:
    queue = _sorted_queue()
    whole, rest = Step(lambda: _get(queue, 5)), Step(lambda: queue.dequeue_up_to(5)[0].tolist())
    _put(queue, 7, 1)
    assert whole.waits() and rest.waits()
    queue.close()
    for step in (whole, rest):
        step.join(PATIENCE)
    results = [whole.result, rest.result]
    (refused,) = (r for r in results if isinstance(r, Exception))
    assert isinstance(refused, errors.OutOfRangeError)
    assert [1, 7] in results


def test_a_request_for_more_than_a_sorting_queue_holds_is_served_in_parts() -> None:
    queue = _sorted_queue(capacity=2)
    step = Step(lambda: _get(queue, 4))
    _put(queue, 3, 1, 2, 0)
    step.join(PATIENCE)
    assert sorted(step.result) == [0, 1, 2, 3]


def test_who_waits_for_what_nobody_puts_in_is_told(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(blocking, "REMIND_SECONDS", 0.02)
    for filled in (False, True):
        queue = _queue()
        if filled:
            _put(queue, 1)
            _get(queue, 1)
        with pytest.raises(errors.DeadlineExceededError) as caught, waiting.running(seconds=0.2):
            queue.dequeue()
        assert ("did you forget start_queue_runners?" in str(caught.value)) is not filled
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 1 and "FIFOQueue 'q', and nothing was ever put into it" in told[0]

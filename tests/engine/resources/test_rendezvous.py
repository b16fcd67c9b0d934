"""Values of one edge are taken in the order in which they were sent; every wait ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.engine.resources import waiting
from penstock.engine.resources.rendezvous import LocalRendezvous, current, running

TASK = "/job:worker/replica:0/task:1"


def _in_thread(function: Callable[[], Any]) -> tuple[threading.Thread, list[Any]]:
    found: list[Any] = []

    def work() -> None:
        try:
            found.append(function())
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, found


def test_values_of_an_edge_keep_their_order() -> None:
    meeting = LocalRendezvous()
    for value in (1.0, 2.0):
        meeting.send("a", TASK, torch.tensor(value))
    meeting.send("b", TASK, torch.tensor(3.0))
    assert [meeting.recv(edge, TASK).item() for edge in "aba"] == [1.0, 3.0, 2.0]
    assert meeting.mailbox.left() == 0


def test_a_receive_waits_for_its_send() -> None:
    meeting = LocalRendezvous()
    thread, found = _in_thread(lambda: meeting.recv("a", TASK))
    time.sleep(0.05)
    assert not found
    meeting.send("a", TASK, torch.ones(2))
    thread.join()
    assert found[0].tolist() == [1.0, 1.0]


def test_many_threads_lose_nothing() -> None:
    meeting = LocalRendezvous()
    takers = [
        _in_thread(lambda e=e: [meeting.recv(f"e{e}", TASK).item() for _ in range(200)])
        for e in range(4)
    ]
    senders = [
        _in_thread(lambda e=e: [meeting.send(f"e{e}", TASK, torch.tensor(i)) for i in range(200)])
        for e in range(4)
    ]
    for thread, _ in takers + senders:
        thread.join()
    assert all(found == [list(range(200))] for _, found in takers)


def test_what_was_sent_may_be_overwritten() -> None:
    meeting = LocalRendezvous()
    value, text = torch.zeros(3), np.array([b"a"], object)
    meeting.send("a", TASK, value)
    meeting.send("b", TASK, text)
    value.fill_(7)
    text[0] = b"z"
    assert meeting.recv("a", TASK).tolist() == [0, 0, 0]
    assert meeting.recv("b", TASK).tolist() == [b"a"]


def test_views_and_conjugates_arrive_as_plain_values() -> None:
    meeting = LocalRendezvous()
    value = torch.tensor([1 + 2j, 3j])
    meeting.send("a", TASK, value.conj())
    meeting.send("b", TASK, torch.ones(1).expand(4))
    conjugate, spread = meeting.recv("a", TASK), meeting.recv("b", TASK)
    assert not conjugate.is_conj() and conjugate.tolist() == [1 - 2j, -3j]
    assert spread.is_contiguous()
    spread[0] = 5.0
    assert spread.tolist() == [5.0, 1.0, 1.0, 1.0]


def test_a_value_may_be_absent() -> None:
    meeting = LocalRendezvous()
    meeting.send("a", TASK, None)
    assert meeting.recv("a", TASK) is None


def test_a_deadline_ends_a_wait_and_takes_nothing() -> None:
    meeting = LocalRendezvous()
    with waiting.running(None, 0.05):
        expected = "waited for 'a' from /job:worker"
        with pytest.raises(tf.errors.DeadlineExceededError, match=expected):
            meeting.recv("a", TASK)
    meeting.send("a", TASK, torch.tensor(1))
    assert meeting.recv("a", TASK).item() == 1


def test_a_cancellation_ends_a_wait() -> None:
    meeting, cancellation = LocalRendezvous(), waiting.Cancellation()

    def work() -> Any:
        with waiting.running(cancellation):
            return meeting.recv("a", TASK)

    thread, found = _in_thread(work)
    time.sleep(0.05)
    cancellation.cancel("the session was closed")
    thread.join()
    assert isinstance(found[0], tf.errors.CancelledError)
    assert "the session was closed" in str(found[0])


def test_an_error_ends_all_waits_now_and_later() -> None:
    meeting = LocalRendezvous()
    threads = [_in_thread(lambda e=e: meeting.recv(e, TASK)) for e in "ab"]
    time.sleep(0.05)
    meeting.abort(tf.errors.UnavailableError(None, None, f"{TASK} is gone"))
    for thread, found in threads:
        thread.join()
        assert isinstance(found[0], tf.errors.UnavailableError)
    with pytest.raises(tf.errors.UnavailableError, match="is gone"):
        meeting.recv("c", TASK)
    meeting.send("c", TASK, torch.tensor(1))
    assert meeting.mailbox.left() == 0


def test_the_current_rendezvous_is_the_innermost_of_the_thread() -> None:
    with pytest.raises(tf.errors.FailedPreconditionError, match="one part"):
        current()
    outer, inner = LocalRendezvous(), LocalRendezvous()
    with running(outer):
        with running(inner):
            assert current() is inner
            thread, found = _in_thread(current)
            thread.join()
            assert isinstance(found[0], tf.errors.FailedPreconditionError)
        assert current() is outer

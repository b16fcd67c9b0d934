"""Steps that take from queues and put into them end in whatever order their nodes were made."""

from __future__ import annotations

import gc
import threading
from typing import Any

import pytest

import penstock as tf
from tests.suite.clock import PATIENCE_MS


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as one:
        yield one


@pytest.fixture
def session(graph: Any) -> Any:
    config = tf.ConfigProto(operation_timeout_in_ms=PATIENCE_MS)
    with tf.Session(graph=graph, config=config) as one:
        yield one


def _queue(capacity: int = 1, name: str = "q") -> Any:
    return tf.FIFOQueue(capacity, tf.int32, shapes=[[]], name=name)


def _lines(session: Any, fetches: Any) -> list[str]:
    """The names of the nodes in the order of the program's lines."""
    text = session.explain(fetches)
    return [line.split("# ")[-1] for line in text.splitlines() if "# " in line]


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("prefilled", [0, 1])
@pytest.mark.parametrize("dequeue_first", [True, False])
def test_one_queue_empty_or_full(
    session: Any, dequeue_first: bool, prefilled: int, many: bool
) -> None:
    queue = _queue()

    def put() -> Any:
        return queue.enqueue_many([[5]]) if many else queue.enqueue(5)

    taken, putting = (queue.dequeue(), put()) if dequeue_first else (put(), queue.dequeue())[::-1]
    session.run(queue.enqueue_many([[3] * prefilled]) if prefilled else tf.no_op())
    assert session.run([taken, putting])[0] == (3 if prefilled else 5)
    assert session.run([taken, putting])[0] == 5
    assert session.run(queue.size()) == prefilled


def test_the_wait_of_an_enqueue_stands_after_the_dequeue(session: Any) -> None:
    queue = _queue()
    taken, putting = queue.dequeue(name="take"), queue.enqueue(5, name="put")
    assert _lines(session, [taken, putting]) == ["put", "take", "put/settle"]


@pytest.mark.parametrize("which", ["takes only", "gives only", "gives what it took"])
def test_other_steps_stay_as_they_are(session: Any, which: str) -> None:
    first, second = _queue(name="a"), _queue(name="b")
    if which == "takes only":
        fetches, wanted = [first.dequeue(name="t"), second.dequeue(name="u")], ["t", "u"]
    elif which == "gives only":
        fetches, wanted = [first.enqueue(1, name="t"), second.enqueue(1, name="u")], ["t", "u"]
    else:
        fetches = [second.enqueue(first.dequeue(name="t"), name="u")]
        wanted = ["t", "u"]
    assert _lines(session, fetches) == wanted


def test_a_chain_through_two_queues(session: Any) -> None:
    """a -> b within one step; made in the order that would wait for ever."""
    a, b = _queue(name="a"), _queue(name="b")
    last = b.dequeue()
    passing = b.enqueue(a.dequeue() + 1)
    first = a.enqueue(1)
    assert session.run([last, passing, first])[0] == 2


def test_nodes_that_need_an_enqueue_wait_for_it(session: Any) -> None:
    queue = _queue()
    session.run(queue.enqueue(1))
    counter = tf.Variable(0)
    session.run(tf.global_variables_initializer())
    taken = queue.dequeue()
    with tf.control_dependencies([queue.enqueue(2)]):
        counted = counter.assign_add(1)
        after = queue.size()
    assert session.run([taken, counted, after]) == [1, 1, 1]


def test_a_dequeue_that_needs_an_enqueue_comes_after_all_of_it(session: Any) -> None:
    queue = _queue(2)
    with tf.control_dependencies([queue.enqueue(2, name="put")]):
        taken = queue.dequeue(name="take")
    assert _lines(session, [taken]) == ["put", "take"]
    assert session.run(taken) == 2


def test_closing_and_dequeuing_in_one_step(session: Any) -> None:
    queue = _queue()
    taken = queue.dequeue()
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run([taken, queue.close()])


def test_closing_waits_after_the_dequeue_that_makes_room(session: Any) -> None:
    queue = _queue()
    putter = threading.Thread(target=session.run, args=(queue.enqueue_many([[1, 2]]),))
    putter.start()
    while session.run(queue.size()) < 1:
        pass
    assert session.run([queue.close(), queue.dequeue()])[1] == 1
    putter.join()
    assert session.run([queue.is_closed(), queue.size()]) == [True, 1]


def test_two_steps_that_wait_for_each_other(session: Any) -> None:
    a, b = _queue(name="a"), _queue(name="b")
    one = [a.dequeue(), b.enqueue(1)]
    two = [b.dequeue(), a.enqueue(2)]
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda s=step: results.append(session.run(s)[0]))
        for step in (one, two)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == [1, 2]


def test_a_failed_step_withdraws_what_it_has_started(session: Any) -> None:
    full, other = _queue(name="full"), _queue(name="other")
    session.run([full.enqueue(1), other.close()])
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run([other.dequeue(), full.enqueue(2)])
    gc.collect()
    assert session.run(full.dequeue()) == 1
    assert session.run(full.size()) == 0


def test_an_error_names_the_users_node(session: Any) -> None:
    full, other = _queue(name="full"), _queue(2, name="other")
    session.run([full.enqueue(1), other.enqueue(1)])
    step = [other.dequeue(), full.enqueue(2, name="put")]
    options = tf.RunOptions(timeout_in_ms=200)
    with pytest.raises(tf.errors.DeadlineExceededError, match="room for 1 element") as caught:
        session.run(step, options=options)
    assert caught.value.op.name == "put"

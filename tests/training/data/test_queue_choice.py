"""``QueueBase.from_list``: which queue it is, is known when the step runs."""

from __future__ import annotations

from typing import Any

import pytest

import penstock as tf
from tests.suite.clock import PATIENCE_MS


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def _queues(count: int = 2, **given: Any) -> list[Any]:
    return [
        tf.FIFOQueue(5, tf.int32, **{"shapes": [[]], **given}, name=f"q{i}") for i in range(count)
    ]


def test_its_nodes_are_those_of_tensorflow() -> None:
    with tf.Graph().as_default() as graph:
        chosen = tf.QueueBase.from_list(tf.placeholder(tf.int32, [], name="i"), _queues())
        chosen.enqueue(7)
        chosen.size()
        nodes = [(op.name, op.type, [t.name for t in op.inputs]) for op in graph.get_operations()]
    assert type(chosen) is tf.QueueBase and chosen.name == "GatherV2"
    assert nodes[3:] == [
        ("stack", "Pack", ["q0:0", "q1:0"]),
        ("GatherV2/axis", "Const", []),
        ("GatherV2", "GatherV2", ["stack:0", "i:0", "GatherV2/axis:0"]),
        ("GatherV2_enqueue/component_0", "Const", []),
        ("GatherV2_enqueue", "QueueEnqueueV2", ["GatherV2:0", "GatherV2_enqueue/component_0:0"]),
        ("GatherV2_Size", "QueueSizeV2", ["GatherV2:0"]),
    ]


def test_all_that_a_queue_does(session: Any) -> None:
    queues, index = _queues(3), tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    one, many, more = chosen.dequeue(), chosen.dequeue_many(2), chosen.dequeue_up_to(9)
    session.run(chosen.enqueue_many([[1, 2, 3, 4]]), {index: 1})
    session.run(chosen.enqueue(9), {index: 2})
    assert [session.run(chosen.size(), {index: i}) for i in range(3)] == [0, 4, 1]
    assert [session.run(q.size()) for q in queues] == [0, 4, 1]
    assert session.run([one], {index: 1}) == [1] and session.run([one], {index: 2}) == [9]
    assert session.run(many, {index: 1}).tolist() == [2, 3]
    session.run(chosen.close(), {index: 1})
    assert [bool(session.run(q.is_closed())) for q in queues] == [False, True, False]
    assert bool(session.run(chosen.is_closed(), {index: 1}))
    assert session.run(more, {index: 1}).tolist() == [4]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(one, {index: 1})


@pytest.mark.parametrize("index", [2, -1])
def test_an_index_out_of_range(session: Any, index: int) -> None:
    fed = tf.placeholder(tf.int32, [])
    size = tf.QueueBase.from_list(fed, _queues()).size()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 2\)"):
        session.run(size, {fed: index})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"not in \[0, 2\)"):
        session.run(tf.QueueBase.from_list(index, _queues()).size())


def test_static_shapes_are_what_all_have_in_common() -> None:
    with tf.Graph().as_default():
        types, names = [tf.int32, tf.float32], ["a", "b"]
        first = tf.FIFOQueue(5, types, shapes=[[], [2]], names=names)
        second = tf.PaddingFIFOQueue(5, types, shapes=[[3], [None]], names=names)
        both = tf.QueueBase.from_list(0, [first, second])
        assert [s.ndims for s in both.shapes] == [None, 1]
        assert both.shapes[1].as_list() == [None]
        assert both.names == names and both.dtypes == types


def test_one_step_moves_an_element_from_one_to_another(session: Any) -> None:
    queues = _queues()
    source, target = tf.placeholder(tf.int32, []), tf.placeholder(tf.int32, [])
    taken = tf.QueueBase.from_list(source, queues).dequeue()
    move = tf.QueueBase.from_list(target, queues).enqueue(taken + 1)
    session.run(queues[0].enqueue(1))
    session.run(move, {source: 0, target: 1})
    session.run(move, {source: 1, target: 0})
    assert session.run(queues[0].dequeue()) == 3


def test_a_give_and_a_take_of_one_step_meet(session: Any) -> None:
    # The take stands first in the graph; the step must not wait for itself.
    queues, index = _queues(), tf.placeholder(tf.int32, [])
    chosen = tf.QueueBase.from_list(index, queues)
    taken = chosen.dequeue()
    given = queues[1].enqueue(5)
    got, _ = session.run([taken, given], {index: 1}, tf.RunOptions(timeout_in_ms=PATIENCE_MS))
    assert got == 5

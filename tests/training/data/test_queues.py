"""The queue classes: nodes, static shapes, checks, and what sessions see."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import penstock as tf
from tests.suite.clock import PATIENCE
from tests.training.data.expected_queue_nodes import NODES


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as one:
        yield one


def _session(seconds: float = PATIENCE) -> Any:
    return tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=int(seconds * 1000)))


def _fifo(capacity: int = 4, **more: Any) -> Any:
    return tf.FIFOQueue(capacity, tf.int32, shapes=[[]], **more)


def test_nodes_are_those_of_tensorflow(graph: Any) -> None:
    queue = tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]])
    queue.enqueue([1, [1.0, 2]])
    queue.enqueue_many([[1], [[1.0, 2]]])
    queue.dequeue()
    queue.dequeue_many(2)
    queue.dequeue_up_to(2)
    queue.close()
    queue.is_closed()
    queue.size()
    with tf.name_scope("sc"):
        shuffle = tf.RandomShuffleQueue(10, 2, tf.int32, shapes=[[]])
        shuffle.enqueue(2, name="E")
        shuffle.dequeue(name="D")
        shuffle.dequeue_many(2, name="DM")
        priority = tf.PriorityQueue(10, tf.int32, shapes=[[]])
        priority.enqueue((np.int64(1), 2))
        priority.enqueue_many(([1], [2]))
        tf.PaddingFIFOQueue(10, tf.int32, shapes=[[None]]).enqueue([[2]])
    found = [(o.name, o.type, [t.name for t in o.inputs]) for o in graph.get_operations()]
    assert found == [row for row in NODES if not row[0].startswith("sc/fifo_queue")]


def test_static_shapes() -> None:
    n = tf.placeholder(tf.int32)
    queue = tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[], [2]])
    assert [t.shape.as_list() for t in queue.dequeue()] == [[], [2]]
    assert [t.shape.as_list() for t in queue.dequeue_many(3)] == [[3], [3, 2]]
    assert [t.shape.as_list() for t in queue.dequeue_many(n)] == [[None], [None, 2]]
    assert [t.shape.as_list() for t in queue.dequeue_up_to(3)] == [[None], [None, 2]]
    assert tf.FIFOQueue(3, tf.int32).dequeue().shape.ndims is None
    number, text = tf.PriorityQueue(3, tf.string, shapes=[[]]).dequeue_many(2)
    assert (number.dtype, text.dtype, text.shape.as_list()) == (tf.int64, tf.string, [2])
    padding = tf.PaddingFIFOQueue(3, [tf.int32], shapes=[[None, 2]])
    assert padding.dequeue_many(2).shape.as_list() == [2, None, 2]


@pytest.mark.parametrize(
    ("make", "kind", "says"),
    [
        (lambda: tf.FIFOQueue(3, []), ValueError, "component_types"),
        (lambda: tf.FIFOQueue(3, [tf.int32] * 2, shapes=[[]]), ValueError, "2 component"),
        (lambda: tf.FIFOQueue(3, tf.int32, shapes=[[None]]), ValueError, "fully defined"),
        (lambda: tf.RandomShuffleQueue(3, 1, tf.int32, shapes=[None]), ValueError, "fully"),
        (lambda: tf.FIFOQueue(3, [tf.int32] * 2, names=["a"]), ValueError, "1 names for 2"),
        (lambda: tf.PaddingFIFOQueue(3, [tf.int32], shapes=None), ValueError, "list of shapes"),
        (lambda: tf.PaddingFIFOQueue(3, [tf.int32], shapes=[None]), ValueError, "defined rank"),
        (lambda: _fifo().enqueue([1, 2]), ValueError, "1 component"),
        (lambda: _fifo().enqueue([[1, 2]]), ValueError, "compatible"),
        (lambda: _fifo().enqueue_many([1]), ValueError, "rank at least 1"),
        (lambda: _fifo().enqueue([1.5]), TypeError, "int32"),
        (lambda: _fifo().enqueue({"a": 1}), ValueError, "must have names"),
        (lambda: _fifo(names="a").enqueue([1]), ValueError, "dictionary"),
        (lambda: _fifo(names="a").enqueue({"b": 1}), ValueError, "do not match names"),
        (lambda: _fifo().dequeue_many(-1), ValueError, "at least 0"),
        (lambda: tf.QueueBase.from_list(0, []), TypeError, "list of queues"),
        (lambda: tf.QueueBase.from_list(0, ["q"]), TypeError, "list of queues"),
        (lambda: tf.QueueBase.from_list(0, [_fifo(), _fifo(names="a")]), TypeError, "names"),
    ],
)
def test_mistakes_are_told_where_they_are_made(make: Any, kind: Any, says: str) -> None:
    with pytest.raises(kind, match=says):
        make()


def test_elements_with_names_are_dicts() -> None:
    queue = tf.FIFOQueue(3, [tf.int32, tf.string], shapes=[[], []], names=["n", "text"])
    with _session() as session:
        session.run(queue.enqueue({"text": "a", "n": 1}))
        assert session.run(queue.dequeue()) == {"n": 1, "text": b"a"}


def test_from_list_takes_the_queue_of_a_known_index() -> None:
    queues = [_fifo(), _fifo()]
    with _session() as session:
        session.run(tf.QueueBase.from_list(tf.constant(1), queues).enqueue(7))
        assert session.run([q.size() for q in queues]) == [0, 1]


def test_graphs_nodes_share_a_queue_by_name() -> None:
    first, second = _fifo(shared_name="one"), _fifo(shared_name="one", name="other")
    with _session() as session:
        session.run(first.enqueue(3))
        assert session.run(second.dequeue()) == 3


def test_values_of_variables_and_arrays_are_copied() -> None:
    queue = tf.FIFOQueue(4, tf.float32, shapes=[[2]])
    variable = tf.Variable([1.0, 2.0])
    fed = tf.placeholder(tf.float32, [2])
    array = np.array([5.0, 6.0], np.float32)
    with _session() as session:
        session.run(tf.global_variables_initializer())
        session.run(queue.enqueue(variable))
        session.run(queue.enqueue(fed), {fed: array})
        session.run(variable.assign_add([10.0, 10.0]))
        array[:] = 0
        kept = session.run(queue.dequeue_many(2))
        assert kept.tolist() == [[1, 2], [5, 6]]


def test_what_a_step_does_with_an_element_leaves_the_others_alone() -> None:
    queue = tf.FIFOQueue(4, tf.float32, shapes=[[2]])
    taken = queue.dequeue()
    changed = tf.exp(taken * 0.0)
    with _session() as session:
        session.run(queue.enqueue_many([np.ones((3, 2)) * 4]))
        first, _ = session.run([taken, changed])
        second = session.run(changed)
        assert (first.tolist(), second.tolist()) == ([4, 4], [1, 1])
        assert session.run(taken).tolist() == [4, 4]


def test_min_after_dequeue_beyond_the_capacity() -> None:
    queue = tf.RandomShuffleQueue(3, 3, tf.int32, shapes=[[]])
    with _session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="less than"):
        session.run(queue.size())


@pytest.mark.parametrize("capacity", [-1, -2])
def test_a_negative_capacity_is_no_bound(capacity: int) -> None:
    queue = _fifo(capacity)
    with _session() as session:
        session.run(queue.enqueue_many([np.arange(1000)]))
        assert session.run(queue.size()) == 1000


def test_a_wait_ends_at_the_deadline_and_names_the_queue() -> None:
    queue = _fifo(0, name="none")
    with _session(0.1) as session:
        with pytest.raises(tf.errors.DeadlineExceededError) as caught:
            session.run(queue.enqueue(1, name="put"))
        assert caught.value.op.name == "put"
        assert "room for 1 element(s) in FIFOQueue 'none' of capacity 0" in caught.value.message


def test_closing_the_session_ends_its_waits() -> None:
    queue = _fifo(name="empty")
    session = _session()
    taken = queue.dequeue()
    raised: list[Any] = []

    def take() -> None:
        try:
            session.run(taken)
        except tf.errors.CancelledError as error:
            raised.append(error.message)

    thread = threading.Thread(target=take)
    thread.start()
    time.sleep(0.2)
    session.close()
    thread.join()
    assert "1 of 1 element(s) asked of FIFOQueue 'empty'" in raised[0]


def test_a_graph_with_older_ops_runs(graph: Any) -> None:
    """Version 1 ops name their queue by a reference to a string."""
    definition = tf.GraphDef()
    queue = definition.node.add(name="q", op="FIFOQueue")
    queue.attr["component_types"].list.type.append(tf.int32.as_datatype_enum)
    queue.attr["shapes"].list.shape.add()
    one = definition.node.add(name="one", op="Const")
    one.attr["dtype"].type = tf.int32.as_datatype_enum
    one.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(8))
    put = definition.node.add(name="put", op="QueueEnqueue", input=["q", "one"])
    put.attr["Tcomponents"].list.type.append(tf.int32.as_datatype_enum)
    take = definition.node.add(name="take", op="QueueDequeue", input=["q"])
    take.attr["component_types"].list.type.append(tf.int32.as_datatype_enum)
    definition.node.add(name="size", op="QueueSize", input=["q"])
    tf.import_graph_def(definition, name="")
    with _session() as session:
        session.run("put")
        session.run("put")
        assert session.run("take:0") == 8
        assert session.run("size:0") == 1
        assert session.run(["take:0", "put"])[0] == 8


def test_errors_name_a_queue_as_it_is_shared() -> None:
    queue = _fifo(shared_name="everybodys", name="mine")
    get = queue.dequeue()
    with tf.Session() as session:
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="FIFOQueue 'everybodys' is closed"):
            session.run(get)

"""Wrong use of sessions fails with TensorFlow 1.15's class and words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _run(*args: Any) -> Any:
    with tf.Session() as session:
        return session.run(*args)


def _entered_twice() -> None:
    with tf.Session() as session, session:
        pass


def _closed() -> None:
    session = tf.Session()
    session.close()
    session.run(tf.constant(1.0))


def _after_finalize() -> None:
    tf.get_default_graph().finalize()
    tf.constant(1.0)


def _uninitialized(use_resource: bool) -> None:
    _run(tf.Variable(1.0, name="v", use_resource=use_resource))


def _fed(value: Any) -> None:
    p = tf.placeholder(tf.float32, [2])
    _run(p, {p: value()})


def _taken_from_closed_queue() -> None:
    queue = tf.FIFOQueue(3, tf.float32, [[]])
    with tf.Session() as session:
        session.run(queue.close())
        session.run(queue.dequeue_many(2))


def _wrong_element() -> None:
    value = tf.placeholder(tf.float32)
    enqueue = tf.FIFOQueue(3, tf.float32, [[3, 3]]).enqueue(value)
    _run(enqueue, {value: [[0.0] * 4] * 3})


def _not_made_ready() -> None:
    tf.Variable(1.0, name="v")
    ready = tf.report_uninitialized_variables()
    tf.train.SessionManager(ready_op=ready).prepare_session("", init_op=tf.no_op())


def _nothing_to_init_with() -> None:
    tf.Variable(1.0, name="v")
    ready = tf.report_uninitialized_variables()
    tf.train.SessionManager(ready_op=ready).prepare_session("")


def _timed_out() -> None:
    dequeue = tf.FIFOQueue(3, tf.float32).dequeue()
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20)) as session:
        session.run(dequeue)


_CASES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "empty graph": (lambda: _run([]), RuntimeError, "The Session graph is empty"),
    "entered twice": (_entered_twice, RuntimeError, "Session context managers are not re-entrant"),
    "closed": (_closed, RuntimeError, "Attempted to use a closed Session"),
    "finalized": (_after_finalize, RuntimeError, "Graph is finalized and cannot be modified"),
    "no session": (lambda: tf.constant(1.0).eval(), ValueError, "No default session is registered"),
    "a bool": (lambda: bool(tf.constant(True)), TypeError, "using a `tf.Tensor` as a Python `bo"),
    "a list": (lambda: list(tf.constant([1.0])), TypeError, "iterating over `tf.Tensor` is not"),
    "no tensor": (
        lambda: tf.get_default_graph().get_tensor_by_name("a"), ValueError,
        r"The name 'a' looks like an \(invalid\) Operation name, not a Tensor",
    ),
    "dimension": (
        lambda: tf.convert_to_tensor(tf.Dimension(3), tf.float32), TypeError, "Cannot convert a",
    ),
    "variable": (
        lambda: _uninitialized(False), tf.errors.FailedPreconditionError,
        "Attempting to use uninitialized value v",
    ),
    "resource variable": (
        lambda: _uninitialized(True), tf.errors.FailedPreconditionError,
        "Error while reading resource variable v from Container: localhost",
    ),
    "placeholder": (
        lambda: _run(tf.placeholder(tf.float32, [2], name="p") + 1.0),
        tf.errors.InvalidArgumentError,
        r"You must feed a value for placeholder tensor 'p' with dtype float and shape \[2\]",
    ),
    "fed shape": (
        lambda: _fed(lambda: [1.0, 2.0, 3.0]), ValueError,
        r"Cannot feed value of shape \(3,\) for Tensor 'Placeholder:0', which has shape",
    ),
    "fed tensor": (
        lambda: _fed(lambda: tf.constant([1.0, 2.0])), TypeError,
        "The value of a feed cannot be a tf.Tensor object",
    ),
    "key": (
        lambda: _run(tf.constant(1.0), {"nope:0": 1}), TypeError,
        "Cannot interpret feed_dict key as Tensor: The name 'nope:0' refers to a Tensor which does",
    ),
    "closed queue": (
        _taken_from_closed_queue, tf.errors.OutOfRangeError,
        r"is closed and has insufficient elements \(requested 2, current size 0\)",
    ),
    "element": (_wrong_element, tf.errors.InvalidArgumentError, r"Expected \[3,3\], got \[3,4\]"),
    "not ready": (_not_made_ready, RuntimeError, "Init operations did not make model ready"),
    "no init": (_nothing_to_init_with, RuntimeError, "Model is not initialized and no init_op"),
    "timeout": (_timed_out, tf.errors.DeadlineExceededError, "Timed out waiting for notification"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(_CASES))
def test_wrong_use(name: str) -> None:
    wrong, error, words = _CASES[name]
    with pytest.raises(error, match=words):
        wrong()


@pytest.mark.parametrize(
    ("name", "shape", "error", "words"),
    [
        ("w", [2], tf.errors.NotFoundError, "a Variable name or other graph key that is missing"),
        ("v", [3], tf.errors.InvalidArgumentError, "a mismatch between the current graph and the"),
    ],
)
def test_what_cannot_be_restored(
    name: str, shape: list[int], error: type[Exception], words: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "model")
    tf.get_variable("v", [2])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default():
        tf.get_variable(name, shape)
        with tf.Session() as session, pytest.raises(error, match=words) as caught:
            tf.train.Saver().restore(session, path)
    assert str(caught.value).startswith("Restoring from checkpoint failed.")


def test_nodes_that_no_step_needs_must_be_placeable_unless_they_are_pruned() -> None:
    here = tf.constant(1)
    with tf.device("/device:GPU:7"):
        tf.constant(2)
    config = tf.ConfigProto()
    for place_pruned_graph in (None, False):
        if place_pruned_graph is not None:
            config.graph_options.place_pruned_graph = place_pruned_graph
        session = tf.Session() if place_pruned_graph is None else tf.Session(config=config)
        with (
            session,
            pytest.raises(
                tf.errors.InvalidArgumentError, match="Cannot assign a device for operation Const_1"
            ),
        ):
            session.run(here)
    config.graph_options.place_pruned_graph = True
    with tf.Session(config=config) as session:
        assert session.run(here) == 1
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(here) == 1

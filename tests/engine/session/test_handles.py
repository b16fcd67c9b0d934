"""Tensors that stay with a session between steps."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.engine.resources.session_values import SessionValues
from penstock.foundation.graph.build import make


@pytest.fixture(params=["local", "server"])
def session(request: Any) -> Iterator[Any]:
    """A session in this process, and one on a server."""
    if request.param == "local":
        with tf.Graph().as_default(), tf.Session() as made:
            yield made
        return
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default(), tf.Session(server.target) as made:
        yield made


def test_a_value_is_kept_and_used(session: Any) -> None:
    x = tf.placeholder(tf.float32, [2])
    kept = session.run(tf.get_session_handle(x * 3.0), {x: [1.0, 2.0]})
    name, _, device = kept.handle.split(";")
    assert name == "GetSessionHandle" and device.endswith("/device:CPU:0")
    assert str(kept) == kept.handle
    holder, value = tf.get_session_tensor(kept.handle, tf.float32)
    assert value.op.type == "GetSessionTensor" and holder.op.type == "Placeholder"
    for _ in range(2):
        assert session.run(value + 1.0, {holder: kept.handle}).tolist() == [4, 7]
    assert kept.eval().tolist() == [3, 6]


def test_a_handle_object_may_be_fed(session: Any) -> None:
    """For the placeholder of a handle it is the handle, for any other tensor the value."""
    kept = session.run(tf.get_session_handle(tf.constant([1, 2])))
    holder, value = tf.get_session_tensor(kept.handle, tf.int32)
    y = tf.placeholder(tf.int32, [2])
    assert session.run([value * 10, y + 1], {holder: kept, y: kept})[1].tolist() == [2, 3]
    text = session.run(tf.get_session_handle(tf.constant("a")))
    z = tf.placeholder(tf.string)
    assert session.run(tf.strings.length(z), {z: text}) == 1


def test_handles_in_nestings_and_chains(session: Any) -> None:
    """A loop that never takes its value out of the session."""
    state = session.run({"state": tf.get_session_handle(tf.constant(1.0))})["state"]
    holder, value = tf.get_session_tensor(state.handle, tf.float32)
    following = tf.get_session_handle(value * 2.0)
    seen = {state.handle}
    for _ in range(25):
        state, shown = session.run([following, value], {holder: state.handle})
        assert state.handle not in seen
        seen.add(state.handle)
    assert state.eval() == 2.0**25 and shown == 2.0**24


def test_what_is_kept_does_not_change(session: Any) -> None:
    variable = tf.Variable([1.0, 2.0])
    session.run(variable.initializer)
    kept = session.run(tf.get_session_handle(variable._ref() * 1.0))
    plain = session.run(tf.get_session_handle(tf.identity(variable)))
    session.run(tf.assign_add(variable, [5.0, 5.0]))
    holder, value = tf.get_session_tensor(kept.handle, tf.float32)
    found = session.run(value, {holder: kept.handle})
    found += 100.0
    used = session.run(tf.negative(value), {holder: kept.handle})
    assert used.tolist() == [-1, -2]
    assert [k.eval().tolist() for k in (kept, plain)] == [[1, 2], [1, 2]]


def test_strings_and_other_types(session: Any) -> None:
    for array in (np.array([b"a", b"bc"], object), np.array(True), np.zeros([0, 3], np.int64)):
        kept = session.run(tf.get_session_handle(tf.constant(array)))
        assert kept.eval().tolist() == array.tolist()


def test_deleting(session: Any) -> None:
    kept = session.run(tf.get_session_handle(tf.constant(1.0)))
    handle = kept.handle
    holder, value = tf.get_session_tensor(handle, tf.float32)
    kept.delete()
    unknown = "is not in the session store"
    with pytest.raises(tf.errors.InvalidArgumentError, match=unknown):
        session.run(value, {holder: handle})
    for again in (kept.delete, kept.eval):
        with pytest.raises(TypeError, match="already been deleted"):
            again()
    raw = session.run(tf.get_session_handle(tf.constant(2.0)))
    text = raw.get_raw_handle()
    with pytest.raises(TypeError, match="already been deleted"):
        raw.eval()
    assert session.run(value, {holder: text}) == 2.0
    deleted, deleter = tf.delete_session_tensor(text)
    session.run(deleter, {deleted: text})
    with pytest.raises(tf.errors.InvalidArgumentError, match=unknown):
        session.run(deleter, {deleted: text})


def test_wrong_handles(session: Any) -> None:
    kept = session.run(tf.get_session_handle(tf.constant(1.0)))
    holder, value = tf.get_session_tensor(kept.handle, tf.int32)
    with pytest.raises(tf.errors.InternalError, match="int32 is asked for"):
        session.run(value, {holder: kept.handle})
    with pytest.raises(tf.errors.InvalidArgumentError, match="'nothing' is not in"):
        session.run(value, {holder: "nothing"})
    with pytest.raises(TypeError, match="must be of type Tensor"):
        tf.get_session_handle([1.0])  # type: ignore[arg-type]


def _store(session: Any) -> SessionValues:
    found = session._engine._resources.lookup("__private__", "session values")
    assert isinstance(found, SessionValues)
    return found


@pytest.mark.long
def test_handles_that_are_garbage_free_their_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        handle = tf.get_session_handle(tf.constant(1.0))
        for _ in range(50):
            session.run(handle)
            gc.collect()
            assert _store(session).count() <= 12
        store = _store(session)
        nodes = len(session.graph.get_operations())
        for _ in range(50):
            session.run(handle)
        assert len(session.graph.get_operations()) == nodes
    assert session._engine._resources.lookup("__private__", "session values") is None
    assert store.count() > 0  # nobody but this test still has it


def test_a_handle_belongs_to_its_session() -> None:
    with tf.Graph().as_default() as graph:
        one, other = tf.Session(graph=graph), tf.Session(graph=graph)
        kept = one.run(tf.get_session_handle(tf.constant(1.0)))
        holder, value = tf.get_session_tensor(kept.handle, tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match="another session keeps it"):
            other.run(value, {holder: kept.handle})
        assert one.run(value, {holder: kept.handle}) == 1.0
        one.close(), other.close()


def test_the_second_form_and_callables(session: Any) -> None:
    kept = session.run(make("GetSessionHandleV2", tf.constant([3.0])))
    assert kept.eval().tolist() == [3]
    x = tf.placeholder(tf.float32, [])
    keep = session.make_callable(tf.get_session_handle(x), [x])
    assert keep(4.0).eval() == 4.0


def test_nodes_are_tensorflows() -> None:
    with tf.Graph().as_default() as graph:
        c = tf.multiply(2.0, 3.0)
        tf.get_session_handle(c)
        tf.get_session_tensor("h;0;/job:localhost/replica:0/task:0/device:CPU:0", tf.float32)
        tf.delete_session_tensor("h;0;/job:localhost/replica:0/task:0/device:CPU:0")
    rows = [(op.name, op.type, [t.name for t in op.inputs]) for op in graph.get_operations()]
    assert rows[3:] == [
        ("GetSessionHandle", "GetSessionHandle", ["Mul:0"]),
        ("Placeholder", "Placeholder", []),
        ("GetSessionTensor", "GetSessionTensor", ["Placeholder:0"]),
        ("Placeholder_1", "Placeholder", []),
        ("DeleteSessionTensor", "DeleteSessionTensor", ["Placeholder_1:0"]),
    ]
    assert graph.get_operation_by_name("GetSessionTensor").device == (
        "/job:localhost/replica:0/task:0/device:CPU:0"
    )

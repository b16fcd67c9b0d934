"""What is cut, how often, and where sends and receives stand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.compiler.partition.part import Part
from penstock.engine.resources import rendezvous
from penstock.foundation.graph.node_attrs import COMPRESS
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.text import step_text
from tests import golden
from tests.compiler.partition.cluster import Cluster, as_asked, everything
from tests.compiler.partition.programs import OTHER, PROGRAMS, PS, WORKER

GOLDEN = Path(__file__).parent / "golden"
MESSAGES = ("_Send", "_Recv")


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


def _cut(fetches: list[Any], feeds: list[Any] | None = None, **how: Any) -> dict[str, Part]:
    listed = [getattr(f, "_as_graph_element", lambda f=f: f)() for f in fetches]
    _, parts = Cluster(on_wire=False, **how).cut(listed, feeds or [])
    return {part.task.removeprefix("/job:").replace("/replica:0/task:", ""): part for part in parts}


def _of_type(step: StepGraph, op_type: str) -> list[Operation]:
    return [op for op in everything(step) if op.type == op_type]


def _top(step: StepGraph, op_type: str) -> list[Operation]:
    return [op for op in step.operations if op.type == op_type]


# ---- edges ---------------------------------------------------------------------------------------


def test_a_tensor_goes_to_a_task_once() -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.ones(3, np.float32))
    with tf.device(WORKER):
        a = tf.tanh(w) + tf.exp(w)
        b = a * w
    with tf.device(OTHER):
        c = w + 1.0
    parts = _cut([b, c])
    assert len(_of_type(parts["ps0"].step, "_Send")) == 2
    assert len(_of_type(parts["worker0"].step, "_Recv")) == 1
    assert len(_of_type(parts["worker1"].step, "_Recv")) == 1


def test_one_task_is_one_part_without_messages() -> None:
    with tf.device("/job:worker/task:1"):
        x = tf.placeholder(tf.float32, [2])
        y = tf.exp(x)
    parts = _cut([y], [x])
    assert list(parts) == ["worker1"]
    assert not _of_type(parts["worker1"].step, "_Send")
    assert (parts["worker1"].feeds, parts["worker1"].fetches) == ([0], [0])


def test_a_feed_goes_to_every_task_that_uses_it_and_is_not_sent_on() -> None:
    x, y = (tf.placeholder(tf.float32, [2]) for _ in range(2))
    with tf.device(WORKER):
        a = x + 1.0
    with tf.device(OTHER):
        b = x * y
    parts = _cut([b, a], [x, y])
    assert (parts["worker0"].feeds, parts["worker1"].feeds) == ([0], [0, 1])
    assert (parts["worker0"].fetches, parts["worker1"].fetches) == ([1], [0])
    assert not any(_of_type(part.step, "_Send") for part in parts.values())


def test_constants_and_known_shapes_are_made_where_they_are_wanted() -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.ones((3, 4), np.float32))
        size = tf.shape(w)
        k = tf.constant([1.0, 2.0])
    with tf.device(WORKER):
        y = tf.reshape(tf.zeros(size), [-1]) + tf.reduce_sum(k)
    parts = _cut([y])
    assert not any(_of_type(part.step, "_Send") for part in parts.values())


def test_a_shape_travels_and_not_the_tensor() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    with tf.device(WORKER):
        a = tf.exp(x)
    with tf.device(OTHER):
        y = tf.zeros(tf.shape(a))
    parts = _cut([y], [x])
    (sent,) = _of_type(parts["worker0"].step, "_Send")
    assert sent.attrs["T"] is tf.int32


def test_a_group_over_tasks_takes_one_message_from_each() -> None:
    with tf.device(PS):
        many = [tf.get_variable(f"v{i}", initializer=np.float32(i)) for i in range(5)]
    with tf.device(WORKER), tf.control_dependencies([v.initializer for v in many]):
        group = tf.no_op()
    with tf.device(WORKER):
        mine = tf.get_variable("mine", initializer=np.float32(0))
        with tf.control_dependencies([group]):
            after = tf.assign(mine, 1.0)
    parts = _cut([after])
    (sent,) = _of_type(parts["ps0"].step, "_Send")
    assert len(sent.control_inputs) == 5


def test_a_group_that_nothing_comes_after_takes_no_message() -> None:
    with tf.device(PS):
        v = tf.get_variable("v", initializer=np.float32(1))
    with tf.device(OTHER):
        w = tf.get_variable("w", initializer=np.float32(2))
    with tf.device(WORKER):
        group = tf.group(v.initializer, tf.group(w.initializer), name="init")
        idle = tf.no_op()
    parts = _cut([group, idle])
    assert not any(_of_type(part.step, kind) for part in parts.values() for kind in MESSAGES)
    targets = {task: [op.name for op in part.step.targets] for task, part in parts.items()}
    assert targets == {"ps0": ["v/Assign"], "worker1": ["w/Assign"], "worker0": ["NoOp"]}


def test_ids_are_not_sent_again_with_the_gradient_of_their_rows() -> None:
    x = tf.placeholder(tf.int32, [3], name="x")
    with tf.device(PS):
        tables = [tf.get_variable(f"t{i}", initializer=np.ones((9, 4), np.float32)) for i in (0, 1)]
    with tf.device(WORKER):
        rows = [tf.nn.embedding_lookup(tables[0], x), tf.nn.embedding_lookup(tables[1], x * 2)]
        train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(rows[0] * rows[1]))
    part = _cut([train], [x])["ps0"]
    received = [op.outputs[0] for op in _of_type(part.step, "_Recv")]
    # Rows of both tables, and the ids that the worker has made; those that are fed are there.
    assert sorted((t.dtype.name, t.sizes) for t in received) == [
        ("float32", (3, 4)), ("float32", (3, 4)), ("int32", (3,)),
    ]  # fmt: skip


def test_names_and_lines_of_sends_are_those_of_the_nodes() -> None:
    with tf.device(PS):
        k = tf.exp(tf.placeholder(tf.float32, [2], name="x"), name="k")
    with tf.device(WORKER):
        y = k + 1.0
    parts = _cut([y], [k.op.inputs[0]])
    (sent,), (received,) = (
        _of_type(parts[task].step, kind) for task, kind in (("ps0", "_Send"), ("worker0", "_Recv"))
    )
    assert (sent.name, received.name) == ("k/_send", "k/_recv")
    assert sent.origin == received.origin == k.op.origin
    for op in (sent, received):
        assert op.attrs["send_device"] == "/job:ps/replica:0/task:0/device:CPU:0"
        assert op.attrs["recv_device"] == "/job:worker/replica:0/task:0/device:CPU:0"
        assert op.attrs["tensor_name"] == "edge_0_k"


# ---- order ---------------------------------------------------------------------------------------


def _check_order(part: Part) -> int:
    """No receive may run before a send that stands before it; gives how many were looked at."""

    def check(step: StepGraph) -> int:
        looked, behind, sends = 0, {}, []
        for op in step.operations:
            found = {op}
            for other in (*(t.op for t in op.inputs), *op.control_inputs):
                found |= behind[other]
            behind[op] = found
            looked += sum(check(block) for block in blocks_of(op))
            if op.op_def.blocking:
                assert set(sends) <= found, f"{op.name} may run before a send"
                looked += 1
            if op.type == "_Send" or blocks_of(op) and op.op_def.effect:
                sends.append(op)
        return looked

    return check(part.step)


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_what_waits_comes_after_all_sends_before_it(name: str) -> None:
    for fetches, feed in PROGRAMS[name]():
        for part in _cut(fetches, list(feed)).values():
            _check_order(part)


def test_receives_come_right_before_their_first_consumer() -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.ones(3, np.float32))
    with tf.device(WORKER):
        x = tf.placeholder(tf.float32, [3])
        y = tf.exp(tf.exp(tf.exp(x))) + w
    names = [op.type for op in _cut([y], [x])["worker0"].step.operations]
    assert names == ["_Feed", "Exp", "Exp", "Exp", "_Recv", "AddV2"]


def test_a_reference_is_sent_anew_after_a_write() -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.ones(3, np.float32), use_resource=False)
    with tf.device(WORKER):
        before = tf.exp(w._ref())
    with tf.control_dependencies([before]), tf.device(PS):
        update = tf.assign_add(w, tf.ones([3]))
    with tf.control_dependencies([update]), tf.device(WORKER):
        after = tf.exp(w._ref())
    part = _cut([before, after])["ps0"]
    sends = [op for op in part.step.operations if op.type == "_Send" and op.inputs[0].dtype.is_ref]
    assert len(sends) == 2
    (write,) = _of_type(part.step, "AssignAdd")
    assert sends[0] in write.control_inputs and write in sends[1].control_inputs


# ---- loops ---------------------------------------------------------------------------------------


def _loop(limit: Any, weights: Any) -> Any:
    def body(i: Any, x: Any) -> Any:
        with tf.device(WORKER):
            y = tf.matmul(x, weights)
        with tf.device(OTHER):
            return i + 1, tf.tanh(y)

    with tf.device(WORKER):
        return tf.while_loop(lambda i, x: i < limit, body, [0, tf.ones([2, 3])])


def test_weights_enter_a_loop_once_and_counters_are_counted_on_both_sides() -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.eye(3, dtype=np.float32))
    parts = _cut([_loop(tf.placeholder(tf.int32, [], name="n"), w)[1]], [
        tf.get_default_graph().get_tensor_by_name("n:0")
    ])  # fmt: skip
    assert not _of_type(parts["ps0"].step, "_While"), "the ps has no part in the loop"
    assert len(_top(parts["ps0"].step, "_Send")) == 1
    for task in ("worker0", "worker1"):
        (loop,) = _top(parts[task].step, "_While")
        condition, body = blocks_of(loop)
        assert not [op for op in condition.operations if op.type in ("_Send", "_Recv")]
        kinds = [op.type for op in body.operations if op.type in ("_Send", "_Recv")]
        assert sorted(kinds) == ["_Recv", "_Send"], "one value each way in a round"


def test_resource_variables_enter_a_loop_once_as_well() -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.eye(3, dtype=np.float32), use_resource=True)

    def body(i: Any, x: Any) -> Any:
        with tf.device(PS):
            value = w.read_value()
        with tf.device(WORKER):
            return i + 1, tf.matmul(x, value)

    with tf.device(WORKER):
        _, x = tf.while_loop(lambda i, x: i < 3, body, [0, tf.ones([2, 3])])
    parts = _cut([x])
    assert not _of_type(parts["ps0"].step, "_While")
    assert len(_top(parts["ps0"].step, "_Send")) == 1


def test_an_effect_that_follows_a_variable_waits_for_the_round_before() -> None:
    """In round n + 1 ``second`` comes after ``first`` of round n, by the loop's variable alone."""
    with tf.device(PS):
        first = tf.get_variable("first", initializer=np.float32(0.0), use_resource=True)
    with tf.device(OTHER):
        second = tf.get_variable("second", initializer=np.float32(0.0), use_resource=True)

    def body(x: Any) -> Any:
        with tf.control_dependencies([x]):
            updates = [tf.assign_add(second, 1.0)]
        with tf.device(PS), tf.control_dependencies([*updates, tf.assign_add(first, 1.0)]):
            return tf.tanh(x) + 1.0

    with tf.device(WORKER):
        x = tf.while_loop(lambda x: tf.reduce_sum(x) < 9.0, body, [tf.zeros([3])])
    (loop,) = _top(_cut([x])["worker1"].step, "_While")
    (update,) = _of_type(blocks_of(loop)[1], "AssignAddVariableOp")
    (received,) = update.control_inputs
    assert received.type == "_Recv"


def test_a_test_made_of_tensors_is_sent_each_round() -> None:
    fetches, _ = PROGRAMS["a_loop_whose_test_is_elsewhere"]()[0]
    parts = _cut(fetches)
    (loop,) = _top(parts["worker1"].step, "_While")
    sent = [op for op in blocks_of(loop)[0].operations if op.type == "_Send"]
    assert [op.attrs["T"] for op in sent] == [tf.bool] * 2, "to either of the other tasks"


# ---- refusals ------------------------------------------------------------------------------------


def _misplaced(name: str, device: str) -> Callable[[StepGraph], dict[Operation, str]]:
    def place(step: StepGraph) -> dict[Operation, str]:
        placed = as_asked(step)
        for op in everything(step):
            if op.name == name:
                placed[op] = f"{device}/device:CPU:0"
        return placed

    return place


def test_state_does_not_move() -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.ones(3, np.float32), use_resource=False)
        update = tf.assign_add(w, tf.ones([3]), name="update")
    place = _misplaced("update", "/job:worker/replica:0/task:0")
    expected = "'update' is placed in .*'w', which is"
    with pytest.raises(tf.errors.InvalidArgumentError, match=expected):
        _cut([update], place=place)


def test_handles_do_not_travel() -> None:
    with tf.device(PS):
        dataset = tf.data.Dataset.range(3)
        dataset = dataset._variant_tensor if hasattr(dataset, "_variant_tensor") else None
    if dataset is None:
        pytest.skip("datasets show no tensor here")
    place = _misplaced(dataset.op.name, "/job:worker/replica:0/task:0")
    with tf.device(PS):
        y = tf.identity(dataset, name="other")
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be sent to another task"):
        _cut([y], place=place)


def test_an_unplaced_node_is_a_defect() -> None:
    x = tf.exp(tf.placeholder(tf.float32, [], name="x"))
    with pytest.raises(tf.errors.InternalError, match="has not been placed"):
        _cut([x], [x.op.inputs[0]], place=lambda step: {})


def test_a_failing_part_names_its_node_and_ends_the_others() -> None:
    x = tf.placeholder(tf.float32, [None])
    with tf.device(WORKER):
        y = tf.check_numerics(x, "not finite", name="checked")
    with tf.device(OTHER):
        z = y + 1.0
    with pytest.raises(tf.errors.OpError, match="checked"):
        Cluster().run([z], {x: [np.inf]})


# ---- compression ---------------------------------------------------------------------------------


def _exchange(compress: bool) -> tuple[Any, Any, Any]:
    x = tf.placeholder(tf.float32, [3])
    with tf.device(PS):
        a = tf.exp(x, name="a")
        if compress:
            a = tf.contrib.penstock.compress(a)
    with tf.device(WORKER):
        return x, a, tf.identity(a + 0.0)


VALUES = np.float32([0.1, 1.0, -3.3])


def test_compression_of_a_whole_graph() -> None:
    x, _, y = _exchange(False)
    exact = np.exp(VALUES)
    whole = Cluster(whole=True).run(y, {x: VALUES})
    np.testing.assert_array_equal(Cluster().run(y, {x: VALUES}), whole)
    lossy = Cluster(compress=True)
    found = lossy.run(y, {x: VALUES})
    assert found.dtype == np.float32 and not np.array_equal(found, exact)
    np.testing.assert_allclose(found, exact, rtol=2**-8)
    np.testing.assert_array_equal(found.view(np.uint32) & 0xFFFF, 0)
    names = {op.name: op.type for part in lossy.parts for op in part.step.operations}
    assert names["a/ToFP16"] == names["a/ToFP32"] == "Cast"
    kinds = [op.attrs["T"] for p in lossy.parts for op in p.step.operations if op.type == "_Send"]
    assert kinds == [tf.bfloat16]


def test_compression_of_one_edge() -> None:
    x, a, y = _exchange(True)
    with tf.device(WORKER):
        other = tf.identity(tf.exp(x)) * 1.0
    with tf.device(OTHER):
        z = other + 0.0
    assert a.op.get_attr(COMPRESS) is True
    cluster = Cluster()
    found, there = cluster.run([y, z], {x: VALUES})
    assert not np.array_equal(found, np.exp(VALUES))
    np.testing.assert_allclose(there, np.exp(VALUES), rtol=1e-6)
    kinds = {op.attrs["T"] for p in cluster.parts for op in p.step.operations if op.type == "_Send"}
    assert kinds == {tf.bfloat16, tf.float32}


@pytest.mark.parametrize("use_resource", [False, True])
def test_compression_of_a_variable(use_resource: bool) -> None:
    with tf.device(PS):
        w = tf.get_variable("w", initializer=np.float32([0.1, 0.2]), use_resource=use_resource)
    tf.contrib.penstock.compress(w)
    with tf.device(WORKER):
        y = w * 1.0
    cluster = Cluster()
    cluster.run([w.initializer])
    found = cluster.run(y)
    np.testing.assert_array_equal(found.view(np.uint32) & 0xFFFF, 0)
    np.testing.assert_array_equal(cluster.run(w), np.float32([0.1, 0.2]))


def test_scalars_integers_and_what_may_be_absent_stay_exact() -> None:
    fetches, feed = PROGRAMS["branches_that_give_nothing"]()[1]
    values = Cluster(compress=True).run(fetches, feed)
    np.testing.assert_allclose(values[0], [0.1, 0.2, -0.3], rtol=2**-7)
    with tf.device(PS):
        k = tf.exp(tf.placeholder(tf.float32, [], name="k"))
        n = tf.range(tf.placeholder_with_default(3, []))
    with tf.device(WORKER):
        y = tf.cast(n, tf.float32) * k
    parts = _cut([y], [k.op.inputs[0]], compress=True)
    assert tf.bfloat16 not in {op.attrs["T"] for op in _of_type(parts["ps0"].step, "_Send")}
    with pytest.raises(TypeError, match="only float32"):
        tf.contrib.penstock.compress(n)


# ---- golden --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["towers", "a_loop_over_tasks", "conditionals", "queues"])
def test_cut_graphs_as_text(name: str) -> None:
    steps = PROGRAMS[name]()
    fetches, feed = steps[4 if name == "queues" else 1]
    text = "".join(
        f"---- {task}: feeds {part.feeds}, fetches {part.fetches}\n{step_text(part.step)}"
        for task, part in _cut(fetches, list(feed)).items()
    )
    golden.check(GOLDEN / f"{name}.txt", text)


def test_nothing_is_left_over_when_both_sides_ran() -> None:
    cluster = Cluster()
    for fetches, feed in PROGRAMS["a_loop_over_tasks"]():
        cluster.run(fetches, feed)
        assert cluster.left == 0
    with pytest.raises(tf.errors.FailedPreconditionError):
        rendezvous.current()

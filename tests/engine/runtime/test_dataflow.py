"""The dataflow executor: graphs that do not nest, dead tensors, frames, state, errors."""

from __future__ import annotations

import json
import subprocess
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.engine.runtime.dataflow_program import DataflowProgram
from penstock.ops.control import control_flow as primitives
from penstock.ops.control.control_flow import make
from tests.engine.runtime import dataflow_programs as programs
from tests.peers import TF115, needs
from tests.suite.clock import PATIENCE_MS

KIT = programs.ours()


@pytest.fixture(params=["0", "1"], ids=["where needed", "always"])
def dataflow(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether the executor runs all control flow or that which does not nest."""
    monkeypatch.setenv("PENSTOCK_DATAFLOW", request.param)
    return str(request.param)


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_DATAFLOW", "1")


def _scalar(value: float) -> Any:
    return tf.constant(value, tf.float64)


def _counted(frame: str, start: Any, limit: int, body: Any) -> Any:
    """A loop of primitives that applies ``body`` ``limit`` times."""
    x, i = KIT.variable(start, frame), KIT.variable(_scalar(0.0), frame)
    more = KIT.loop_cond(i < KIT.enter(_scalar(float(limit)), frame, True))
    x_end, x_on = KIT.switch(x, more)
    KIT.close(x, body(x_on))
    KIT.close(i, KIT.switch(i, more)[1] + KIT.enter(_scalar(1.0), frame, True))
    return KIT.exit(x_end)


# ---- programs ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(programs.PROGRAMS))
def test_programs(name: str, dataflow: str) -> None:
    assert programs.run(KIT, name) == programs.WANTED[name]


def test_random_programs(dataflow: str) -> None:
    for seed in range(60):
        found, wanted = programs.run_random(KIT, seed)
        assert found == wanted, f"seed {seed}"


@pytest.mark.long
@pytest.mark.timeout(600)
def test_tensorflow_says_the_same(tmp_path: Path) -> None:
    needs(TF115)
    path, count = tmp_path / "theirs.json", 500
    command = [str(TF115), str(programs.__file__), str(count), str(path)]
    subprocess.run(command, check=True, capture_output=True)
    theirs = json.loads(path.read_text())
    assert theirs["programs"] == programs.WANTED
    for seed, (found, _) in enumerate(theirs["random"]):
        assert programs.run_random(KIT, seed) == [found, found], f"seed {seed}"


def test_what_does_not_nest_runs_here_and_the_rest_does_not() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fetches = programs.PROGRAMS["two_exits"](KIT)
        text = session.explain(fetches["a"], ["p:0"])
        assert "run by the dataflow executor: " in text and " = LoopCond(" in text
        x = tf.placeholder(tf.float32, [])
        text = session.explain(tf.cond(x > 0.0, lambda: x, lambda: -x), [x])
        assert "dataflow" not in text and "if " in text


def test_the_environment_asks_for_it(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        i = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        assert "PENSTOCK_DATAFLOW" in session.explain(i)
        assert session.run(i) == 3
        assert "dataflow" not in session.explain(tf.constant(1.0) + 2.0)


# ---- tokens ------------------------------------------------------------------------------------


def test_of_two_live_values_the_first_made_is_taken(dataflow: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        first, second = x + 1.0, x + 2.0
        for order, wanted in (([first, second], (2.0, 0)), ([second, first], (2.0, 1))):
            merged, index = primitives.merge(order)
            assert session.run([merged, index], {x: 1.0}) == [*wanted]


def test_what_is_dead_does_not_run(always: None) -> None:
    ran: list[str] = []

    def note(label: str) -> Any:
        return lambda value: (ran.append(label), value)[1]

    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.bool, [])
        made = tf.cond(
            p,
            lambda: tf.py_func(note("true"), [tf.constant(1.0)], tf.float32),
            lambda: tf.py_func(note("false"), [tf.constant(2.0)], tf.float32),
        )
        assert session.run(made, {p: True}) == 1.0 and ran == ["true"]
        assert session.run(made, {p: False}) == 2.0 and ran == ["true", "false"]


def test_rounds_run_one_after_the_other(always: None) -> None:
    seen: list[tuple[str, int]] = []

    def note(label: str) -> Any:
        return lambda value: (seen.append((label, int(value))), value)[1]

    with tf.Graph().as_default(), tf.Session() as session:

        def body(i: Any, a: Any) -> Any:
            late = tf.py_func(note("late"), [tf.py_func(note("early"), [i], tf.int32)], tf.int32)
            return i + 1, a + tf.reshape(late, [])

        assert session.run(tf.while_loop(lambda i, a: i < 3, body, [0, 0])) == (3, 3)
    assert seen == [(label, i) for i in range(3) for label in ("early", "late")]


def test_old_rounds_are_dropped(always: None) -> None:
    alive: list[int] = []
    kept: list[Any] = []

    def make_array(i: Any) -> Any:
        made = np.zeros(10)
        kept.append(weakref.ref(made))
        alive.append(sum(ref() is not None for ref in kept))
        return made

    with tf.Graph().as_default(), tf.Session() as session:

        def body(i: Any, a: Any) -> Any:
            made = tf.py_func(make_array, [i], tf.float64)
            made.set_shape([10])
            return i + 1, made + 1.0

        session.run(tf.while_loop(lambda i, a: i < 30, body, [0, tf.zeros([10], tf.float64)]))
    assert len(alive) == 30 and max(alive) <= 3


def test_a_loop_may_hand_out_a_value_once(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        seen: list[Any] = []

        def body(x: Any) -> Any:
            seen.append(KIT.exit(x))
            return x + KIT.enter(_scalar(1.0), "loop", True)

        _counted("loop", _scalar(0.0), 3, body)
        with pytest.raises(tf.errors.InvalidArgumentError, match="comes a second time"):
            session.run(seen[0] * 2.0)


def test_what_is_fed_is_there_in_each_round(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        added: list[Any] = []

        def body(x: Any) -> Any:
            added.append(x * x)
            return added[0] + x

        result = _counted("loop", _scalar(1.0), 3, body)
        assert session.run(result) == 42.0  # 1, 2, 6, 42
        assert session.run(result, {added[0]: 10.0}) == 31.0


def test_fetches_are_copies(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        value = np.ones(2, np.float32)
        merged = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.identity(x), lambda: x)
        first, again = session.run([merged, tf.identity(merged)], {x: value})
        first[:] = 7.0
        assert again.tolist() == value.tolist() == [1.0, 1.0]


# ---- state -------------------------------------------------------------------------------------


def _two_variables(resource: bool) -> list[Any]:
    return [
        tf.get_variable(n, [], initializer=tf.constant_initializer(v), use_resource=resource)
        for n, v in (("a", 1.0), ("b", 10.0))
    ]


def test_a_merge_may_choose_between_references(dataflow: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.bool, [])
        a, b = _two_variables(False)
        session.run(tf.global_variables_initializer())
        sides = [make("RefSwitch", v._ref(), p)[side] for v, side in ((a, 1), (b, 0))]
        chosen = primitives.merge(sides)[0]
        added = tf.assign_add(chosen, 1.0)
        assert [session.run(added, {p: v}) for v in (True, False, False)] == [2.0, 11.0, 12.0]
        assert session.run([a, b]) == [2.0, 12.0]


def test_a_merge_may_choose_between_resources(dataflow: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.bool, [])
        a, b = _two_variables(True)
        session.run(tf.global_variables_initializer())
        sides = [primitives.switch(v.handle, p)[side] for v, side in ((a, 1), (b, 0))]
        chosen = primitives.merge(sides)[0]
        with tf.control_dependencies([make("AssignAddVariableOp", chosen, tf.constant(1.0))]):
            read = make("ReadVariableOp", chosen, dtype=tf.float32)
        assert [session.run(read, {p: v}) for v in (True, False, False)] == [2.0, 11.0, 12.0]
        assert session.run([a, b]) == [2.0, 12.0]


def test_a_reference_is_read_where_it_is_used(dataflow: str) -> None:
    # The values are TensorFlow 1.15's: `v/read`, made outside, shows what a round has written.
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0)
        p = tf.placeholder(tf.bool, [])
        session.run(tf.global_variables_initializer())

        def body(i: Any, total: Any) -> Any:
            with tf.control_dependencies([tf.assign_add(v, 1.0)]):
                return i + 1, total + v * 1.0

        def branch() -> Any:
            with tf.control_dependencies([tf.assign_add(v, 1.0)]):
                return v * 1.0

        assert session.run(tf.while_loop(lambda i, t: i < 4, body, [0, 0.0])) == (4, 14.0)
        chosen = tf.cond(p, branch, lambda: v * 100.0)
        assert session.run(chosen, {p: True}) == 6.0
        assert session.run(chosen, {p: False}) == 600.0


def test_a_predicate_may_be_a_variable(dataflow: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        flag = tf.Variable(True, trainable=False)
        chosen = tf.cond(flag, lambda: 1.0, lambda: 2.0)
        session.run(flag.initializer)
        assert session.run(chosen) == 1.0
        session.run(flag.assign(False))
        assert session.run(chosen) == 2.0


def test_random_numbers_are_the_same_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for which in "01":
        monkeypatch.setenv("PENSTOCK_DATAFLOW", which)
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(3)
            total = tf.while_loop(
                lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.random_uniform([2])),
                [0, tf.zeros([2])],
            )[1]  # fmt: skip
            found.append([session.run(total).tolist() for _ in range(2)])
    assert found[0] == found[1] and found[0][0] != found[0][1]


def test_who_waits_runs_last(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(3, [tf.float32], [[]])
        taken = queue.dequeue()
        p = tf.placeholder(tf.bool, [])
        chosen = tf.cond(p, lambda: taken * 2.0, lambda: taken)
        options = tf.RunOptions(timeout_in_ms=PATIENCE_MS)
        put = queue.enqueue(5.0)
        assert session.run([chosen, put], {p: True}, options=options)[0] == 10.0


def test_functions_of_datasets(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        halve = lambda x: tf.while_loop(lambda v: v > 9, lambda v: v // 2, [x])  # noqa: E731
        dataset = tf.data.Dataset.from_tensor_slices([100, 7, 30]).map(halve)
        following = tf.data.make_one_shot_iterator(dataset).get_next()
        assert [session.run(following) for _ in range(3)] == [6, 7, 7]


# ---- errors ------------------------------------------------------------------------------------


def test_a_dead_fetch_names_its_branch(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.bool, [], name="p")
        yes = tf.multiply(KIT.switch(_scalar(2.0), p)[1], 3.0, name="yes")
        assert session.run(yes, {p: True}) == 6.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="true side of 'p:0'") as caught:
            session.run(yes, {p: False})
        assert caught.value.op is yes.op
        assert "'yes:0' has no value" in str(caught.value)
        assert Path(__file__).name in str(caught.value)
        assert session.run(yes, {p: True}) == 6.0


def test_a_fetch_inside_a_loop_is_refused(dataflow: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        inside: list[Any] = []

        def body(x: Any) -> Any:
            inside.append(x + x)
            return inside[0]

        _counted("rounds", _scalar(1.0), 3, body)
        with pytest.raises(tf.errors.InvalidArgumentError, match="inside loop 'rounds'"):
            session.run(inside[0])


def test_inputs_of_two_frames_are_refused(dataflow: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        outside = _scalar(1.0)
        result = _counted("rounds", _scalar(1.0), 3, lambda x: x + outside)
        with pytest.raises(tf.errors.InvalidArgumentError, match="in different loops"):
            session.run(result)


def test_a_node_that_fails_is_named(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        bad = tf.cond(x[0] > 0.0, lambda: tf.reshape(x, [7], name="seven"), lambda: x)
        with pytest.raises(tf.errors.InvalidArgumentError, match="cond/seven") as caught:
            session.run(bad, {x: [1.0, 2.0]})
        assert caught.value.op.name == "cond/seven" and "float32[2]" in str(caught.value)
        assert Path(__file__).name in str(caught.value)
        assert session.run(bad, {x: [-1.0]}).tolist() == [-1.0]


def test_a_variable_without_a_value_is_named(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(1.0, name="v")
        chosen = tf.cond(tf.constant(True), lambda: v * 2.0, lambda: v * 3.0)
        with pytest.raises(tf.errors.FailedPreconditionError, match="variable 'v'"):
            session.run(chosen)
        flag = tf.Variable(True, name="flag")
        with pytest.raises(tf.errors.FailedPreconditionError, match="variable 'flag'"):
            session.run(tf.cond(flag, lambda: 1.0, lambda: 2.0))


def test_a_deadline_ends_a_loop(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        forever = tf.while_loop(lambda i: i >= 0, lambda i: i + 0, [0])
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(forever, options=tf.RunOptions(timeout_in_ms=200))


def test_a_predicate_must_be_a_scalar(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.bool, None)
        made = primitives.switch(tf.constant(1.0), p)[0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a scalar"):
            session.run(made, {p: [True, False]})


# ---- looking into a step -----------------------------------------------------------------------


def test_steps_can_be_observed(always: None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        v = tf.Variable(2.0)
        session.run(v.initializer)
        loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, x])
        seen: list[tuple[str, Any]] = []

        def observer(program: Any, args: Any) -> Any:
            assert isinstance(program, DataflowProgram)
            names = program.source.line_ops
            return lambda line, outputs: seen.append((names[line].name, outputs))

        assert session.observed(loop, {x: 1.0}, observer) == (3, 8.0)
        products = [float(outputs[0]) for name, outputs in seen if name == "while/mul"]
        assert products == [2.0, 4.0, 8.0]
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        session.run(loop, {x: 1.0}, options=options, run_metadata=metadata)
        ran = [node.node_name for node in metadata.step_stats.dev_stats[0].node_stats]
        assert ran.count("while/mul") == 3
        assert "while/NextIteration" in [n.name for n in metadata.partition_graphs[0].node]
        assert " us " in session.explain(loop, {x: 1.0}, timed_runs=2)

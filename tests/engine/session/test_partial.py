"""What partial runs refuse, and when they are over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

import penstock as tf


class Step(NamedTuple):
    """A graph of two results from three feeds, and a session that runs it."""

    session: tf.Session
    a: tf.Tensor
    b: tf.Tensor
    c: tf.Tensor
    total: tf.Tensor
    product: tf.Tensor


@pytest.fixture(params=["direct", "grpc"])
def step(request: pytest.FixtureRequest) -> Iterator[Step]:
    a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
    total = tf.add(a, b, name="total")
    product = tf.multiply(total, c, name="product")
    target = "" if request.param == "direct" else tf.train.Server.create_local_server().target
    with tf.Session(target) as session:
        yield Step(session, a, b, c, total, product)


def _refused(words: str):
    return pytest.raises(tf.errors.InvalidArgumentError, match=words)


def test_what_was_not_declared(step: Step) -> None:
    handle = step.session.partial_run_setup([step.total], [step.a, step.b])
    with _refused("The feed c:0 was not specified in partial_run_setup"):
        step.session.partial_run(handle, step.total, {step.a: 1, step.b: 2, step.c: 3})
    with _refused("The fetch product:0 was not specified in partial_run_setup"):
        step.session.partial_run(handle, [step.total, step.product], {step.a: 1, step.b: 2})
    assert step.session.partial_run(handle, step.total, {step.a: 1, step.b: 2}) == 3.0


def test_what_was_fed_or_fetched_before(step: Step) -> None:
    handle = step.session.partial_run_setup([step.total, step.product], [step.a, step.b, step.c])
    assert step.session.partial_run(handle, step.total, {step.a: 1, step.b: 2}) == 3.0
    with _refused("The feed a:0 has already been fed"):
        step.session.partial_run(handle, step.product, {step.a: 1, step.c: 2})
    with _refused("The fetch total:0 has already been fetched"):
        step.session.partial_run(handle, step.total, {step.c: 2})
    # What was refused was not fed.
    assert step.session.partial_run(handle, step.product, {step.c: 2}) == 6.0


def test_a_run_is_over_when_all_is_fed_and_fetched(step: Step) -> None:
    handle = step.session.partial_run_setup([step.total], [step.a, step.b])
    assert step.session.partial_run(handle, [], {step.a: 1}) == []
    assert step.session.partial_run(handle, step.total, {step.b: 1}) == 2.0
    with _refused("Must run 'setup' before performing partial runs!"):
        step.session.partial_run(handle, step.total)
    assert not step.session._partial


def test_an_unknown_handle_and_none(step: Step) -> None:
    with _refused("Must run 'setup' before performing partial runs!"):
        step.session.partial_run("unknown", step.total, {step.a: 1, step.b: 2})
    assert step.session.partial_run(None, step.total, {step.a: 1, step.b: 2}) == 3.0


def test_a_refused_value_can_be_fed_again(step: Step) -> None:
    handle = step.session.partial_run_setup([step.total], [step.a, step.b])
    with pytest.raises(ValueError, match="a:0"):
        step.session.partial_run(handle, step.total, {step.a: [1, 2], step.b: 2})
    assert step.session.partial_run(handle, step.total, {step.a: 1, step.b: 2}) == 3.0


def test_what_needs_a_feed_waits_for_it(step: Step) -> None:
    handle = step.session.partial_run_setup([step.total], [step.a, step.b])
    with _refused("Fetch b:0 can't be computed from the feeds that have been fed so far"):
        step.session.partial_run(handle, step.total, {step.a: 1})
    assert step.session.partial_run(handle, step.total, {step.a: 1, step.b: 2}) == 3.0


def test_a_setup_that_makes_no_step(step: Step) -> None:
    with _refused("Must specify at least one target to fetch or execute"):
        step.session.partial_run_setup([], [step.a])
    with _refused('Endpoint "a:0" fed more than once'):
        step.session.partial_run_setup(step.total, [step.a, step.a])
    with _refused("a:0 is both fed and fetched"):
        step.session.partial_run_setup([step.total, step.a], [step.a, step.b])


def test_a_closed_session(step: Step) -> None:
    handle = step.session.partial_run_setup([step.total], [step.a, step.b])
    step.session.close()
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        step.session.partial_run(handle, step.total, {step.a: 1, step.b: 2})
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        step.session.partial_run_setup([step.total], [step.a, step.b])


def test_a_failed_part_ends_the_run() -> None:
    a = tf.placeholder(tf.float32, [])
    checked = tf.check_numerics(a, "bad")
    with tf.Session() as session:
        handle = session.partial_run_setup([checked, checked + 1.0], [a])
        with _refused("bad"):
            session.partial_run(handle, checked, {a: float("nan")})
        with _refused("Must run 'setup'"):
            session.partial_run(handle, checked, {a: 1.0})


def test_composite_feeds() -> None:
    sparse = tf.sparse_placeholder(tf.float32)
    dense = tf.sparse_tensor_to_dense(sparse)
    with tf.Session() as session:
        handle = session.partial_run_setup([dense], [sparse])
        value = tf.SparseTensorValue([[1]], [5.0], [3])
        assert session.partial_run(handle, dense, {sparse: value}).tolist() == [0.0, 5.0, 0.0]

"""Members of tensors, operations and graphs that few programs use."""

from __future__ import annotations

import threading
from typing import Any

import pytest

import penstock as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def test_references() -> None:
    x, y = tf.constant(1.0), tf.constant(1.0)
    v = tf.Variable(1.0)
    refs = {x.experimental_ref(), y.experimental_ref(), x.experimental_ref(), v.experimental_ref()}
    assert len(refs) == 3 and x.experimental_ref() in refs
    assert x.experimental_ref().deref() is x and v.experimental_ref().deref() is v
    assert x.experimental_ref() != x


def test_consumers_of_slices() -> None:
    values = tf.constant([[1.0]])
    slices = tf.IndexedSlices(values, tf.constant([0]))
    assert slices.consumers() == []
    op = tf.identity(values).op
    assert slices.consumers() == [op]


def test_where_functions_begin() -> None:
    def outer() -> Any:
        def inner() -> Any:
            return tf.no_op()

        return inner()

    op = outer()
    ((file, line, function, text, start),) = op.traceback_with_start_lines
    assert (file, function, text) == (__file__, "inner", "return tf.no_op()")
    assert start == line - 1
    assert op.traceback == [(file, line, function, text)]


@pytest.mark.parametrize("switch", [False, True])
def test_threads_begin_with_the_scopes_of_now(graph: tf.Graph, switch: bool) -> None:
    found = []

    def work() -> None:
        with graph.as_default():
            found.append(tf.constant(1.0).op)

    with tf.device("/cpu:0"), tf.control_dependencies([tf.no_op(name="first")]):
        if switch:
            graph.switch_to_thread_local()
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert found[0].device == ("/device:CPU:0" if switch else "")
    assert [op.name for op in found[0].control_inputs] == (["first"] if switch else [])


def test_who_may_read(graph: tf.Graph) -> None:
    from penstock.python.framework import function

    x = tf.constant(1.0)
    assert graph.as_graph_def().versions == type(graph.graph_def_versions)(producer=134)

    @function.Defun(tf.float32)
    def double(x: Any) -> Any:
        return x * 2.0

    double(x)
    assert graph.as_graph_def().versions.min_consumer == 12


def test_statuses() -> None:
    with tf.errors.raise_exception_on_not_ok_status() as status:
        pass
    with pytest.raises(tf.errors.NotFoundError, match="no such"):
        with tf.errors.raise_exception_on_not_ok_status() as status:
            status.set(tf.errors.NOT_FOUND, "no such")
    with pytest.raises(ValueError):
        with tf.errors.raise_exception_on_not_ok_status() as status:
            status.set(tf.errors.NOT_FOUND, "hidden")
            raise ValueError


def test_types_by_their_other_name() -> None:
    assert tf.dtypes.float32 is tf.float32 and tf.dtypes.string is tf.string
    assert tf.constant(1, tf.dtypes.int64).dtype == tf.int64


def test_how_elements_show_themselves() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    assert repr(x) == "<tf.Tensor 'x:0' shape=(?, 2) dtype=float32>"
    assert repr(tf.placeholder(tf.string, name="s")).startswith("<tf.Tensor 's:0' shape=<unknown>")
    assert repr(x.op) == "<tf.Operation 'x' type=Placeholder>"

"""Parts as bytes: the same part comes back, and nothing else gets through."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import penstock as tf
from penstock.compiler.partition import wire
from penstock.compiler.partition.part import Part
from penstock.foundation.graph.bodies import bodies_of
from penstock.foundation.graph.operation import Operation, blocks_of
from penstock.foundation.graph.step import StepGraph
from penstock.foundation.graph.text import step_text
from penstock.foundation.graph.verify import verify
from tests.compiler.partition.cluster import Cluster, everything
from tests.compiler.partition.programs import PROGRAMS


def _parts(name: str) -> list[Part]:
    found = []
    with tf.Graph().as_default():
        for fetches, feed in PROGRAMS[name]():
            found += Cluster(on_wire=False).cut(
                [getattr(f, "_as_graph_element", lambda f=f: f)() for f in fetches], feed
            )[1]
    return found


def _same_attr(mine: Any, other: Any) -> bool:
    if isinstance(mine, np.ndarray):
        return mine.dtype == other.dtype and np.array_equal(mine, other)
    if isinstance(mine, list) and isinstance(other, list):
        return len(mine) == len(other) and all(map(_same_attr, mine, other))
    if isinstance(mine, tf.TensorShape) or isinstance(other, tf.TensorShape):
        return tf.TensorShape(mine).sizes == tf.TensorShape(other).sizes
    return type(mine).__name__ == "FunctionGraph" or mine == other


def _assert_same(mine: Operation, other: Operation) -> None:
    assert (mine.name, mine.type, mine.device, mine.origin) == (
        other.name, other.type, other.device, other.origin,
    )  # fmt: skip
    assert [t.name for t in mine.inputs] == [t.name for t in other.inputs]
    assert [c.name for c in mine.control_inputs] == [c.name for c in other.control_inputs]
    assert [(t.dtype, t.sizes) for t in mine.outputs] == [(t.dtype, t.sizes) for t in other.outputs]
    assert len(blocks_of(mine)) == len(blocks_of(other))
    for trait in ("effect", "blocking", "stateful", "kernel", "reads", "writes"):
        assert getattr(mine.op_def, trait) == getattr(other.op_def, trait)
    for key, value in mine.attrs.items():
        if key != "blocks":
            assert _same_attr(value, other.attrs[key]), key


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_parts_come_back_as_they_were(name: str) -> None:
    for part in _parts(name):
        data = wire.encode(part)
        back = wire.decode(data)
        assert (back.task, back.feeds, back.fetches) == (part.task, part.feeds, part.fetches)
        assert step_text(back.step) == step_text(part.step)
        assert back.step.feed_names == part.step.feed_names
        for mine, other in zip(everything(part.step), everything(back.step), strict=True):
            _assert_same(mine, other)
        assert wire.encode(back) == data, "the same part, the same bytes"


def test_functions_keep_shapes_and_lines() -> None:
    found = []
    for part in _parts("functions_and_datasets"):
        back = wire.decode(wire.encode(part))
        for mine, other in zip(everything(part.step), everything(back.step), strict=True):
            for body, read in zip(bodies_of(mine), bodies_of(other), strict=True):
                found.append(read)
                assert [t.sizes for t in read.inputs] == [t.sizes for t in body.inputs]
                lines = {op.name: op.origin for op in body.operations if op.type != "Placeholder"}
                assert {n: read.get_operation_by_name(n).origin for n in lines} == lines
    assert found


def _small() -> bytes:
    return wire.encode(_parts("conditionals")[2])


DATA = _small()
LOOP = next(
    wire.encode(p)
    for p in _parts("a_loop_over_tasks")
    if any(op.type == "_While" for op in p.step.operations)
)


def _decoded_or_refused(data: bytes) -> None:
    try:
        part = wire.decode(data)
    except tf.errors.InvalidArgumentError as error:
        assert str(error)
        return
    verify(part.step, "the test")
    step_text(part.step)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_flipped_bytes_are_refused_or_harmless(data: Any) -> None:
    changed = bytearray(data.draw(st.sampled_from([DATA, LOOP])))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(changed) - 1))
        changed[position] = data.draw(st.integers(0, 255))
    _decoded_or_refused(bytes(changed))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_cut_off_and_spliced_messages_are_refused_or_harmless(data: Any) -> None:
    whole = data.draw(st.sampled_from([DATA, LOOP]))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))
    _decoded_or_refused(whole[:start])
    _decoded_or_refused(whole[:start] + whole[end:])
    _decoded_or_refused(whole[:end] + whole[start:])


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_refused_or_harmless(data: bytes) -> None:
    _decoded_or_refused(data)


def _changed(change: Any) -> bytes:
    message = wire.PartMessage.FromString(LOOP)
    change(message)
    data: bytes = message.SerializeToString()
    return data


def _node(message: Any, op_type: str) -> Any:
    return next(n for n in message.step.graph.node if n.op == op_type)


def _added(message: Any, **fields: Any) -> Any:
    message.step.lines.extend([0, 0, 0])
    return message.step.graph.node.add(**fields)


def _newline(message: Any) -> None:
    message.step.feed_names[:] = ["x\nimport os"] * len(message.step.feed_names)


def _bad_name(message: Any) -> None:
    message.step.graph.node[0].name = "x\nimport os"


def _huge_constant(message: Any) -> None:
    tensor = _added(message, name="huge", op="Const").attr["value"].tensor
    tensor.dtype = 1
    tensor.tensor_shape.dim.add(size=1 << 38)
    tensor.float_val.append(1.0)


def _self_input(message: Any) -> None:
    _node(message, "_While").input[0] = _node(message, "_While").name


def _unknown_op(message: Any) -> None:
    message.step.graph.node[0].op = "Nonsense"


def _many_outputs(message: Any) -> None:
    node = _added(message, name="many", op="Split")
    node.attr["num_split"].i = 1 << 50
    node.attr["T"].type = 1


def _no_block(message: Any) -> None:
    del message.step.regions[0].blocks[1]


def _other_block(message: Any) -> None:
    blocks = message.step.regions[0].blocks
    blocks[0].CopyFrom(blocks[1])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (_newline, "not a valid name"),
        (_bad_name, "not a valid node name"),
        (_huge_constant, "lacks elements"),
        (_self_input, "malformed"),
        (_unknown_op, "Nonsense"),
        (_many_outputs, "num_split is"),
        (_no_block, "blocks"),
        (_other_block, "do not fit"),
        (lambda m: setattr(m, "version", 9), "version 9"),
        (lambda m: m.feeds.append(3), "feeds"),
        (lambda m: m.fetches.append(-1), "fetches"),
        (lambda m: setattr(m, "task", "worker 3"), "malformed"),
    ],
)
def test_hostile_messages_get_an_error(change: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        wire.decode(_changed(change))


def test_a_step_is_only_read_by_this_module() -> None:
    assert isinstance(wire.decode(LOOP).step, StepGraph)
    assert b"pickle" not in LOOP

"""Random graphs: a placement keeps every constraint, or is refused for one that cannot be kept.

The constraints are written down here once more, each over pairs of nodes, without groups.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

import penstock as tf
from penstock.compiler.passes.prune import prune
from penstock.compiler.placement.available import DeviceAttributes, local_devices, matches, parts_of
from penstock.compiler.placement.constraints import host_only
from penstock.compiler.placement.cost_model import CostModel
from penstock.compiler.placement.place import place
from penstock.foundation.graph.handles import handles_of, wants_handle
from penstock.foundation.graph.operation import Operation, blocks_of, inner_operations
from penstock.foundation.graph.step import StepGraph

GIB = 1 << 30
DEVICES = [
    device
    for job, tasks, gpus in (("ps", 2, 0), ("worker", 2, 1))
    for task in range(tasks)
    for device in local_devices({"CPU": 2}, [GIB] * gpus, f"/job:{job}/replica:0/task:{task}")
]
NAMES = [
    "", "", "", "/cpu:0", "/cpu:1", "/gpu:0", "/gpu:*", "/job:ps", "/job:ps/task:1",
    "/job:worker/gpu:0", "/job:worker/task:0", "/job:worker/task:1/cpu:*", "/device:GPU:0",
    "/job:ps/replica:0/task:0/device:CPU:1",
]  # fmt: skip
BAD_NAMES = [*NAMES, "/job:chief", "/gpu:7", "/job:ps/gpu:0", "/task:5"]
KINDS = (
    "constant", "exp", "add", "shape", "string", "ref", "resource", "queue", "assign", "enqueue",
    "colocate", "cond", "loop",
)  # fmt: skip
rows = lambda names: st.lists(  # noqa: E731
    st.tuples(
        st.sampled_from(KINDS), st.sampled_from(names), st.integers(0, 99), st.integers(0, 99)
    ),
    min_size=1,
    max_size=14,
)


def build(recipe: list[tuple[str, str, int, int]]) -> StepGraph:
    """A graph of one node or construct a row; numbers pick operands among what is there."""
    values: list[tf.Tensor] = [tf.constant([1.0, 2.0])]
    variables: list[tf.Variable] = []
    queues: list[tf.QueueBase] = []
    targets: list[tf.Operation] = []
    for number, (kind, device, first, second) in enumerate(recipe):
        a, b = values[first % len(values)], values[second % len(values)]
        name = f"n{number}"
        with tf.device(device):
            if kind == "constant":
                values.append(tf.constant([1.0, 2.0], name=name))
            elif kind == "exp":
                values.append(tf.exp(a, name=name))
            elif kind == "add":
                values.append(tf.add(a, b, name=name))
            elif kind == "shape":
                values.append(tf.cast(tf.shape(a, name=name), tf.float32) + [0.0, 0.0])
            elif kind == "string":
                targets.append(tf.as_string(a, name=name).op)
            elif kind in ("ref", "resource"):
                v = tf.get_variable(name, [2], use_resource=kind == "resource")
                variables.append(v)
                values.append(v.read_value())
                targets.append(v.initializer)
            elif kind == "queue":
                queues.append(tf.FIFOQueue(5, [tf.float32], shapes=[[2]], name=name))
            elif kind == "assign" and variables:
                targets.append(tf.assign_add(variables[first % len(variables)], a).op)
            elif kind == "enqueue" and queues:
                q = queues[first % len(queues)]
                targets.append(q.enqueue(a))
                values.append(q.dequeue())
            elif kind == "colocate":
                with tf.colocate_with(a.op, ignore_existing=bool(second % 2)):
                    values.append(tf.tanh(b, name=name))
            elif kind == "cond":
                with tf.device(None):
                    p = tf.reduce_sum(a) > 0.0
                v = variables[first % len(variables)] if variables else b
                values.append(tf.cond(p, lambda a=a, v=v: tf.exp(a) + v, lambda b=b: tf.tanh(b)))
            elif kind == "loop":
                v = variables[second % len(variables)] if variables else b
                values.append(
                    tf.while_loop(
                        lambda i, x: i < 2, lambda i, x, v=v: (i + 1, tf.sin(x) * v), [0, a]
                    )[1]
                )
    return prune(tf.get_default_graph(), [], values, targets)


def everything(step: StepGraph) -> Iterator[Operation]:
    for op in step.operations:
        yield op
        yield from inner_operations(op)


def state_edges(operations: list[Operation]) -> Iterator[tuple[Operation, Operation]]:
    for op in operations:
        if blocks_of(op):
            continue
        for tensor, handle in zip(op.inputs, wants_handle(op), strict=True):
            if handle:
                yield from ((source, op) for source in handles_of(tensor))


def check(
    step: StepGraph, placed: dict[Operation, str], soft: bool, devices: list[DeviceAttributes]
) -> None:
    operations = list(everything(step))
    assert placed.keys() == set(operations)
    known = {d.name: d for d in devices}
    assert set(placed.values()) <= known.keys()
    users = {user for _, user in state_edges(operations)}
    for source, user in state_edges(operations):
        assert placed[source] == placed[user], (source, user)
    named: dict[str, Operation] = {}
    for op in operations:
        if op.op_def.state is not None:
            assert placed[named.setdefault(op.name, op)] == placed[op], op
    by_name = {op.name: op for op in reversed(operations)}
    groups: dict[str, Operation] = {}
    for op in operations:
        for group in op.attrs.get("_class") or ():
            name = group.decode().removeprefix("loc:@")
            other = by_name.get(name) or groups.setdefault(name, op)
            assert placed[other] == placed[op], (op, group)
        if blocks_of(op):
            continue
        assert not host_only(op) or known[placed[op]].device_type == "CPU", op
        if op.device and op not in users:
            asked = parts_of(op.device)
            wanted = (*asked[:3], None, None) if soft else asked
            if any(op.attrs.get("_class") or ()) or op.op_def.state is not None:
                wanted = (*asked[:3], None, None) if soft else wanted
            assert matches(wanted, placed[op]), (op, op.device, placed[op])


@pytest.mark.long
@settings(max_examples=120, deadline=None)
@given(rows(NAMES), st.booleans(), st.booleans())
def test_every_placement_keeps_every_constraint(
    recipe: list[tuple[str, str, int, int]], soft: bool, cost: bool
) -> None:
    with tf.Graph().as_default():
        step = build(recipe)
        try:
            placed = place(
                step, DEVICES, "/job:worker/replica:0/task:1", soft=soft,
                cost=CostModel() if cost else None,
            )  # fmt: skip
        except tf.errors.InvalidArgumentError as error:
            assert "Cannot" in error.message and "was made at" in error.message
            assert not (soft and "device type" in error.message)
            return
        check(step, placed, soft, DEVICES)


@settings(max_examples=60, deadline=None)
@given(rows(BAD_NAMES), st.booleans())
def test_refusals_name_what_was_asked_and_where(
    recipe: list[tuple[str, str, int, int]], soft: bool
) -> None:
    with tf.Graph().as_default():
        step = build(recipe)
        try:
            placed = place(step, DEVICES, soft=soft)
        except tf.errors.InvalidArgumentError as error:
            assert error.op is not None and f"{error.op.name!r}" in error.message
            assert "test_constraints_hold.py" in error.message
            return
        check(step, placed, soft, DEVICES)


@settings(max_examples=40, deadline=None)
@given(rows(NAMES))
def test_the_same_graph_is_placed_the_same_again(recipe: list[tuple[str, str, int, int]]) -> None:
    found = []
    for _ in range(2):
        with tf.Graph().as_default():
            step = build(recipe)
            try:
                placed = place(step, DEVICES, soft=True, cost=CostModel())
            except tf.errors.InvalidArgumentError as error:
                found.append(error.message)
            else:
                found.append([(op.name, device) for op, device in placed.items()])
    assert found[0] == found[1]


def test_one_device_is_the_answer_where_there_is_only_one() -> None:
    recipe = [(kind, "", 1, 2) for kind in KINDS]
    with tf.Graph().as_default():
        step = build(recipe)
        (device,) = local_devices()
        assert set(place(step, [device]).values()) == {device.name}
        with pytest.raises(tf.errors.InvalidArgumentError, match="no job 'ps'"):
            build([("exp", "/job:ps", 0, 0)])
            place(build([("exp", "/job:ps", 0, 0)]), [device])

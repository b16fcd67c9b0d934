"""Programs of one step: compiled again, for other shapes, to be watched, to be explained."""

from __future__ import annotations

import penstock as tf
from penstock.engine.resources.manager import ResourceManager
from penstock.engine.session.options import Options
from penstock.engine.session.task_parts import program_of_step, step_to_place


def test_a_part_is_compiled_as_often_as_it_is_asked() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2])
        y = tf.identity(x + 0.0) * (tf.constant(2.0) * 3.0)  # passes drop nearly all of it
    step = step_to_place(graph, [x], [y], [])
    nodes = [op.name for op in step.operations]
    texts = [program_of_step(step, ResourceManager(), Options()).explain() for _ in range(2)]
    assert texts[0] == texts[1] and "torch.mul(f0, " in texts[0]
    assert [op.name for op in step.operations if op.outputs] == nodes

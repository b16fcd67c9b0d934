"""Collectives of a step run in the order of their keys, whatever the order of the nodes."""

from __future__ import annotations

from typing import Any

import penstock as tf
from penstock.compiler.passes.collectives import order_collectives
from penstock.compiler.passes.prune import prune
from penstock.foundation.graph.build import make
from penstock.foundation.graph.verify import verify


def _reduce(value: Any, instance: int, group: int = 1) -> Any:
    return make(
        "CollectiveReduce", value, group_size=1, group_key=group, instance_key=instance,
        merge_op="Add", final_op="Id", subdiv_offsets=[0], name=f"reduce_{group}_{instance}",
    )  # fmt: skip


def _order(*fetches: Any) -> list[str]:
    step = prune(tf.get_default_graph(), [], list(fetches), [])
    ordered = verify(order_collectives(step), "order_collectives")
    return [op.name for op in ordered.operations if op.type == "CollectiveReduce"]


def test_by_instance_key() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        late, early, other = _reduce(x, 9), _reduce(x, 2), _reduce(x + 1.0, 1, group=2)
        assert _order(late, other, early) == ["reduce_1_2", "reduce_1_9", "reduce_2_1"]
        assert _order(late) == ["reduce_1_9"]
        with tf.Session() as session:
            assert session.run([late, early, other]) == [1.0, 1.0, 2.0]


def test_what_is_needed_comes_first() -> None:
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        needed = _reduce(x, 9)
        with tf.control_dependencies([tf.exp(needed)]):
            needs = _reduce(x, 2)
        assert _order(needs, _reduce(x, 5), needed) == ["reduce_1_5", "reduce_1_9", "reduce_1_2"]

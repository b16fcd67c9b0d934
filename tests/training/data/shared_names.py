"""Pairs of nodes with one shared name, for Penstock and for TensorFlow 2.21.

Each row of ``CASES`` gives two makers; each takes ``tf`` and gives what to run.  ``outcome`` tells
how running one after the other ends.  As a program it prints the outcomes in TensorFlow.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

Maker = Callable[[Any], Any]


def _fifo(**given: Any) -> Maker:
    def make(tf: Any) -> Any:
        arguments = {"capacity": 5, "dtypes": ["int32"], "shapes": [[]], **given}
        return tf.FIFOQueue(**_typed(tf, arguments), shared_name="x").size()

    return make


def _random(**given: Any) -> Maker:
    def make(tf: Any) -> Any:
        arguments = {
            "capacity": 5, "min_after_dequeue": 1, "dtypes": ["int32"], "shapes": [[]], "seed": 3,
            **given,
        }  # fmt: skip
        return tf.RandomShuffleQueue(**_typed(tf, arguments), shared_name="x").size()

    return make


def _padding(**given: Any) -> Maker:
    def make(tf: Any) -> Any:
        arguments = {"capacity": 5, "dtypes": ["int32"], "shapes": [[None]], **given}
        return tf.PaddingFIFOQueue(**_typed(tf, arguments), shared_name="x").size()

    return make


def _priority(**given: Any) -> Maker:
    def make(tf: Any) -> Any:
        arguments = {"capacity": 5, "types": ["int32"], "shapes": [[]], **given}
        return tf.PriorityQueue(**_typed(tf, arguments), shared_name="x").size()

    return make


def _typed(tf: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        k: [getattr(tf, t) for t in v] if k in ("dtypes", "types") else v
        for k, v in arguments.items()
    }


def _barrier(dtype: str, shapes: Any) -> Maker:
    return lambda tf: tf.raw_barrier([getattr(tf, dtype)], shapes)


def _accumulator(sparse: bool = False, **given: Any) -> Maker:
    def make(tf: Any) -> Any:
        kind = tf.SparseConditionalAccumulator if sparse else tf.ConditionalAccumulator
        arguments = {"dtype": "float32", "shape": [2], **given}
        arguments["dtype"] = getattr(tf, arguments["dtype"])
        return kind(**arguments, shared_name="x").num_accumulated()

    return make


def _iterator(dtype: str, shape: Any = ()) -> Maker:
    def make(tf: Any) -> Any:
        iterator = tf.data.Iterator.from_structure(
            getattr(tf, dtype), tf.TensorShape(shape), shared_name="x"
        )
        one = tf.zeros(shape, getattr(tf, dtype))
        return iterator.make_initializer(tf.data.Dataset.from_tensors(one))

    return make


def _variable(tf: Any) -> Any:
    with tf.variable_scope("", use_resource=True):
        return tf.get_variable("x", initializer=1.0).initializer


_BARRIER = _barrier("int32", [[]])
CASES: dict[str, tuple[Maker, Maker]] = {
    "same": (_fifo(), _fifo()),
    "capacity": (_fifo(), _fifo(capacity=6)),
    "no capacity": (_fifo(capacity=-1), _fifo(capacity=-7)),
    "types": (_fifo(), _fifo(dtypes=["float32"])),
    "number": (_fifo(), _fifo(dtypes=["int32", "int32"], shapes=[[], []])),
    "shapes": (_fifo(), _fifo(shapes=[[1]])),
    "no shapes": (_fifo(), _fifo(shapes=None)),
    "fifo, random": (_fifo(), _random()),
    "fifo, padding": (_fifo(), _padding(shapes=[[]])),
    "fifo, priority": (_fifo(), _priority()),
    "random, fifo": (_random(), _fifo()),
    "random": (_random(), _random()),
    "random, kept": (_random(), _random(min_after_dequeue=2)),
    "random, seed": (_random(), _random(seed=4)),
    "random, any seed": (_random(), _random(seed=None)),
    "random, first any seed": (_random(seed=None), _random()),
    "random, types": (_random(), _random(dtypes=["int64"])),
    "padding": (_padding(), _padding()),
    "padding, compatible": (_padding(), _padding(shapes=[[2]])),
    "padding, rank": (_padding(), _padding(shapes=[[None, None]])),
    "priority": (_priority(), _priority()),
    "priority, shapes": (_priority(), _priority(shapes=[[2]])),
    "priority, types": (_priority(), _priority(types=["int64"])),
    "barrier": (_BARRIER, _BARRIER),
    "barrier, shapes": (_BARRIER, _barrier("int32", [[2]])),
    "barrier, types": (_BARRIER, _barrier("int64", [[]])),
    "barrier, queue": (_BARRIER, _fifo()),
    "accumulator, type": (_accumulator(), _accumulator(dtype="float64")),
    "accumulator, shape": (_accumulator(), _accumulator(shape=[3])),
    "accumulator, sparse": (_accumulator(), _accumulator(sparse=True)),
    "accumulator, queue": (_accumulator(), _fifo()),
    "variable, queue": (_variable, _fifo()),
    "queue, variable": (_fifo(), _variable),
    "iterator": (_iterator("int32"), _iterator("int32")),
    "iterator, types": (_iterator("int32"), _iterator("float32")),
    "iterator, shapes": (_iterator("int32"), _iterator("int32", [3])),
    "iterator, queue": (_iterator("int32"), _fifo()),
}


def outcome(tf: Any, name: str, sessions: Callable[[], Any]) -> list[str]:
    """How the second request ends: "ok", or the error's class and what it says of sharing.

    Args:
      tf: the package.
      name: of the case.
      sessions: makes two sessions, for the first and for the second request.
    """
    with tf.Graph().as_default():
        first, second = (make(tf) for make in CASES[name])
        one, two = sessions()
        one.run(first)
        try:
            two.run(second)
        except tf.errors.OpError as error:
            said = re.search(r"Shared (queue|barrier) .*", error.message)
            text = said.group(0) if said else ""
            if " has type " in text:  # TensorFlow: "Expected FIFOQueue, found PriorityQueueV2"
                text = ""
            text = re.sub("; node .*", "", text).replace("float32", "float")
            return [type(error).__name__, text.rstrip(".")]
        finally:
            two.close()
            one.close()
    return ["ok", ""]


def _main() -> None:
    import tensorflow

    tf = tensorflow.compat.v1
    tf.disable_eager_execution()
    from tensorflow.python.ops import data_flow_ops

    tf.raw_barrier = lambda types, shapes: data_flow_ops.Barrier(
        types, shapes, shared_name="x"
    ).ready_size()

    def sessions() -> Any:
        one = tf.Session()
        return one, one

    print(json.dumps({name: outcome(tf, name, sessions) for name in CASES}))


if __name__ == "__main__":
    _main()

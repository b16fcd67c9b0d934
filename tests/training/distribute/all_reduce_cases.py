"""All-reduces as graphs; run by TensorFlow 1.15's Python it prints the nodes that it makes."""

import json
import sys


def _inputs(tf, workers, devices, shape):
    found = []
    for worker in range(workers):
        for device in range(devices):
            with tf.device(name_of(worker, device)):
                found.append(tf.placeholder(tf.float32, shape, name="x"))
    return found


def name_of(worker, device):
    return f"/job:worker/replica:0/task:{worker}/device:CPU:{device}"


def _gather(*places):
    return [name_of(*place) for place in places]


# By name: workers, devices of each, shape, what builds, whether results are negated.
CASES = {
    "ring": (1, 2, [4], lambda a, tf, x, un: a.build_ring_all_reduce(
        x, 1, 1, [0, 1], tf.add, un), False),
    "ring_padded": (2, 2, [3], lambda a, tf, x, un: a.build_ring_all_reduce(
        x, 2, 2, [0, 1], tf.add, un), True),
    "ring_turned": (1, 3, [2, 5], lambda a, tf, x, un: a.build_ring_all_reduce(
        x, 1, 3, [1, 0, 2], tf.add, un), False),
    "ring_scalar": (1, 2, [], lambda a, tf, x, un: a.build_ring_all_reduce(
        x, 1, 1, [0, 1], tf.add, un), True),
    "halving": (1, 4, [2, 4], lambda a, tf, x, un: a.build_recursive_hd_all_reduce(
        x, tf.add, un), True),
    "halving_of_8": (1, 8, [8], lambda a, tf, x, un: a.build_recursive_hd_all_reduce(
        x, tf.add, un), False),
    "shuffle": (1, 2, [5], lambda a, tf, x, un: a.build_shuffle_all_reduce(
        x, _gather((0, 0), (0, 1)), tf.add_n, un), False),
    "shuffle_uneven": (1, 3, [11], lambda a, tf, x, un: a.build_shuffle_all_reduce(
        x, _gather((0, 2), (0, 0), (0, 1), (0, 1)), tf.add_n, un), True),
    "shuffle_in_one_place": (1, 2, [2, 2], lambda a, tf, x, un: a.build_shuffle_all_reduce(
        x, _gather((0, 0)), tf.add_n, un), True),
    "shuffle_then_ring": (2, 2, [4], lambda a, tf, x, un: a.build_shuffle_then_ring(
        x, _gather((0, 0), (1, 0)), 1, tf.add_n, tf.add, un), True),
    "shuffle_then_ring_of_one": (1, 2, [2, 2], lambda a, tf, x, un: a.build_shuffle_then_ring(
        x, _gather((0, 0)), 1, tf.add_n, tf.add, un), True),
    "shuffle_then_shuffle": (2, 2, [4], lambda a, tf, x, un: a.build_shuffle_then_shuffle(
        x, _gather((0, 1), (1, 0)), _gather((0, 0), (0, 1)), tf.add_n, un), True),
}  # fmt: skip
# Those that TensorFlow makes of nodes for GPUs only.
NCCL = {
    "nccl": (1, 4, [3], lambda a, tf, x, un: a.build_nccl_all_reduce(x, tf.add, un), True),
    "nccl_then_ring": (3, 2, [2, 2], lambda a, tf, x, un: a.build_nccl_then_ring(
        x, 1, tf.add, un), True),
    "nccl_then_ring_of_one": (1, 2, [4], lambda a, tf, x, un: a.build_nccl_then_ring(
        x, 1, tf.add, un), True),
    "nccl_then_halving": (2, 2, [4], lambda a, tf, x, un: a.build_nccl_then_recursive_hd(
        x, tf.add, un), True),
    "nccl_then_shuffle": (2, 3, [5], lambda a, tf, x, un: a.build_nccl_then_shuffle(
        x, _gather((0, 0), (1, 0)), tf.add, tf.add_n, un), False),
}  # fmt: skip


def build(tf, all_reduce, case):
    """The inputs and the outputs of a case in the default graph."""
    workers, devices, shape, function, negated = case
    values = _inputs(tf, workers, devices, shape)
    return values, function(all_reduce, tf, values, tf.negative if negated else None)


def nodes(tf, all_reduce, case):
    """Names, types, devices and inputs of a case's nodes, and the names of its outputs."""
    with tf.Graph().as_default() as graph:
        _, outputs = build(tf, all_reduce, case)
        rows = [
            [op.name, op.type, op.device.split("/task:")[-1], [i.name for i in op.inputs]]
            for op in graph.get_operations()
        ]
        return {"nodes": rows, "outputs": [each.name for each in outputs]}


if __name__ == "__main__":
    import tensorflow
    from tensorflow.python.distribute import all_reduce as peer

    json.dump({name: nodes(tensorflow, peer, case) for name, case in CASES.items()}, sys.stdout)

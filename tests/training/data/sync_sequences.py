"""Random sequences of synchronization ops, as data that Penstock and TensorFlow both can run.

A sequence is a list of steps; a step is an op type, its inputs by name ([dtype, value], or the
number of the step that made it) and its attrs ([kind, value]).  Each is one ``session.run``, but
for those of ``NOT_RUN``, and runs after the steps whose numbers are its ``after``.  One that is
``chained`` gets the number of the last chained one that gave no error.
"""

from __future__ import annotations

import functools
import random
from typing import Any

Step = dict[str, Any]
NOT_RUN = ("Barrier", "ConditionalAccumulator", "Stack", "StackV2", "MutexV2", "MutexLock")
FLOAT = ["type", "float32"]
PAIR = ["types", ["float32", "int32"]]


def step(op: str, inputs: dict[str, Any] | None = None, **attrs: Any) -> Step:
    return {"op": op, "inputs": inputs or {}, "attrs": attrs}


# Keys that are always inserted together, in this order, so that an insertion never fails after it
# has completed an element: TensorFlow loses such an element (Penstock keeps it).
GROUPS = ["ab", "cde", "f", "g", "h"]
TWICE = "xyx"


def barrier(rng: random.Random) -> list[Step]:
    steps = [step("Barrier", component_types=PAIR, shapes=["shapes", [[2], []]])]
    # TensorFlow hangs when a barrier without incomplete elements is closed and then cancelled.
    may_cancel_later = rng.random() < 0.5
    if may_cancel_later:
        steps.append(_insertion(["stays"], 0, 2, rng))
    closed = False
    for _ in range(40):
        kind = rng.choice(["insert"] * 8 + ["take"] * 4 + ["sizes", "sizes", "close"])
        if kind == "insert":
            keys = list(rng.choice(GROUPS if closed else [*GROUPS, TWICE]))
            wide = rng.choice([2, 2, 2, 3]) if len(keys) == 1 else 2
            steps.append(_insertion(keys, rng.choice([0, 0, 0, 1, 1, 1, 2]), wide, rng))
        elif kind == "take":
            # At most one a time: elements of one index come in no order that TF promises.
            steps.append(
                step("BarrierTakeMany",
                     {"handle": 0, "num_elements": ["int32", rng.choice([0, 1, 1, 1])]},
                     component_types=PAIR, allow_small_batch=["value", rng.random() < 0.5],
                     wait_for_incomplete=["value", rng.random() < 0.5])
            )  # fmt: skip
        elif kind == "close" and len(steps) > 30:
            cancel = rng.random() < 0.4 and (may_cancel_later or not closed)
            steps.append(step("BarrierClose", {"handle": 0},
                              cancel_pending_enqueues=["value", cancel]))  # fmt: skip
            closed = True
        steps.append(step("BarrierReadySize", {"handle": 0}))
        steps.append(step("BarrierIncompleteSize", {"handle": 0}))
    return steps


def _insertion(keys: list[str], which: int, wide: int, rng: random.Random) -> Step:
    rows = [[rng.random()] * wide if which == 0 else rng.randint(0, 9) for _ in keys]
    dtype = "float32" if which == 0 else "int32"
    return step("BarrierInsertMany",
                {"handle": 0, "keys": ["string", keys], "values": [dtype, rows]},
                component_index=["value", which])  # fmt: skip


def accumulator(rng: random.Random, form: str = "Resource") -> list[Step]:
    shape = rng.choice([[2], None, [None]])
    reduction = ["value", rng.choice(["MEAN", "SUM"])]
    steps = [step(f"{form}ConditionalAccumulator", dtype=FLOAT, shape=["shape", shape],
                  reduction_type=reduction)]  # fmt: skip
    now = 0
    for _ in range(40):
        kind = rng.choice(["apply"] * 6 + ["take"] * 3 + ["step"])
        if kind == "apply":
            local = max(0, now + rng.choice([-1, 0, 0, 1]))
            grad = [round(rng.random(), 3)] * rng.choice([2, 2, 2, 3])
            steps.append(
                step(f"{form}AccumulatorApplyGradient",
                     {"handle": 0, "local_step": ["int64", local], "gradient": ["float32", grad]})
            )  # fmt: skip
        elif kind == "take":
            need = ["int32", rng.choice([0, 1, 1, 2])]
            steps.append(step(f"{form}AccumulatorTakeGradient",
                              {"handle": 0, "num_required": need}, dtype=FLOAT))  # fmt: skip
            now += 1
        else:
            now = rng.randint(0, 8)
            steps.append(step(f"{form}AccumulatorSetGlobalStep",
                              {"handle": 0, "new_global_step": ["int64", now]}))  # fmt: skip
        steps.append(step(f"{form}AccumulatorNumAccumulated", {"handle": 0}))
    return steps


def sparse_accumulator(rng: random.Random) -> list[Step]:
    shape = rng.choice([[5, 2], None, [None, 2]])
    reduction = ["value", rng.choice(["MEAN", "SUM"])]
    steps = [step("SparseConditionalAccumulator", dtype=FLOAT, shape=["shape", shape],
                  reduction_type=reduction)]  # fmt: skip
    for _ in range(40):
        if rng.random() < 0.7:
            n, wide = rng.randint(1, 3), rng.choice([2, 2, 2, 2, 3])
            rows = n + rng.choice([0, 0, 0, 0, 1])
            given = rng.choice([[], [], [5, 2], [5, 3], [6, 2]])
            steps.append(
                step("SparseAccumulatorApplyGradient",
                     {"handle": 0, "local_step": ["int64", rng.choice([0, 99, 99])],
                      "gradient_indices": ["int64", [rng.randint(0, 5) for _ in range(n)]],
                      "gradient_values": ["float32", [[rng.random()] * wide] * rows],
                      "gradient_shape": ["int64", given]},
                     has_known_shape=["value", bool(given)])
            )  # fmt: skip
        else:
            steps.append(
                step("SparseAccumulatorTakeGradient",
                     {"handle": 0, "num_required": ["int32", rng.choice([0, 1, 1, 2])]},
                     dtype=FLOAT)
            )  # fmt: skip
        steps.append(step("AccumulatorNumAccumulated", {"handle": 0}))
    return steps


def stage(rng: random.Random) -> list[Step]:
    same = {"shared_name": ["value", f"stage{rng.random()}"],
            "capacity": ["value", 3], "memory_limit": ["value", 40]}  # fmt: skip
    steps = []
    for _ in range(40):
        kind = rng.choice(["put", "put", "get", "peek", "clear", "size"])
        if kind == "put":
            wide = rng.choice([1, 2, 3, 11])
            steps.append(step("Stage", {"values": [["float32", [rng.random()] * wide]]}, **same))
        elif kind == "get":
            steps.append(step("Unstage", dtypes=["types", ["float32"]], **same))
        elif kind == "peek":
            steps.append(step("StagePeek", {"index": ["int32", rng.randint(0, 2)]},
                              dtypes=["types", ["float32"]], **same))  # fmt: skip
        elif kind == "clear" and rng.random() < 0.4:
            steps.append(step("StageClear", dtypes=["types", ["float32"]], **same))
        steps.append(step("StageSize", dtypes=["types", ["float32"]], **same))
    return steps


def map_stage(rng: random.Random) -> list[Step]:
    ordered = "Ordered" if rng.random() < 0.5 else ""
    same = {"shared_name": ["value", f"map{rng.random()}"], "capacity": ["value", 3],
            "memory_limit": ["value", 0]}  # fmt: skip
    types = ["float32", "int32"]
    steps = []
    for _ in range(50):
        kind = rng.choice(["put"] * 4 + ["get", "get", "peek", "any", "clear", "size"])
        which = rng.choice([[0, 1], [0, 1], [1, 0], [0], [1]])
        key = {"key": ["int64", rng.randint(0, 3)], "indices": ["int32", which]}
        wanted = {"dtypes": ["types", [types[i] for i in which]], **same}
        if kind == "put":
            values = [[types[i], rng.randint(0, 9)] for i in which]
            steps.append(step(f"{ordered}MapStage", {**key, "values": values}, dtypes=PAIR, **same))
        elif kind == "get":
            steps.append(step(f"{ordered}MapUnstage", key, **wanted))
        elif kind == "peek":
            steps.append(step(f"{ordered}MapPeek", key, **wanted))
        elif kind == "any" and ordered:  # without an order, any key may come
            steps.append(step("OrderedMapUnstageNoKey", {"indices": key["indices"]}, **wanted))
        elif kind == "clear" and rng.random() < 0.3:
            steps.append(step(f"{ordered}MapClear", dtypes=PAIR, **same))
        steps.append(step(f"{ordered}MapSize", dtypes=PAIR, **same))
        steps.append(step(f"{ordered}MapIncompleteSize", dtypes=PAIR, **same))
    return steps


def stack(rng: random.Random) -> list[Step]:
    form = rng.choice(["", "V2"])
    bound = {"max_size": ["int32", rng.choice([-1, 2, 3])]} if form else {}
    steps = [step(f"Stack{form}", bound, elem_type=FLOAT)]
    for number in range(30):
        kind = rng.choice(["push"] * 5 + ["pop"] * 4 + ["close"] * (number > 20))
        same = {"handle": 0}
        if kind == "push":
            elem = ["float32", [rng.random()] * rng.choice([1, 2])]
            one = step(f"StackPush{form}", {**same, "elem": elem},
                       swap_memory=["value", rng.random() < 0.5])  # fmt: skip
        elif kind == "pop":
            one = step(f"StackPop{form}", same,
                       elem_type=["type", rng.choice(["float32"] * 6 + ["int32"])])  # fmt: skip
        else:
            one = step(f"StackClose{form}", same)
        steps.append({**one, "chained": True})
    return steps


def mutex(rng: random.Random) -> list[Step]:
    steps = [step("MutexV2"), step("MutexV2")]
    locks: list[int] = []
    for _ in range(10):
        locks.append(len(steps))
        steps.append(step("MutexLock", {"mutex": rng.randint(0, 1)}))
        # Two locks of one mutex that both live in one step wait for each other.
        held = rng.sample(locks, min(len(locks), rng.choice([1, 1, 2])))
        if len({steps[number]["inputs"]["mutex"] for number in held}) == len(held):
            steps.append({**step("ConsumeMutexLock", {"mutex_lock": held[0]}), "after": held})
    return steps


FAMILIES = {
    "barrier": barrier,
    "accumulator": accumulator,
    "ref_accumulator": functools.partial(accumulator, form=""),
    "stack": stack,
    "mutex": mutex,
    "sparse_accumulator": sparse_accumulator,
    "stage": stage,
    "map_stage": map_stage,
}


def plain(value: Any) -> Any:
    """A fetched value as JSON; floats rounded, since means may be rounded otherwise."""
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    listed = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(listed, list):
        return [plain(v) for v in listed]
    if isinstance(listed, float):
        return round(listed, 4)
    return listed.decode() if isinstance(listed, bytes) else listed

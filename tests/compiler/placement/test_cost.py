"""The cost model's figures, and the placer that simulates the step with them."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto.cost_graph_pb2 import CostGraphDef
from tensorboard.compat.proto.step_stats_pb2 import StepStats

import penstock as tf
from penstock.compiler.passes.prune import prune
from penstock.compiler.placement.available import DeviceAttributes, local_devices
from penstock.compiler.placement.cost_model import CostModel, Link, Rates, flops
from penstock.compiler.placement.place import place
from penstock.compiler.placement.simulated import step_seconds
from penstock.foundation.graph.operation import Operation
from penstock.foundation.graph.step import StepGraph

CPU = "/job:worker/replica:0/task:0/device:CPU:0"
GPU = "/job:worker/replica:0/task:0/device:GPU:0"
FAST = Link(1e-6, 1e12)


def workers(count: int, gpus: int = 0) -> list[DeviceAttributes]:
    return [
        device
        for task in range(count)
        for device in local_devices(None, [1 << 30] * gpus, f"/job:worker/replica:0/task:{task}")
    ]


def step_of(*fetches: tf.Tensor, feeds: tuple[tf.Tensor, ...] = ()) -> StepGraph:
    return prune(tf.get_default_graph(), list(feeds), list(fetches), [])


def by_name(placed: dict[Operation, str]) -> dict[str, str]:
    return {op.name: device for op, device in placed.items()}


def matrix(*shape: int) -> tf.Tensor:
    return tf.placeholder(tf.float32, shape)


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (lambda: tf.matmul(matrix(3, 4), matrix(4, 5)), 2 * 3 * 4 * 5),
        (lambda: tf.matmul(matrix(4, 3), matrix(4, 5), transpose_a=True), 2 * 3 * 4 * 5),
        (lambda: tf.matmul(matrix(7, 3, 4), matrix(7, 4, 5)), 2 * 7 * 3 * 4 * 5),
        (lambda: tf.nn.conv2d(matrix(1, 8, 8, 3), matrix(5, 5, 3, 6), 1, "SAME"),
         2 * 8 * 8 * 6 * 75),
        (lambda: tf.reduce_sum(matrix(10, 20)), 199),
        (lambda: tf.add(matrix(10, 20), matrix(10, 20)), 200),
    ],
)  # fmt: skip
def test_arithmetic_is_counted_from_shapes(build: object, count: int) -> None:
    assert flops(build().op) == count  # type: ignore[operator]


def test_time_is_arithmetic_or_memory_whichever_is_more() -> None:
    model = CostModel({"CPU": Rates(1e9, 1e9, 0.0), "GPU": Rates(1e12, 1e10, 1e-3)})
    product = tf.matmul(matrix(1000, 1000), matrix(1000, 1000)).op
    total = tf.add(matrix(1000, 1000), matrix(1000, 1000)).op
    assert model.seconds(product, CPU) == pytest.approx(2.0)
    assert model.seconds(product, GPU) == pytest.approx(1e-3 + 2e-3)
    assert model.seconds(total, CPU) == pytest.approx(12e6 / 1e9)
    assert model.seconds(tf.constant(1.0).op, CPU) == 0.0


def test_copies_cost_between_tasks_and_memories_only() -> None:
    model = CostModel(between_tasks=Link(1.0, 4e6), between_memories=Link(0.5, 4e6))
    x = matrix(1000, 1000)
    assert model.copy_seconds(x, CPU, CPU.replace("CPU:0", "CPU:1")) == 0.0
    assert model.copy_seconds(x, CPU, GPU) == pytest.approx(1.5)
    assert model.copy_seconds(x, CPU, CPU.replace("task:0", "task:1")) == pytest.approx(2.0)


def test_what_was_measured_replaces_the_estimate() -> None:
    model = CostModel()
    y = tf.exp(matrix(10), name="y")
    estimate = model.seconds(y.op, GPU)
    for nanos in (3_000_000, 5_000_000):
        stats = StepStats()
        node = stats.dev_stats.add(device=CPU).node_stats.add(node_name="y")
        node.op_end_rel_nanos = nanos
        described = node.output.add(slot=0).tensor_description
        described.allocation_description.requested_bytes = 4096
        model.learn(stats)
    assert model.seconds(y.op, CPU) == pytest.approx(4e-3)
    assert model.seconds(y.op, GPU) == pytest.approx(estimate, rel=0.01)
    assert model.bytes(y) == 4096


def test_a_cost_graph_is_read_too() -> None:
    model = CostModel()
    y = tf.exp(matrix(10), name="y")
    costs = CostGraphDef()
    costs.node.add(name="y", device=CPU, compute_cost=700).output_info.add(size=80)
    model.learn_costs(costs)
    assert model.seconds(y.op, CPU) == pytest.approx(7e-4)
    assert model.bytes(y) == 80


def _towers(count: int) -> list[tf.Tensor]:
    x = tf.ones([1000, 1000])
    return [
        tf.reduce_sum(tf.matmul(tf.matmul(x, x, name=f"a{i}"), x, name=f"b{i}"), name=f"s{i}")
        for i in range(count)
    ]


def test_independent_work_is_spread_over_tasks_and_chains_stay_together() -> None:
    total = tf.add_n(_towers(4), name="total")
    devices = workers(4)
    placed = place(step_of(total), devices, cost=CostModel(between_tasks=FAST))
    found = by_name(placed)
    assert len({found[f"a{i}"] for i in range(4)}) == 4
    assert all(found[f"a{i}"] == found[f"b{i}"] == found[f"s{i}"] for i in range(4))


def test_nothing_is_spread_where_copies_cost_more_than_they_save() -> None:
    total = tf.add_n(_towers(4))
    slow = CostModel(between_tasks=Link(10.0, 1e6))
    placed = place(step_of(total), workers(4), cost=slow)
    assert set(placed.values()) == {CPU}


def test_cpus_of_one_task_are_one_lane() -> None:
    total = tf.add_n(_towers(3))
    devices = local_devices({"CPU": 3})
    placed = place(step_of(total), devices, cost=CostModel(between_tasks=FAST))
    assert set(placed.values()) == {devices[0].name}


def test_large_products_go_to_the_gpu_and_what_is_asked_for_stays() -> None:
    with tf.device("/cpu:0"):
        x = tf.random_uniform([2000, 2000], name="x")
    y = tf.matmul(x, x, name="y")
    placed = by_name(place(step_of(y), workers(1, gpus=1), cost=CostModel()))
    assert placed["y"] == GPU
    assert placed["x/RandomUniform"] == CPU


def test_variables_go_with_the_first_that_uses_them() -> None:
    weights = [tf.get_variable(f"w{i}", [2000, 2000]) for i in range(2)]
    x = matrix(2000, 2000)
    products = [tf.matmul(x, w, name=f"y{i}") for i, w in enumerate(weights)]
    step = step_of(*products, feeds=(x,))
    placed = by_name(place(step, workers(2), cost=CostModel(between_tasks=FAST)))
    assert placed["y0"] == placed["w0"] == placed["w0/read"]
    assert placed["y1"] == placed["w1"]
    assert placed["y0"] != placed["y1"]


def test_the_greedy_placement_is_predicted_to_be_faster_than_one_device() -> None:
    step = step_of(tf.add_n(_towers(4)))
    model = CostModel(between_tasks=FAST)
    devices = workers(4)
    greedy = step_seconds(step, place(step, devices, cost=model), model, CPU)
    single = step_seconds(step, place(step, devices), model, CPU)
    assert greedy < 0.3 * single


def test_a_region_is_one_unit() -> None:
    x = tf.ones([500, 500])
    ends = [
        tf.while_loop(lambda i, a: i < 9, lambda i, a: (i + 1, tf.matmul(a, x)), [0, x])[1]
        for _ in range(2)
    ]
    step = step_of(*ends)
    placed = place(step, workers(2), cost=CostModel(between_tasks=FAST))
    where = {
        region: {placed[op] for block in region.attrs["blocks"] for op in block.operations
                 if op.type == "MatMul"}
        for region in step.operations if region.type == "_While"
    }  # fmt: skip
    assert sorted(map(len, where.values())) == [1, 1]
    assert len(set.union(*where.values())) == 2


def test_a_session_learns_from_its_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_PLACEMENT", "cost")
    x = matrix(50, 50)
    y = tf.matmul(x, x, name="y")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        model = sess._options.placer.cost
        before = model.seconds(y.op, CPU)
        asked = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(y, {x: [[1.0] * 50] * 50}, options=asked, run_metadata=tf.RunMetadata())
        assert model.seconds(y.op, CPU) != before

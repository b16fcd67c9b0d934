"""What a placement must keep, what it prefers, and what its errors say."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import penstock as tf
from penstock.compiler.passes.prune import prune
from penstock.compiler.placement.available import DeviceAttributes, local_devices
from penstock.compiler.placement.place import Placer, place, stateful_placement
from penstock.foundation.graph.operation import inner_operations
from penstock.foundation.graph.step import StepGraph

GIB = 1 << 30


def step_of(fetches: list[tf.Tensor], targets: list[tf.Operation] = []) -> StepGraph:  # noqa: B006
    return prune(tf.get_default_graph(), [], fetches, targets)


def cluster(gpus: int = 0, **jobs: int) -> list[DeviceAttributes]:
    return [
        device
        for job, tasks in jobs.items()
        for task in range(tasks)
        for device in local_devices(None, [GIB] * gpus, f"/job:{job}/replica:0/task:{task}")
    ]


def names(placed: dict[tf.Operation, str]) -> dict[str, str]:
    short = lambda d: d.replace("/replica:0", "").replace("/device", "")  # noqa: E731
    return {op.name: short(device) for op, device in placed.items()}


def on(device: str) -> StepGraph:
    with tf.device(device):
        y = tf.exp(tf.constant(1.0), name="there")
    return step_of([y])


@pytest.mark.parametrize(
    "device", ["", "/cpu:0", "/device:CPU:*", "/job:localhost", "/job:localhost/task:0/cpu:0"]
)
def test_devices_of_this_process(device: str) -> None:
    (name,) = set(place(on(device), local_devices()).values())
    assert name == "/job:localhost/replica:0/task:0/device:CPU:0"


@pytest.mark.parametrize(
    ("device", "missing"),
    [
        ("/gpu:0", "no device type 'GPU'"), ("/cpu:1", "no device number 1"),
        ("/job:worker", "no job 'worker'"), ("/task:3/cpu:0", "no task 3"),
        ("/replica:1", "no replica 1"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("devices", [local_devices(), local_devices({"CPU": 1}, [GIB])[:1]])
def test_others_are_refused_with_what_is_missing(
    device: str, missing: str, devices: list[DeviceAttributes]
) -> None:
    step = on(device)
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        place(step, devices)
    text = str(info.value)
    asked = step.fetches[0].op.device
    for part in (missing, f"asks for device {asked!r}", devices[0].name, "test_place.py"):
        assert part in text
    assert ("allow_soft_placement" in text) == (device in ("/gpu:0", "/cpu:1"))


def test_soft_placement_changes_type_and_number_and_never_the_task() -> None:
    devices = cluster(ps=1, worker=1)
    with tf.Graph().as_default():
        placed = place(on("/job:ps/gpu:3"), devices, "/job:worker/replica:0/task:0", soft=True)
        assert set(names(placed).values()) == {"/job:ps/task:0:CPU:0"}
    with tf.Graph().as_default():
        step = on("/job:chief/gpu:3")
        with pytest.raises(tf.errors.InvalidArgumentError, match="never its task"):
            place(step, devices, soft=True)


def test_soft_placement_keeps_the_type_where_it_can() -> None:
    devices = local_devices({"CPU": 2}, [GIB, GIB])
    placed = names(place(on("/cpu:5"), devices, soft=True))
    assert placed["there"] == "/job:localhost/task:0:CPU:0"


def test_a_malformed_device_is_refused_with_its_line() -> None:
    y = tf.exp(1.0)
    y.op._device = "/gpu:x"
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?s)malformed device.*test_place"):
        place(step_of([y]), local_devices())


def test_what_runs_on_hosts_only_is_refused_on_a_gpu_unless_soft() -> None:
    with tf.device("/gpu:0"):
        queue = tf.FIFOQueue(3, [tf.float32], name="q")
        text = tf.as_string(tf.exp(1.0, name="e"), name="text")
    devices = local_devices(None, [GIB])
    for target, kind in ((queue.size().op, "FIFOQueueV2"), (text.op, "AsString")):
        step = step_of([], [target])
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{kind} runs on CPU devices"):
            place(step, devices)
    placed = names(place(step_of([text, queue.size("size")]), devices, soft=True))
    assert placed["e"].endswith("GPU:0")
    assert all(placed[name].endswith("CPU:0") for name in ("text", "q", "size"))


def test_gpus_are_preferred_to_cpus_and_the_default_task_to_others() -> None:
    y = tf.exp(tf.constant([1.0], name="c"), name="y")
    devices = cluster(gpus=1, ps=1, worker=2)
    placed = names(place(step_of([y]), devices, "/job:worker/replica:0/task:1"))
    assert placed == {"c": "/job:worker/task:1:GPU:0", "y": "/job:worker/task:1:GPU:0"}
    placed = names(place(step_of([y]), devices, devices[2].name))
    assert placed["y"] == "/job:worker/task:0:CPU:0"


def test_a_job_without_a_task_takes_the_default_task_or_the_first() -> None:
    with tf.device("/job:worker"):
        a = tf.exp(1.0, name="a")
    with tf.device("/job:ps/cpu:0"):
        b = tf.exp(1.0, name="b")
    devices = cluster(ps=12, worker=12)
    placed = names(place(step_of([a, b]), devices[::-1], "/job:worker/replica:0/task:10"))
    assert placed["a"] == "/job:worker/task:10:CPU:0"
    assert placed["b"] == "/job:ps/task:0:CPU:0"


@pytest.mark.parametrize("resource", [False, True])
def test_users_of_state_are_with_it(resource: bool) -> None:
    with tf.device("/job:ps/task:1"):
        v = tf.get_variable("v", [3], use_resource=resource)
    with tf.device("/job:worker"):
        y = tf.exp(v, name="y")
        update = v.assign_add(y)
    placed = place(step_of([y], [update.op]), cluster(ps=2, worker=1), "/job:worker")
    assert names(placed)["y"] == "/job:worker/task:0:CPU:0"
    with_state = [op for op in placed if op.type in ("VariableV2", "VarHandleOp", update.op.type)]
    assert len(with_state) == 2
    assert {placed[op] for op in with_state} == {"/job:ps/replica:0/task:1/device:CPU:0"}


def test_a_request_that_is_passed_over_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    with tf.device("/cpu:1"):
        v = tf.get_variable("v", [3], use_resource=True)
    with tf.device("/cpu:2"):
        update = v.assign_add([1.0, 1.0, 1.0], name="u")
    place(step_of([], [update.op]), local_devices({"CPU": 3}), log=True)
    text = capsys.readouterr().err
    assert "Ignoring device specification /device:CPU:2 for node 'u'" in text
    assert "u: (AssignAddVariableOp): /job:localhost/replica:0/task:0/device:CPU:1\n" in text


def test_a_disputed_colocation_names_both_lines() -> None:
    with tf.device("/job:ps/task:0"):
        a = tf.exp(1.0, name="a")
    first = tf.get_default_graph().get_operation_by_name("a").origin
    with tf.device("/job:ps/task:1"):
        b = tf.exp(a, name="b")
    b.op._set_attr("_class", tf.AttrValue(list=tf.AttrValue.ListValue(s=[b"loc:@a"])))
    with pytest.raises(tf.errors.InvalidArgumentError) as info:
        place(step_of([b]), cluster(ps=2), soft=True)
    text = str(info.value)
    for part in (
        "Cannot colocate nodes", "incompatible tasks", "'/job:ps/task:0'", "'/job:ps/task:1'",
        "'loc:@a'", f"'a' was made at {first}", f"'b' was made at {b.op.origin}",
    ):  # fmt: skip
        assert part in text
    assert info.value.op.name == "b"


def test_state_stays_where_an_earlier_step_has_put_it() -> None:
    v = tf.get_variable("v", [3], use_resource=True)
    y = tf.exp(v, name="y")
    devices = cluster(worker=3)
    earlier = {"v": devices[2].name}
    placed = place(step_of([y]), devices, devices[0].name, earlier=earlier)
    assert names(placed)["y"] == "/job:worker/task:0:CPU:0"
    assert stateful_placement(placed) == earlier
    assert {placed[op] for op in placed if "Read" in op.name} == {devices[2].name}
    with pytest.raises(tf.errors.InvalidArgumentError, match="an earlier step of this session"):
        place(step_of([y]), devices[:2], earlier=earlier)


def test_a_random_stream_stays_while_it_is_alone_and_follows_a_colocation() -> None:
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [3], use_resource=True)
    with tf.Graph().as_default():
        drawn = tf.random_uniform([2], name="r")
        devices = cluster(worker=2)
        earlier = {"r/RandomUniform": devices[1].name}
        placed = names(place(step_of([drawn]), devices, devices[0].name, earlier=earlier))
        assert placed["r/RandomUniform"] == "/job:worker/task:1:CPU:0"
    with tf.colocate_with(v.op, ignore_existing=True):
        drawn = tf.random_uniform([3], name="r")
    both = step_of([drawn, v.read_value()])
    placed = names(place(both, cluster(ps=1, worker=2), devices[0].name, earlier=earlier))
    assert placed["r/RandomUniform"] == "/job:ps/task:0:CPU:0"


def _loop_about(device: str) -> tf.Tensor:
    def body(i: tf.Tensor, a: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.device(device):
            a = tf.exp(a, name="asked")
        return i + 1, tf.tanh(a, name="free")

    return tf.while_loop(lambda i, a: i < 3, body, [0, tf.constant(1.0)])[1]


def test_free_nodes_of_a_region_are_with_their_placed_neighbours() -> None:
    end = tf.exp(_loop_about("/job:ps/task:0"), name="end")
    step = step_of([end])
    (region,) = [op for op in step.operations if op.type == "_While"]
    placed = place(step, cluster(ps=1, worker=1), "/job:worker")
    found = names(placed)
    assert found["end"] == "/job:worker/task:0:CPU:0"
    inside = {op.name: names(placed)[op.name] for op in inner_operations(region)}
    assert {inside["while/asked"], inside["while/free"]} == {"/job:ps/task:0:CPU:0"}
    assert found[region.name] == inside["while/Less"]


def test_every_node_of_nested_regions_has_a_device() -> None:
    x = tf.placeholder_with_default(1.0, [])
    y = tf.cond(x > 0, lambda: _loop_about("/cpu:1"), lambda: tf.constant(0.0))
    step = step_of([y])
    placed = place(step, local_devices({"CPU": 2}))
    every = [*step.operations]
    for op in step.operations:
        every.extend(inner_operations(op))
    assert placed.keys() == set(every)


def test_values_that_cannot_be_copied_stay_on_one_device_through_regions() -> None:
    array = tf.TensorArray(tf.float32, 3, name="array", colocate_with_first_write_call=False)

    def body(i: tf.Tensor, a: tf.TensorArray) -> tuple[tf.Tensor, tf.TensorArray]:
        with tf.device("/cpu:1"):
            return i + 1, a.write(i, 1.0)

    _, array = tf.while_loop(lambda i, a: i < 3, body, [0, array])
    with tf.device("/cpu:2"):
        y = array.stack()
    placed = place(step_of([y]), local_devices({"CPU": 3}))
    kinds = {op: d for op, d in placed.items() if op.type.startswith("TensorArray")}
    assert len(kinds) >= 3
    assert set(kinds.values()) == {"/job:localhost/replica:0/task:0/device:CPU:1"}


def test_a_feed_goes_where_all_its_consumers_are() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:1"):
        y = tf.exp(x) + x
    step = prune(tf.get_default_graph(), [x], [y], [])
    placed = place(step, local_devices({"CPU": 2}))
    assert placed[step.feeds[0].op].endswith("CPU:1")


# ---- sessions ---------------------------------------------------------------------------------


def _session(build: Callable[[], tf.Tensor], **config: object) -> tuple[tf.Session, tf.Tensor]:
    graph = tf.Graph()
    with graph.as_default():
        y = build()
    return tf.Session(graph=graph, config=tf.ConfigProto(**config)), y


def test_a_session_with_several_cpus() -> None:
    def build() -> tf.Tensor:
        with tf.device("/cpu:2"):
            return tf.exp(tf.placeholder(tf.float32, [], name="x"), name="y") + 1.0

    sess, y = _session(build, device_count={"CPU": 3})
    with sess:
        assert [d.name[-5:] for d in sess.list_devices()] == ["CPU:0", "CPU:1", "CPU:2"]
        assert "_DeviceAttributes(/job:localhost/" in repr(sess.list_devices()[0])
        assert all(d.incarnation and d.memory_limit_bytes for d in sess.list_devices())
        asked = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE, output_partition_graphs=True)
        metadata = tf.RunMetadata()
        assert sess.run(y, {"x:0": 0.0}, options=asked, run_metadata=metadata) == 2.0
        (stats,) = metadata.step_stats.dev_stats
        assert stats.device == "/job:localhost/replica:0/task:0/device:CPU:2"
        nodes = {n.name: n.device for g in metadata.partition_graphs for n in g.node}
        assert nodes["y"] == "/job:localhost/replica:0/task:0/device:CPU:2"
        costs = {n.name: n.device for n in metadata.cost_graph.node}
        assert costs["y"] == nodes["y"]
    assert y.graph.get_operation_by_name("y").device == "/device:CPU:2"


def test_placement_is_logged_once_as_tensorflow_prints_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sess, y = _session(lambda: tf.exp(tf.constant(1.0), name="there"), log_device_placement=True)
    with sess:
        sess.run(y)
        sess.run([y, y])
    text = capsys.readouterr().err
    line = "there: (Exp): /job:localhost/replica:0/task:0/device:CPU:0\n"
    assert text.count(line) == 1


def test_a_placer_keeps_what_it_has_placed() -> None:
    with tf.device("/job:ps"):
        v = tf.get_variable("v", [3], use_resource=True)
    devices = cluster(ps=2)
    placer = Placer(devices, devices[1].name)
    assert names(placer.place(step_of([v.read_value()])))["v"] == "/job:ps/task:1:CPU:0"
    v.op._set_device("/job:ps/task:0")
    assert names(placer.place(step_of([v.read_value()])))["v"] == "/job:ps/task:1:CPU:0"

"""``Profiler`` over several steps, advice, the op log, and what they serialize."""

from __future__ import annotations

import pytest

import penstock as tf
from penstock.foundation.formats.tfprof_messages import AdviceProto, GraphNodeProto, ProfileProto

Builder = tf.profiler.ProfileOptionBuilder


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        tf.matmul(tf.ones([4, 3], name="a"), tf.get_variable("w", [3, 5]), name="product")
        yield made


def step(name: str, micros: int, device: str = "/job:localhost/replica:0/task:0/device:CPU:0"):
    """Metadata of one node that ran for so long and made 8 bytes."""
    run_meta = tf.RunMetadata()
    stats = run_meta.step_stats.dev_stats.add(device=device)
    node = stats.node_stats.add(node_name=name, all_start_micros=100, op_end_rel_micros=micros)
    node.memory.add(total_bytes=8, peak_bytes=8, live_bytes=4)
    return run_meta


def test_steps_are_shown_alone_or_as_their_mean(graph) -> None:
    profiler = tf.profiler.Profiler(graph)
    profiler.add_step(0, step("product", 10))
    profiler.add_step(1, step("product", 30))
    options = Builder(Builder.time_and_memory()).with_empty_output()
    seen = {}
    for number in (-1, 0, 1):
        found = profiler.profile_name_scope(options.with_step(number).build())
        seen[number] = (found.total_exec_micros, found.total_requested_bytes)
    assert seen == {-1: (20, 8), 0: (10, 8), 1: (30, 8)}
    for view in (profiler.profile_graph, profiler.profile_operations, profiler.profile_python):
        assert view(options.build()).total_exec_micros == 30
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"step 5 was not added.*\[0, 1\]"):
        profiler.profile_graph(options.with_step(5).build())


def test_runs_of_one_step_add_up(graph) -> None:
    profiler = tf.profiler.Profiler(graph)
    for _ in range(3):
        profiler.add_step(7, step("product", 10))
    options = Builder(Builder.time_and_memory()).with_empty_output().with_step(7).build()
    found = profiler.profile_name_scope(options)
    assert (found.total_exec_micros, found.total_run_count) == (30, 3)


def test_time_on_an_accelerator_is_that_of_its_stream(graph) -> None:
    gpu = "/job:localhost/replica:0/task:0/device:GPU:0"
    run_meta = step("product", 5, gpu)
    run_meta.MergeFrom(step("product:MatMul", 40, f"{gpu}/stream:all"))
    run_meta.MergeFrom(step("product:MatMul", 40, f"{gpu}/stream:7"))
    options = Builder(Builder.time_and_memory()).with_empty_output().build()
    found = tf.profiler.profile(graph, run_meta, options=options)
    (node,) = found.children
    assert (node.accelerator_exec_micros, node.cpu_exec_micros, node.exec_micros) == (40, 5, 45)
    assert list(node.devices) == [gpu.lower()] and node.run_count == 1


def test_advice_names_what_is_expensive(graph, capsys) -> None:
    advice = tf.profiler.advise(graph, step("product", 1500))
    assert isinstance(advice, AdviceProto)
    assert set(advice.checkers) == {
        "ExpensiveOperationChecker", "AcceleratorUtilizationChecker", "JobChecker",
        "OperationChecker",
    }  # fmt: skip
    types, scopes, code = advice.checkers["ExpensiveOperationChecker"].reports
    top = "cpu: 1.50ms, accelerator: 0us, total: 1.50ms (100.00%)"
    assert types.splitlines()[0] == f"top 1 operation type: MatMul, {top}"
    assert scopes.splitlines()[0] == f"top 1 scope: product, {top}"
    assert code.startswith("top 1 line: test_profiler.py:") and top in code.splitlines()[0]
    assert "ExpensiveOperationChecker:\ntop 1 operation type" in capsys.readouterr().out


def test_advice_on_accelerators_layouts_and_jobs(graph) -> None:
    gpu = "/job:worker/task:{}/device:GPU:0"
    tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), strides=[1] * 4, padding="SAME")
    run_meta = step("Conv2D", 10, gpu.format(0))
    run_meta.MergeFrom(step("Conv2D:Conv2D", 10, gpu.format(0) + "/stream:all"))
    late = step("product:MatMul", 10, gpu.format(0) + "/stream:all")
    late.step_stats.dev_stats[0].node_stats[0].all_start_micros = 1090
    run_meta.MergeFrom(late)
    run_meta.MergeFrom(step("w", 500, gpu.format(1)))
    advice = tf.profiler.Profiler(graph)
    advice.add_step(0, run_meta)
    found = {name: list(c.reports) for name, c in advice.advise(None).checkers.items()}
    assert found["OperationChecker"] == [
        "1 convolution(s) on a GPU have data_format NHWC, first 'Conv2D'"
    ]
    (busy,) = found["AcceleratorUtilizationChecker"]
    assert busy.startswith("/job:worker/task:0/device:gpu:0 in step 0 computes for 2% of the time")
    assert found["JobChecker"][0].startswith("/job:worker/task:1 takes 16.7 times")
    assert set(advice.advise({"JobChecker": {}}).checkers) == {"JobChecker"}
    with pytest.raises(tf.errors.InvalidArgumentError, match="no checker is called 'Luck'"):
        advice.advise({"Luck": {}})


def test_the_whole_profile_serializes(graph) -> None:
    profiler = tf.profiler.Profiler(graph)
    profiler.add_step(3, step("product", 10))
    found = ProfileProto.FromString(profiler.serialize_to_string())
    nodes = {node.name: node for node in found.nodes.values()}
    product = nodes["product"]
    assert list(found.steps) == [3] and product.op == "MatMul" and product.float_ops == 120
    assert product.inputs[0] == nodes["a"].id and list(product.output_shapes[0].int64_values) == [
        4,
        5,
    ]
    assert list(nodes["w"].shape) == [3, 5] and "_trainable_variables" in nodes["w"].op_types
    execution = product.execs[3]
    (times,) = execution.cpu_execs.values()
    assert list(times.times[0].int64_values) == [100, 10]
    assert execution.memory_execs[0].requested_bytes == 8 and execution.latest_end_micros == 110
    line = product.trace.traces[0]
    assert found.id_to_string[line.file_id] == __file__


def test_op_log_is_written_for_other_tools(graph, tmp_path) -> None:
    mine = tf.profiler.OpLogProto()
    mine.log_entries.add(name="product", types=["mine"])
    tf.profiler.write_op_log(graph, str(tmp_path / "log"), mine)
    log = tf.profiler.OpLogProto.FromString((tmp_path / "log" / "tfprof_log").read_bytes())
    entries = {entry.name: entry for entry in log.log_entries}
    assert list(entries["product"].types) == ["mine"] and entries["product"].float_ops == 120
    assert list(entries["w"].types) == ["_trainable_variables"]
    trace = entries["product"].code_def.traces[0]
    assert log.id_to_string[trace.line_id].startswith("tf.matmul(")
    tf.profiler.write_op_log(graph, str(tmp_path), add_trace=False)
    bare = tf.profiler.OpLogProto.FromString((tmp_path / "tfprof_log").read_bytes())
    assert not any(entry.code_def.traces for entry in bare.log_entries)


def test_messages_keep_their_wire_format() -> None:
    """Field numbers are TensorFlow's: these bytes are what its GraphNodeProto serializes to."""
    proto = GraphNodeProto(name="n", exec_micros=1, float_ops=2, total_float_ops=3)
    proto.children.add(name="c")
    proto.input_shapes[1].dim.add(size=4)
    parsed = {
        "name": b"\x0a\x01n", "exec_micros": b"\x10\x01", "children": b"\x62\x03\x0a\x01c",
        "float_ops": b"\x68\x02", "total_float_ops": b"\x70\x03",
        "input_shapes": b"\x82\x01\x08\x08\x01\x12\x04\x12\x02\x08\x04",
    }  # fmt: skip
    for name, part in parsed.items():
        assert part in proto.SerializeToString(), name

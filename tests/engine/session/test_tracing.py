"""Traced steps: RunMetadata of a small training step, observers, errors, threads, TensorBoard."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from tensorboard.backend.event_processing.data_provider import MultiplexerDataProvider
from tensorboard.backend.event_processing.plugin_event_multiplexer import EventMultiplexer
from tensorboard.compat.proto.config_pb2 import CallableOptions
from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata
from tensorboard.context import RequestContext
from tensorboard.plugins.base_plugin import TBContext
from tensorboard.plugins.graph.graphs_plugin import GraphsPlugin
from tensorboard.summary.writer.event_file_writer import EventFileWriter

import penstock as tf
from penstock.ops.linalg import product_forms
from tests import golden
from tests.suite.clock import wait_until

CPU = "/job:localhost/replica:0/task:0/device:CPU:0"
GOLDEN = Path(__file__).parent / "golden"


class _Model:
    """A small CNN and its training step."""

    def __init__(self) -> None:
        self.x = tf.placeholder(tf.float32, [None, 8, 8, 1], name="x")
        filters = tf.Variable(tf.ones([3, 3, 1, 4]) * 0.1, name="filters")
        bias = tf.Variable(tf.zeros([4]), name="bias")
        maps = tf.nn.conv2d(self.x, filters, [1, 1, 1, 1], "SAME") + bias
        features = tf.nn.relu(maps, name="features")
        flat = tf.reshape(features, [-1, 256], name="flat")
        weights = tf.Variable(tf.ones([256, 10]) * 0.01, name="weights")
        self.loss = tf.reduce_mean(tf.square(tf.matmul(flat, weights, name="logits")), name="loss")
        self.train = tf.train.AdamOptimizer(0.01).minimize(self.loss, name="train")
        self.feed = {self.x: np.ones([16, 8, 8, 1], np.float32)}


def _traced(sess: Any, fetches: Any, feed: Any, **options: Any) -> tuple[Any, Any]:
    metadata = tf.RunMetadata()
    asked = tf.RunOptions(**{"trace_level": tf.RunOptions.FULL_TRACE, **options})
    return sess.run(fetches, feed, options=asked, run_metadata=metadata), metadata


@pytest.fixture(scope="module")
def traced() -> Any:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        model = _Model()
        sess.run(tf.global_variables_initializer())
        fetches = [model.train, model.loss]
        for _ in range(3):
            values, metadata = _traced(sess, fetches, model.feed, output_partition_graphs=True)
        return graph, values, metadata


def test_the_step_stats_are_sane(traced: Any) -> None:
    graph, values, metadata = traced
    assert values[0] is None and values[1] > 0
    (device,) = metadata.step_stats.dev_stats
    assert device.device == CPU
    names = {op.name for op in graph.get_operations()}
    assert {"features", "flat", "logits", "loss"} <= {n.node_name for n in device.node_stats}
    end = 0
    for node in device.node_stats:
        assert node.node_name in names
        assert node.all_start_nanos >= end, "lines run one after the other"
        end = node.all_start_nanos + node.all_end_rel_nanos
        assert node.all_start_micros == node.all_start_nanos // 1000
        assert node.op_end_rel_micros == node.all_end_rel_micros >= 0
        assert f"{node.node_name} = " in node.timeline_label
        assert device.thread_names[node.thread_id]
        assert [output.slot for output in node.output] == sorted(o.slot for o in node.output)


def test_outputs_have_shapes_and_only_allocations_count_as_memory(traced: Any) -> None:
    nodes = {n.node_name: n for n in traced[2].step_stats.dev_stats[0].node_stats}
    features = nodes["features"].output[0].tensor_description
    assert features.dtype == tf.float32.as_datatype_enum
    assert [dim.size for dim in features.shape.dim] == [16, 8, 8, 4]
    assert features.allocation_description.requested_bytes == 16 * 256 * 4
    assert features.allocation_description.allocator_name == "cpu"
    logits = nodes["logits"]
    assert [m.total_bytes for m in logits.memory] == [16 * 10 * 4]
    flat = nodes["flat"].output[0].tensor_description.allocation_description
    assert not nodes["flat"].memory, "a view allocates nothing"
    assert flat.requested_bytes == 16 * 256 * 4
    assert not nodes["filters"].memory, "a read of a variable allocates nothing"
    assert all(n.memory[0].allocator_bytes_in_use >= n.memory[0].live_bytes
               for n in nodes.values() if n.memory)  # fmt: skip


def test_bytes_in_use_fall_when_a_tensor_dies() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [100])
        small = tf.reduce_sum(tf.cumsum(x, name="a"), name="b")
        last = tf.cumsum(tf.stack([small, small], name="c"), name="d")
        _, metadata = _traced(sess, last, {x: np.ones(100)})
    nodes = {n.node_name: n for n in metadata.step_stats.dev_stats[0].node_stats}
    held = {name: nodes[name].memory[0].allocator_bytes_in_use for name in "abcd"}
    assert held == {"a": 400, "b": 4, "c": 8, "d": 16 - 8}


def test_labels_name_op_and_inputs(traced: Any) -> None:
    labels = [n.timeline_label for n in traced[2].step_stats.dev_stats[0].node_stats]
    assert "flat = Reshape(features, flat/shape)" in labels
    (features,) = [label for label in labels if "features = " in label]
    assert "(x, filters, bias)" in features, "feeds and fused nodes go by the user's names"


def test_graphs_are_those_that_ran(traced: Any) -> None:
    graph, _, metadata = traced
    (ran,) = metadata.partition_graphs
    (function,) = metadata.function_graphs
    assert function.post_optimization_graph == ran
    before = {n.name: n for n in function.pre_optimization_graph.node}
    assert before["Conv2D"].op == "Conv2D" and before["logits"].op == "MatMul"
    assert len(ran.node) < len(before)
    names = {op.name for op in graph.get_operations()}
    for node in ran.node:
        assert node.device == CPU
        assert set(node.experimental_debug_info.original_node_names) <= names


def test_the_cost_graph_agrees_with_the_stats(traced: Any) -> None:
    _, _, metadata = traced
    costs = metadata.cost_graph.node
    assert [node.name for node in costs] == [n.name for n in metadata.partition_graphs[0].node]
    assert [node.id for node in costs] == list(range(len(costs)))
    nanos = sum(n.all_end_rel_nanos for n in metadata.step_stats.dev_stats[0].node_stats)
    assert abs(sum(n.compute_cost for n in costs) - nanos / 1000) <= len(costs)
    by_name = {node.name: node for node in costs}
    assert {n.name for n in costs if n.is_final} >= {"loss", "train"}
    flat = by_name["flat"]
    assert flat.output_info[0].size == 16 * 256 * 4
    assert flat.output_info[0].alias_input_port == 0
    assert costs[flat.input_info[0].preceding_node].name == "features"
    assert by_name["filters"].persistent_memory_size == 3 * 3 * 4 * 4


def test_build_cost_model_needs_no_trace() -> None:
    options = tf.GraphOptions(build_cost_model=2, build_cost_model_after=1)
    config = tf.ConfigProto(graph_options=options)
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        y = tf.placeholder_with_default(2.0, [], name="x") * 3.0
        filled = []
        for _ in range(5):
            metadata = tf.RunMetadata()
            assert sess.run(y, run_metadata=metadata) == 6.0
            filled.append(bool(metadata.cost_graph.node))
            assert not metadata.step_stats.dev_stats
    assert filled == [False, False, True, False, True]


def test_untraced_runs_fill_nothing_and_traced_ones_replace() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2])
        y = tf.exp(x, name="y")
        metadata = tf.RunMetadata()
        sess.run(y, {x: [0, 0]}, options=tf.RunOptions(inter_op_thread_pool=-1),
                 run_metadata=metadata)  # fmt: skip
        assert metadata == tf.RunMetadata()
        _, metadata = _traced(sess, y, {x: [0, 0]})
        options = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
        sess.run(y, {x: [0, 0]}, options=options, run_metadata=metadata)
        (device,) = metadata.step_stats.dev_stats
        assert [n.node_name for n in device.node_stats] == ["y"]
        assert not metadata.partition_graphs


def test_callables_trace() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [], name="x")
        y = tf.add(x, 1.0, name="y")
        run = sess.make_callable(y, [x], accept_options=True)
        metadata = tf.RunMetadata()
        asked = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert run(1.0, options=asked, run_metadata=metadata) == 2.0
        assert metadata.step_stats.dev_stats[0].node_stats[0].node_name == "y"
        options = CallableOptions(feed=["x:0"], fetch=["y:0"], target=["y"])
        options.run_options.trace_level = tf.RunOptions.FULL_TRACE
        metadata = tf.RunMetadata()
        call = sess._make_callable_from_options(options)
        assert call(2.0, run_metadata=metadata) == [3.0]
        assert metadata.step_stats.dev_stats[0].node_stats[0].node_name == "y"


def test_a_soft_placed_node_is_listed_where_it_ran() -> None:
    config = tf.ConfigProto(allow_soft_placement=True)
    with tf.Graph().as_default(), tf.Session(config=config) as sess:
        with tf.device("/gpu:0"):
            x = tf.placeholder(tf.float32, [])
            y = tf.exp(x, name="y")
        _, metadata = _traced(sess, y, {x: 1.0})
    (device,) = metadata.step_stats.dev_stats
    assert device.device == CPU
    assert [n.node_name for n in device.node_stats] == ["y"]


def test_strings_are_traced() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.string, [2], name="x")
        _, metadata = _traced(sess, tf.reverse(x, [0], name="y"), {x: [b"abc", b"d"]})
    (node,) = metadata.step_stats.dev_stats[0].node_stats
    assert node.output[0].tensor_description.dtype == tf.string.as_datatype_enum
    assert node.output[0].tensor_description.shape.dim[0].size == 2


def test_a_traced_step_that_fails_names_the_node() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, None], name="x")
        y = tf.cholesky(x, name="y")
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cholesky 'y'") as caught:
            sess.run(y, {x: -np.eye(2)}, options=options, run_metadata=metadata)
        assert caught.value.op is y.op
        assert not metadata.step_stats.dev_stats
        assert sess.run(y, {x: np.eye(2)}, options=options, run_metadata=metadata)[0, 0] == 1


def test_a_traced_step_keeps_its_deadline() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [600, 600], name="x")
        y = x
        for _ in range(50):
            y = tf.matmul(y, x)
        with pytest.raises(tf.errors.DeadlineExceededError, match="MatMul"):
            _traced(sess, y, {x: np.zeros([600, 600])}, timeout_in_ms=5)


def test_threads_run_untraced_steps_meanwhile() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        model = _Model()
        sess.run(tf.global_variables_initializer())
        done = threading.Event()
        failures: list[BaseException] = []
        counts: list[int] = []

        def work(trace: bool) -> None:
            try:
                while not done.is_set():
                    if trace:
                        _, metadata = _traced(sess, [model.train, model.loss], model.feed)
                        counts.append(len(metadata.step_stats.dev_stats[0].node_stats))
                    else:
                        sess.run([model.train, model.loss], model.feed)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(i < 2,)) for i in range(4)]
        for thread in threads:
            thread.start()
        wait_until(lambda: failures or len(counts) > 4)
        done.set()
        for thread in threads:
            thread.join()
    assert not failures
    assert len(counts) > 2 and len(set(counts)) == 1, "each trace has its own step's lines"


# ---- observers --------------------------------------------------------------------------------


def test_the_observed_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_PRODUCTS", "mm")
    monkeypatch.setattr(product_forms, "onednn_runs", lambda: False)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        w = tf.Variable(tf.ones([3]), name="w")
        first, _ = tf.split(tf.exp(x * w, name="y"), [1, 2], axis=1, name="parts")
        update = tf.assign_add(w, tf.reduce_sum(x, 0, name="sum"), name="update")
        sess.run(w.initializer)
        step = sess.observed_step([first, update], {x: 0})
        golden.check(GOLDEN / "observed.py.txt", step.build().explain())
        assert "observe" not in sess.explain([first, update], [x])


def test_observers_see_nodes_and_values() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2], name="x")
        w = tf.Variable([1.0, 2.0], name="w")
        update = tf.assign_add(w, tf.nn.relu(x, name="r") * 1.0, name="update")
        sess.run(w.initializer)

        def seen(optimize: bool) -> dict[str, Any]:
            found: dict[str, Any] = {}

            def make(program: Any, args: list[Any]) -> Any:
                ops = program.source.line_ops
                found["args"] = [a.tolist() for a in args]

                def observe(line: int, outputs: tuple[Any, ...]) -> None:
                    found[ops[line].name] = [None if o is None else o.tolist() for o in outputs]

                return observe

            sess.observed(update.op, {x: [3.0, -3.0]}, make, optimize=optimize)
            return found

        assert seen(True) == {"args": [[3.0, -3.0]], "r": [[3.0, 0.0]], "update": [[4.0, 2.0]]}
        assert seen(False) == {
            "args": [[3.0, -3.0]], "r": [[3.0, 0.0]], "mul": [[3.0, 0.0]], "update": [[7.0, 2.0]],
        }  # fmt: skip
        assert sess.observed_step(update.op, {x: 0}) is sess.observed_step(update.op, {x: 0})


def test_what_an_observer_raises_ends_the_step() -> None:
    def make(program: Any, args: list[Any]) -> Any:
        def observe(line: int, outputs: tuple[Any, ...]) -> None:
            raise KeyError(program.source.line_ops[line].name)

        return observe

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        y = tf.exp(x, name="y")
        with pytest.raises(KeyError, match="y"):
            sess.observed(y, {x: 1.0}, make)
        assert sess.run(y, {x: 1.0}) > 2


@pytest.mark.parametrize("fed", [{}, None])
def test_explain_times_reads_and_nodes(fed: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.Variable(tf.ones([3]), name="w")
        y = tf.exp(w, name="y")
        sess.run(w.initializer)
        text = sess.explain(y, fed, timed_runs=3)
    assert "observe(" not in text
    (line,) = [line for line in text.splitlines() if "# y" in line]
    assert " us " in line


def test_explain_times_nothing_without_the_values_that_are_fed() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        with pytest.raises(ValueError, match="timed_runs needs values in feed_dict"):
            sess.explain(tf.exp(x), [x], timed_runs=3)


def test_tensorboard_serves_the_metadata(traced: Any, tmp_path: Path) -> None:
    graph, _, metadata = traced
    writer = EventFileWriter(str(tmp_path))
    writer.add_event(Event(graph_def=graph.as_graph_def().SerializeToString()))
    tagged = TaggedRunMetadata(tag="step1", run_metadata=metadata.SerializeToString())
    writer.add_event(Event(step=1, tagged_run_metadata=tagged))
    writer.close()
    multiplexer = EventMultiplexer()
    multiplexer.AddRunsFromDirectory(str(tmp_path))
    multiplexer.Reload()
    provider = MultiplexerDataProvider(multiplexer, str(tmp_path))
    plugin = GraphsPlugin(TBContext(data_provider=provider))
    context = RequestContext()
    assert plugin.info_impl(context, experiment="")["."]["tags"]["step1"]["profile"]
    served, _ = plugin.run_metadata_impl(context, "", ".", "step1")
    assert text_format.Parse(served, tf.RunMetadata()) == metadata
    shown, _ = plugin.graph_impl(context, ".", None, False, "")
    users = {n.name for n in text_format.Parse(shown, tf.GraphDef()).node}
    assert {n.node_name for d in metadata.step_stats.dev_stats for n in d.node_stats} <= users


def test_what_an_earlier_run_left_in_the_metadata_goes() -> None:
    """A step that is not traced leaves none, as in TensorFlow."""
    with tf.Graph().as_default(), tf.Session() as session:
        total = tf.constant(1.0) + 1
        metadata = tf.RunMetadata()
        traced = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(total, options=traced, run_metadata=metadata)
        assert metadata.step_stats.dev_stats
        session.run(total, run_metadata=metadata)
        assert not metadata.step_stats.dev_stats

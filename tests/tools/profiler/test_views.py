"""The four views: what is counted, shown and written; the expected trees are TensorFlow 1.15's."""

from __future__ import annotations

import gzip
import json

import pytest

import penstock as tf
from penstock.tools.profiler import report

Builder = tf.profiler.ProfileOptionBuilder
QUIET = {"output": "none"}


def perceptron():
    x = tf.placeholder(tf.float32, [4, 3], name="x")
    with tf.variable_scope("a"):
        w = tf.get_variable("w", [3, 5])
        b = tf.get_variable("b", [5], initializer=tf.zeros_initializer())
        hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b))
    with tf.variable_scope("bb"):
        y = tf.matmul(hidden, tf.get_variable("w", [5, 2]))
    loss = tf.reduce_mean(tf.square(y))
    return x, tf.train.GradientDescentOptimizer(0.1).minimize(loss)


@pytest.fixture
def graph():
    with tf.Graph().as_default() as made:
        perceptron()
        yield made


@pytest.fixture
def traced(graph):
    """The metadata of a traced step of the graph."""
    run_meta = tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(
            "GradientDescent", {"x:0": [[1.0, 2.0, 3.0]] * 4},
            options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=run_meta,
        )  # fmt: skip
    return run_meta


def params(graph, **options):
    return tf.profiler.profile(graph, options=Builder.trainable_variables_parameter() | options)


def lines(text: str) -> list[str]:
    """The rows of a report."""
    rows = text.splitlines()
    return rows[rows.index("") + 2 :]


def test_parameters_by_scope(graph, capsys) -> None:
    found = tf.profiler.profile(graph)
    assert isinstance(found, tf.profiler.GraphNodeProto)
    assert found.total_parameters == 30 and found.total_definition_count == 6
    assert [(c.name, c.total_parameters) for c in found.children] == [("a", 20), ("bb", 10)]
    assert [(c.name, c.parameters) for c in found.children[0].children] == [("a/b", 5), ("a/w", 15)]
    assert [d.size for d in found.children[0].children[1].shapes[0].dim] == [3, 5]
    assert lines(capsys.readouterr().out.rstrip()) == [
        "_TFProfRoot (--/30 params)",
        "  a (--/20 params)",
        "    a/b (5, 5/5 params)",
        "    a/w (3x5, 15/15 params)",
        "  bb (--/10 params)",
        "    bb/w (5x2, 10/10 params)",
    ]


@pytest.mark.parametrize(
    ("options", "shown", "total", "definitions"),
    [
        ({"hide_name_regexes": ["a/.*"]}, ["a", "bb", "bb/w"], 10, 4),
        ({"trim_name_regexes": ["a"]}, ["a", "bb", "bb/w"], 10, 4),
        ({"show_name_regexes": ["a/.*"]}, ["a/b", "a/w"], 20, 3),
        ({"start_name_regexes": ["a"]}, ["a", "a/b", "a/w"], 20, 4),
        (
            {"account_displayed_op_only": False, "hide_name_regexes": ["a/.*"]},
            ["a", "bb", "bb/w"], 30, 5,
        ),
        ({"max_depth": 1}, [], 0, 1),
        ({"max_depth": 1, "account_displayed_op_only": False}, [], 30, 5),
        ({"max_depth": 2}, ["a", "bb"], 0, 3),
        ({"order_by": "params"}, ["a", "a/w", "a/b", "bb", "bb/w"], 30, 6),
        ({"min_params": 12}, ["a/w"], 15, 2),
    ],
)  # fmt: skip
def test_options_show_hide_and_count_as_in_tensorflow(
    graph, options, shown, total, definitions
) -> None:
    found = params(graph, **options, **QUIET)
    names, stack = [], list(reversed(found.children))
    while stack:
        node = stack.pop()
        names.append(node.name)
        stack.extend(reversed(node.children))
    assert names == shown
    assert (found.total_parameters, found.total_definition_count) == (total, definitions)


def test_float_operations_by_scope_and_by_type(graph, capsys) -> None:
    scopes = tf.profiler.profile(graph, options=Builder.float_operation())
    assert scopes.total_float_ops == 727
    assert lines(capsys.readouterr().out)[1:3] == [
        "  a/MatMul (120/120 flops)",
        "  gradients/a/MatMul_grad/MatMul (120/120 flops)",
    ]
    types = tf.profiler.profile(graph, cmd="op", options=Builder.float_operation())
    assert isinstance(types, tf.profiler.MultiGraphNodeProto)
    first = types.children[0]
    assert (first.name, first.float_ops, first.total_float_ops) == ("MatMul", 600, 727)
    assert len(first.graph_nodes) == 6
    second = first.children[0]
    assert (second.name, second.float_ops, second.total_float_ops) == ("Mul", 41, 127)
    assert "MatMul       600 flops (100.00%, 82.53%)" in capsys.readouterr().out


def test_the_graph_view_hangs_nodes_below_their_consumers(graph) -> None:
    found = tf.profiler.profile(graph, cmd="graph", options=Builder.float_operation() | QUIET)
    assert found.total_float_ops == 727
    seen, stack = {}, [(found, None)]
    while stack:
        node, above = stack.pop()
        seen[node.name] = above
        stack.extend((child, node.name) for child in node.children)
    assert seen["a/MatMul"] == "a/BiasAdd" and seen["a/BiasAdd"] == "bb/MatMul"


def test_the_code_view_finds_the_lines(graph) -> None:
    options = Builder.trainable_variables_parameter() | QUIET
    found = tf.profiler.profile(graph, cmd="code", options=options)
    assert found.total_parameters == 30
    by_line = {child.name: child.parameters for child in found.children}
    assert sorted(by_line.values()) == [5, 10, 15]
    assert all(name.startswith("test_views.py:") for name in by_line)
    assert all(name.endswith(":perceptron") for name in by_line)


def test_deep_graphs_do_not_recurse() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.ones([2])
        for _ in range(3000):
            x = tf.negative(x)
        found = tf.profiler.profile(graph, cmd="graph", options=Builder.float_operation() | QUIET)
    assert found.total_float_ops == 6000


def test_times_and_memory_of_a_traced_step(graph, traced, capsys) -> None:
    options = Builder.time_and_memory(min_micros=0, min_bytes=0) | QUIET
    found = tf.profiler.profile(graph, traced, cmd="op", options=options)
    measured = sum(n.op_end_rel_micros for d in traced.step_stats.dev_stats for n in d.node_stats)
    assert found.total_exec_micros == found.total_cpu_exec_micros == measured > 0
    assert found.total_accelerator_exec_micros == 0
    scopes = tf.profiler.profile(graph, traced, options=options)
    assert scopes.total_exec_micros == measured and scopes.total_run_count > 3
    cpu = tf.profiler.profile(
        graph, traced, options=options | {"account_type_regexes": [".*device:cpu:0"]}
    )
    assert cpu.total_exec_micros == measured
    assert cpu.total_definition_count < scopes.total_definition_count
    gpu = tf.profiler.profile(
        graph, traced, options=options | {"account_type_regexes": [".*gpu:0"]}
    )
    assert gpu.total_exec_micros == 0 and not gpu.children


def test_shapes_of_a_traced_step_complete_the_count() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        y = tf.matmul(x, tf.ones([3, 5]))
        options = Builder.float_operation() | QUIET
        assert tf.profiler.profile(graph, options=options).total_float_ops == 0
        run_meta = tf.RunMetadata()
        full = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(y, {x: [[1.0] * 3] * 4}, options=full, run_metadata=run_meta)
        assert tf.profiler.profile(graph, run_meta, options=options).total_float_ops == 120
        assert y.shape.as_list() == [None, 5], "the graph stays as it is"


def test_uncounted_nodes_are_told(capsys) -> None:
    with tf.Graph().as_default() as graph:
        tf.square(tf.placeholder(tf.float32, [None]))
        tf.profiler.profile(graph, options=Builder.float_operation())
    assert "1 node(s) are not counted" in capsys.readouterr().out


def test_types_of_an_op_log_can_be_counted_by(graph) -> None:
    log = tf.profiler.OpLogProto()
    log.log_entries.add(name="a/MatMul", types=["mine"], float_ops=7)
    options = Builder.float_operation() | QUIET | {"account_type_regexes": ["mine"]}
    found = tf.profiler.profile(graph, op_log=log, options=options)
    assert found.total_float_ops == 7, "what the log says stands"
    assert len(log.log_entries) == 1, "the user's log is not changed"


def test_output_goes_where_it_is_told(graph, traced, tmp_path, capsys) -> None:
    builder = Builder(Builder.trainable_variables_parameter())
    file, trace, profile = (tmp_path / name for name in ("report.txt", "trace", "code.pb.gz"))
    tf.profiler.profile(graph, options=builder.with_file_output(str(file)).build())
    assert "a/w (3x5, 15/15 params)" in file.read_text()
    options = builder.with_timeline_output(str(trace)).build()
    tf.profiler.profile(graph, traced, options=options)
    events = json.loads((tmp_path / "trace_0").read_text())["traceEvents"]
    names = {event.get("args", {}).get("name") for event in events}
    ran = {n.node_name for d in traced.step_stats.dev_stats for n in d.node_stats}
    assert ran and ran <= names
    options = builder.with_pprof_output(str(profile)).build()
    tf.profiler.profile(graph, cmd="code", options=options)
    content = gzip.decompress(profile.read_bytes())
    assert b"test_views.py" in content and b"perceptron" in content and b"params" in content
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"select": ["parameters"]}, "no column of 'select' 'parameters'"),
        ({"order_by": "speed"}, "no attribute of 'order_by' 'speed'"),
        ({"output": "printer"}, "no kind of 'output' 'printer'"),
        ({"output": "file"}, "needs a file"),
        ({"maximum_depth": 3}, "no option 'maximum_depth'"),
        ({"show_name_regexes": ["("]}, "no regular expression"),
        ({"step": 7}, "step 7 was not added"),
        ({"output": "timeline:outfile=x"}, "needs a traced step"),
    ],
)
def test_bad_options_are_refused(graph, options, text) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text.replace("(", r"\(")):
        params(graph, **options)


def test_an_unknown_view_is_refused(graph) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="no view 'lines'"):
        tf.profiler.profile(graph, cmd="lines")


def test_the_builder_writes_the_documented_dict() -> None:
    built = (
        Builder(Builder.time_and_memory(min_bytes=5))
        .with_max_depth(3).with_min_memory(1, 2, 3, 4).with_min_execution_time(5, 6, 7)
        .with_min_parameters(8).with_min_occurrence(9).with_min_float_operations(10)
        .with_accounted_types(["T"]).account_displayed_op_only(False).with_step(2)
        .with_node_names(["s"], ["w"], ["h"], ["t"]).order_by("bytes").select(["params"])
        .with_empty_output().build()
    )  # fmt: skip
    assert built == {
        "max_depth": 3, "min_bytes": 1, "min_peak_bytes": 2, "min_residual_bytes": 3,
        "min_output_bytes": 4, "min_micros": 5, "min_accelerator_micros": 6, "min_cpu_micros": 7,
        "min_params": 8, "min_occurrence": 9, "min_float_ops": 10, "account_type_regexes": ["T"],
        "account_displayed_op_only": False, "step": 2, "start_name_regexes": ["s"],
        "show_name_regexes": ["w"], "hide_name_regexes": ["h"], "trim_name_regexes": ["t"],
        "order_by": "bytes", "select": ["params"], "output": "none",
    }  # fmt: skip
    assert Builder().with_stdout_output().build()["output"] == "stdout"


def test_amounts_have_units() -> None:
    shown = [report.amount(c, v) for c, v in (("micros", 12), ("cpu_micros", 2_500_000))]
    assert shown == ["12us", "2.50sec"]
    assert report.amount("peak_bytes", 1_230) == "1.23KB"
    assert report.amount("float_ops", 2_000_000_000) == "2.00b"

"""Dumps of a step, read back; filters; the wrapping sessions."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import penstock as tf
from penstock.python import debug as tf_debug


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


@pytest.fixture
def dumped(tmp_path):
    """A dump of a small step, and its values as ``Session.run`` gives them."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    w = tf.get_variable("w", initializer=[[1.0], [2.0]])
    with tf.name_scope("layer"):
        y = tf.matmul(x, w, name="y")
        ratio = tf.divide(y, tf.constant([0.0]), name="ratio")
    text = tf.constant([[b"a", b""], [b"b\0", b"ccc"]], name="text")
    half = tf.cast(y, tf.bfloat16, name="half")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        feeds = {x: [[1.0, 1.0], [0.0, 0.0]]}
        values = tf_debug.dump_step(sess, str(tmp_path), [ratio, text, half], feeds)
        expected = sess.run([ratio, text, half], feeds)
    for found, wanted in zip(values, expected, strict=True):
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    return tf_debug.DebugDumpDir(str(tmp_path))


def test_every_tensor_is_there_in_order(dumped) -> None:
    names = [datum.tensor_name for datum in dumped.dumped_tensor_data]
    assert {"x:0", "layer/y:0", "layer/ratio:0", "layer/Const:0", "text:0", "half:0"} <= set(names)
    assert names.index("x:0") < names.index("layer/y:0") < names.index("layer/ratio:0")
    assert dumped.size == len(names) and dumped.error == ""
    assert dumped.run_feed_keys_info == ["x:0"]
    times = [datum.timestamp for datum in dumped.dumped_tensor_data]
    assert times == sorted(times) and dumped.t0 == times[0]


def test_values_come_back_in_their_dtypes(dumped) -> None:
    (y,) = dumped.get_tensors("layer/y", 0, "DebugIdentity")
    assert y.dtype == np.float32 and y.tolist() == [[3.0], [0.0]]
    (text,) = dumped.get_tensors("text", 0, "DebugIdentity")
    assert text.tolist() == [[b"a", b""], [b"b\0", b"ccc"]]
    (half,) = dumped.watch_key_to_data("half:0:DebugIdentity")
    assert half.get_tensor().dtype.name == "bfloat16" and half.dump_size_bytes > 0
    with pytest.raises(tf_debug.WatchKeyDoesNotExistInDebugDumpDirError, match="layer/y:7"):
        dumped.get_tensors("layer/y", 7, "DebugIdentity")
    assert dumped.watch_key_to_data("nothing:0:DebugIdentity") == []


def test_the_graph_can_be_walked(dumped) -> None:
    assert dumped.node_exists("layer/y") and not dumped.node_exists("nothing")
    assert dumped.node_op_type("layer/ratio") == "RealDiv"
    assert dumped.node_inputs("layer/ratio") == ["layer/y", "layer/Const"]
    assert set(dumped.node_recipients("layer/y")) == {"layer/ratio", "half"}
    assert {"layer/y", "layer/Const"} <= set(dumped.transitive_inputs("layer/ratio"))
    file, line, function, text = dumped.node_traceback("layer/y:0")[0]
    assert file == __file__ and function == "dumped" and "tf.matmul(x, w" in text
    with pytest.raises(ValueError, match="no node 'nothing'"):
        dumped.node_op_type("nothing")


def test_find_gives_what_a_filter_matches_first(dumped) -> None:
    found = dumped.find(tf_debug.has_inf_or_nan)
    assert [datum.tensor_name for datum in found] == ["layer/ratio:0"]
    large = dumped.find(lambda datum, value: value.size >= 2, first_n=1)
    assert len(large) == 1
    assert not dumped.find(tf_debug.has_inf_or_nan, exclude_node_names="layer/")


def test_a_value_that_the_program_overwrites_later_is_dumped_as_it_was(tmp_path) -> None:
    w = tf.get_variable("w", initializer=[1.0])
    before = tf.identity(w, name="before")
    with tf.control_dependencies([before]):
        update = w.assign_add([1.0])
    with tf.Session() as sess:
        sess.run(w.initializer)
        tf_debug.dump_step(sess, str(tmp_path), [before, update])
    dump = tf_debug.DebugDumpDir(str(tmp_path))
    assert dump.get_tensors("before", 0, "DebugIdentity")[0].tolist() == [1.0]
    assert dump.get_tensors("AssignAdd", 0, "DebugIdentity")[0].tolist() == [2.0]


def test_regexes_select_by_name_type_and_dtype(tmp_path) -> None:
    a = tf.add(tf.constant([1, 2]), 1, name="pick/a")
    b = tf.multiply(tf.to_float(a), 2.0, name="pick/b")
    watch = tf_debug.WatchOptions(
        node_name_regex_whitelist="pick/", op_type_regex_whitelist="(Add|Mul)",
        tensor_dtype_regex_whitelist="float",
    )  # fmt: skip
    with tf.Session() as sess:
        tf_debug.dump_step(sess, str(tmp_path), [a, b], watch=watch)
    names = [d.tensor_name for d in tf_debug.DebugDumpDir(str(tmp_path)).dumped_tensor_data]
    assert names == ["pick/b:0"]
    with pytest.raises(tf.errors.UnimplementedError, match="DebugNumericSummary"):
        tf_debug.WatchOptions(debug_ops=["DebugNumericSummary"])


def test_a_failing_step_leaves_what_was_made_before(tmp_path) -> None:
    x = tf.placeholder(tf.float32, [None], name="x")
    bad = tf.check_numerics(tf.log(x, name="log"), "bad")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
        tf_debug.dump_step(sess, str(tmp_path), bad, {x: [0.0]})
    dump = tf_debug.DebugDumpDir(str(tmp_path))
    assert dump.get_tensors("log", 0, "DebugIdentity")[0].tolist() == [-np.inf]
    assert "bad" in dump.error


def test_there_is_no_dump_in_an_empty_folder(tmp_path) -> None:
    with pytest.raises(tf.errors.NotFoundError):
        tf_debug.DebugDumpDir(str(tmp_path))


def test_dumping_session_writes_a_folder_a_run(tmp_path) -> None:
    c = tf.add(tf.constant(1.0), 2.0, name="c")
    asked = []

    def watch(fetches, feeds):
        asked.append(fetches)
        return tf_debug.WatchOptions(node_name_regex_whitelist="c$")

    with tf_debug.DumpingDebugWrapperSession(tf.Session(), str(tmp_path), watch) as sess:
        assert sess.run(c) == 3.0
        assert c.eval() == 3.0, "the wrapper is the default session"
        assert sess.graph is c.graph
    runs = sorted(tmp_path.glob("run_*"))
    assert len(runs) == 2 and asked == [c, c]
    for run in runs:
        names = [d.tensor_name for d in tf_debug.DebugDumpDir(str(run)).dumped_tensor_data]
        assert names == ["c:0"]
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(c)


def test_threads_that_the_filter_leaves_out_run_as_usual(tmp_path) -> None:
    c = tf.constant(1.0)
    sess = tf_debug.DumpingDebugWrapperSession(
        tf.Session(), str(tmp_path), thread_name_filter="MainThread$"
    )
    values = []
    other = threading.Thread(target=lambda: values.append(sess.run(c)), name="worker")
    other.start()
    other.join()
    assert values == [1.0] and not list(tmp_path.iterdir())
    sess.run(c)
    assert len(list(tmp_path.iterdir())) == 1


def test_local_session_prints_what_its_filters_match(capsys) -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    inverse = tf.reciprocal(x, name="inverse")
    sess = tf_debug.LocalCLIDebugWrapperSession(tf.Session(), ui_type="readline")
    sess.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)
    sess.add_tensor_filter("large", lambda datum, value: value.size > 100)
    assert sess.run(inverse, {x: [1.0, 0.0]}).tolist() == [1.0, np.inf]
    printed = capsys.readouterr().out
    assert "run 1: 2 tensors of 2 nodes" in printed
    assert (
        "filter has_inf_or_nan: 1 match\n  inverse:0 (Reciprocal) float32[2]: [ 1. inf]" in printed
    )
    assert "filter large: 0 matches" in printed
    assert "the first of them, inverse:0, is made at:" in printed and __file__ in printed
    assert sess.run(inverse, {x: [1.0, 1.0]}).tolist() == [1.0, 1.0]
    assert "run 2" in capsys.readouterr().out


def test_local_session_keeps_dumps_where_it_is_told(tmp_path) -> None:
    c = tf.constant([1.0], name="c")
    with tf_debug.LocalCLIDebugWrapperSession(tf.Session(), dump_root=str(tmp_path)) as sess:
        sess.run(c)
    assert tf_debug.DebugDumpDir(str(tmp_path / "run_1")).nodes() == ["c"]
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="must be a folder"):
        tf_debug.LocalCLIDebugWrapperSession(tf.Session(), dump_root=str(tmp_path / "file"))
    with pytest.raises(TypeError, match="must be a tf.Session"):
        tf_debug.LocalCLIDebugWrapperSession("session")

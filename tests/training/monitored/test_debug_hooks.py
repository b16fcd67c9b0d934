"""Debuggers as hooks look at the steps of a training session, and at nothing else."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import penstock as tf
from penstock.python import debug as tf_debug


def test_dumps_each_step(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1, name="train")
    hooks = [tf_debug.DumpingDebugHook(str(tmp_path)), tf.train.StopAtStepHook(2)]
    with tf.train.MonitoredSession(hooks=hooks) as sess:
        while not sess.should_stop():
            last = sess.run(train)
    assert last == 2
    runs = sorted(tmp_path.iterdir())
    assert [run.name.rsplit("_", 1)[1] for run in runs] == ["1", "2"]
    dumped = tf_debug.DebugDumpDir(str(runs[0])).dumped_tensor_data
    assert "train" in {datum.node_name for datum in dumped}


def test_reports_bad_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    root = tf.sqrt(x, name="root")
    hook = tf_debug.LocalCLIDebugHook()
    hook.add_tensor_filter("has_inf_or_nan", tf_debug.has_inf_or_nan)
    with tf.train.MonitoredSession(hooks=[hook]) as sess:
        sess.run(root, {x: 4.0})
        quiet = capsys.readouterr()
        sess.run(root, {x: -4.0})
        said = capsys.readouterr()
    assert "root" not in quiet.out + quiet.err
    assert "root" in said.out + said.err


def test_signatures() -> None:
    def names(kind: Any) -> list[str]:
        return list(inspect.signature(kind).parameters)

    wanted = ["ui_type", "dump_root", "thread_name_filter", "config_file_path"]
    assert names(tf_debug.LocalCLIDebugHook) == wanted
    wanted = ["session_root", "watch_fn", "thread_name_filter", "log_usage"]
    assert names(tf_debug.DumpingDebugHook) == wanted

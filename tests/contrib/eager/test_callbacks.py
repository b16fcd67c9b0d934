"""Callbacks after eager operations, modes, and tests in both modes; texts as TensorFlow 1.15's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import penstock as tf
from penstock.contrib import eager as tfe
from tests.library.eager.conftest import eagerly as eagerly


@pytest.fixture(autouse=True)
def _none_left(eagerly: None) -> Any:
    yield
    tfe.clear_execution_callbacks()


def test_a_callback_sees_each_operation() -> None:
    seen: list[Any] = []

    def note(op_type: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any) -> None:
        seen.append((op_type, len(inputs), [o.numpy().tolist() for o in outputs]))

    a = tf.constant([1.0, 2.0])
    tfe.add_execution_callback(note)
    b = a + 1.0
    tf.concat([b, b], 0)
    assert seen[0] == ("AddV2", 2, [[2.0, 3.0]])
    assert seen[1][0] == "ConcatV2" and seen[1][2] == [[2.0, 3.0, 2.0, 3.0]]
    tfe.clear_execution_callbacks()
    _ = a + 2.0
    assert len(seen) == 2
    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="eager execution"):
        tfe.add_execution_callback(note)


def test_bad_values_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    bad = [tf.constant([1.0, np.nan, np.inf])]
    text = (
        r"Output 1 of 1 of TFE operation Log \(name: 'n'\) contains 1 inf\(s\) and 1 nan\(s\) out"
        r" of a total of 3 element\(s\). Tensor value: \[ 1. nan inf\]"
    )
    for function in (tfe.nan_callback, tfe.inf_callback, tfe.inf_nan_callback):
        with pytest.raises(Exception, match=text):
            function("Log", [], None, bad, "n")
        function("Log", [], None, bad, "n", action="print")
        assert "Warning: Output 1 of 1" in capsys.readouterr().out
        function("Log", [], None, bad, "n", action=tfe.ExecutionCallback.IGNORE)
        with pytest.raises(ValueError, match="3 is not a valid ExecutionCallback"):
            function("Log", [], None, bad, "n", action=3)
    tfe.nan_callback("Log", [], None, [tf.constant([np.inf])], "n")
    tfe.inf_callback("Log", [], None, [tf.constant([np.nan]), tf.constant([1])], "n")


def test_seterr_and_errstate() -> None:
    zero = tf.constant([0.0, -1.0])
    assert tfe.seterr(inf_or_nan="raise") == {"inf_or_nan": tfe.ExecutionCallback.IGNORE}
    with pytest.raises(Exception, match="TFE operation Log .* contains 1 inf"):
        tf.math.log(zero)
    with tfe.errstate(inf_or_nan=tfe.ExecutionCallback.IGNORE):
        tf.math.log(zero)
    assert tfe.seterr() == {"inf_or_nan": tfe.ExecutionCallback.RAISE}
    tfe.seterr(inf_or_nan="ignore")
    assert np.isnan(tf.math.log(zero).numpy()[1])
    with pytest.raises(ValueError, match="'foo' is not a valid ExecutionCallback"):
        tfe.seterr(inf_or_nan="foo")
    tfe.add_execution_callback(tfe.ExecutionCallback.RAISE)
    with pytest.raises(Exception, match="contains 1 inf"):
        tf.math.log(tf.constant(0.0))


def test_modes() -> None:
    modes = [
        tfe.SYNC, tfe.ASYNC, tfe.DEVICE_PLACEMENT_EXPLICIT, tfe.DEVICE_PLACEMENT_WARN,
        tfe.DEVICE_PLACEMENT_SILENT,
    ]  # fmt: skip
    assert modes == [0, 1, 0, 1, 2]
    with tfe.execution_mode(tfe.ASYNC):
        assert (tf.constant(1.0) + 1.0).numpy() == 2.0
        tfe.async_wait()
        tfe.async_clear_error()
    tfe.set_execution_mode(None)
    with pytest.raises(ValueError, match="Execution mode should be None/SYNC/ASYNC. Got 7"):
        tfe.set_execution_mode(7)
    with pytest.raises(ValueError, match="Must provide at least one remote_host"):
        tfe.connect_to_remote_host(None)
    with pytest.raises(NotImplementedError, match="eager calls run in this process"):
        tfe.connect_to_remote_host("localhost:1")
    with pytest.raises(NotImplementedError, match="eager calls run in this process"):
        tfe.set_server_def(tf.train.ServerDef())
    assert issubclass(tf.Module, tfe.Checkpointable)


def test_tests_run_in_both_modes() -> None:
    ran: list[bool] = []

    @tfe.run_all_tests_in_graph_and_eager_modes
    class Case(tf.test.TestCase):
        def test_one(self) -> None:
            ran.append(tf.executing_eagerly())
            assert self.evaluate(tf.constant(2.0) * 3.0) == 6.0

    class Other(tf.test.TestCase):
        @tfe.run_test_in_graph_and_eager_modes(reset_test=False)
        def test_two(self) -> None:
            ran.append(tf.executing_eagerly())

    for case in (Case("test_one"), Other("test_two")):
        result = case.run()
        assert result is not None and result.wasSuccessful(), result.errors
    assert ran == [False, True, False, True]

"""Calls of a function gathered over steps; what TensorFlow 1.15 gives for the same calls."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest
import torch

import penstock as tf
from penstock.contrib import batching
from penstock.engine.resources import waiting
from penstock.engine.resources.batching import Batcher
from tests.suite.clock import PATIENCE, wait_until

_LONG = 60_000_000  # microseconds: until the batch is full


class _Calls:
    """Steps in threads, one a call."""

    def __init__(self, run: Any) -> None:
        self._run, self.results, self._threads = run, {}, []  # type: ignore[var-annotated]

    def start(self, key: Any, feed: Any) -> None:
        def call() -> None:
            try:
                self.results[key] = self._run(feed)
            except tf.errors.OpError as error:
                self.results[key] = error

        thread = threading.Thread(target=call)
        thread.start()
        self._threads.append(thread)

    def ended(self) -> dict[Any, Any]:
        for thread in self._threads:
            thread.join()
        return self.results


def _rows(a: Any) -> Any:
    """For each row, how many rows there are."""
    return a * 0.0 + tf.cast(tf.shape(a)[0], tf.float32)


def _batched(function: Any, *settings: Any, shape: Any = (None, 2), **more: Any) -> Any:
    x = tf.placeholder(tf.float32, shape)
    y = tf.nondifferentiable_batch_function(*settings, **more)(function)(x)
    sess = tf.Session()
    return sess, lambda fed: sess.run(y, {x: fed})[0]


def test_steps_that_fill_a_batch_run_together() -> None:
    sess, run = _batched(lambda a: [_rows(a) + 10 * a], 1, 4, _LONG)
    calls = _Calls(run)
    for key, count in enumerate((1, 2, 1)):
        calls.start(key, np.full([count, 2], key, np.float32))
    for key, result in calls.ended().items():
        count = (1, 2, 1)[key]
        np.testing.assert_array_equal(result, np.full([count, 2], 4 + 10 * key))
    sess.close()


def test_a_batch_whose_time_is_up_runs_and_is_padded() -> None:
    for sizes, rows in ((None, 1), ([1, 2, 4], 1), ([2, 4], 2), ([4], 4)):
        sess, run = _batched(_rows, 1, 4, 1000, allowed_batch_sizes=sizes)
        np.testing.assert_array_equal(run([[1, 2]]), [[rows, rows]])
        assert run(np.zeros([0, 2])).shape == (0, 2)
        sess.close()


def test_time_that_is_up_before_the_wait_begins_is_seen() -> None:
    class Slow(Batcher):
        def _take(self, batch: Any) -> bool:
            taken = super()._take(batch)
            time.sleep(0.02)
            return taken

    batcher = Slow("slow", 1, 4, 0.01, 2)
    rows = [torch.ones(1, 2)]
    with waiting.running(seconds=PATIENCE):
        (found,) = batcher(rows, lambda inputs: [2 * inputs[0]])
    assert found.tolist() == [[2, 2]]


def test_what_would_overflow_a_batch_begins_another() -> None:
    sess, run = _batched(_rows, 2, 3, 200_000)
    calls = _Calls(run)
    for key in range(2):
        calls.start(key, np.ones([2, 2]))
    for result in calls.ended().values():
        np.testing.assert_array_equal(result, np.full([2, 2], 2))
    sess.close()


def test_strings_captured_tensors_and_variables() -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    c = tf.constant(3.0)
    text = tf.placeholder(tf.string, [None])
    x = tf.placeholder(tf.float32, [None, 2])
    w = tf.get_variable("w", initializer=[[1.0]])

    @batching.batch_function(1, 4, 1000)
    def y_of(a: Any, s: Any) -> Any:
        if tf.reduce_sum(a) < 0:
            a = -a
        return a * v * w + c, tf.strings.join([s, s])

    y = y_of(x, text)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        number, words = sess.run(y, {x: [[-1, -1]], text: ["a"]})
    assert number.tolist() == [[4, 5]] and words.tolist() == [b"aa"]


def test_the_node_is_tensorflows() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.nondifferentiable_batch_function(1, 4, 10, [2, 4])(lambda a: a)(x)
    assert [t.name for t in y] == ["batch/BatchFunction:0"] and y[0].shape.ndims is None
    attrs = y[0].op.node_def.attr
    assert attrs["shared_name"].s == b"batch/" and attrs["max_enqueued_batches"].i == 10
    assert attrs["f"].func.name.startswith("__inference_computation")
    with pytest.raises(LookupError, match="No gradient defined"):
        tf.gradients(y, x)
    with pytest.raises(ValueError, match="supposed to be Tensors"):
        tf.nondifferentiable_batch_function(1, 4, 10)(lambda a: a)(1.0)


@pytest.mark.parametrize(
    ("settings", "function", "fed", "error", "text"),
    [
        ((1, 4, 10), _rows, np.ones([5, 2]), "InvalidArgument", "Task size 5 is larger than max"),
        ((1, 4, 10), _rows, 1.0, "InvalidArgument", "must have at least one dimension"),
        ((1, 4, 10, [2, 3]), _rows, [[1.0]], "InvalidArgument", "must equal max_batch_size"),
        ((1, 4, 10, [4, 2, 4]), _rows, [[1.0]], "InvalidArgument", "monotonically increasing"),
        ((0, 4, 10), _rows, [[1.0]], "InvalidArgument", "num_batch_threads must be positive"),
        ((1, 0, 10), _rows, [[1.0]], "InvalidArgument", "max_batch_size must be positive; was 0"),
        ((1, 4, 10), tf.reduce_sum, [[1.0]], "FailedPrecondition", "tensor has 0 dimensions"),
        ((1, 4, 10), lambda a: tf.concat([a, a], 0), [[1.0]], "FailedPrecondition",
         "does not equal the sum of the 0th dimension sizes"),
    ],
)  # fmt: skip
def test_what_cannot_be_batched_is_refused(
    settings: Any, function: Any, fed: Any, error: str, text: str
) -> None:
    sess, run = _batched(function, *settings, shape=None)
    with pytest.raises(getattr(tf.errors, f"{error}Error"), match=text):
        run(fed)
    sess.close()


def test_all_steps_of_a_batch_fail_with_it_and_the_next_batch_runs() -> None:
    sess, run = _batched(lambda a: tf.check_numerics(1 / a, "bad"), 1, 2, _LONG)
    calls = _Calls(run)
    for key, value in enumerate((1.0, 0.0)):
        calls.start(key, [[value, 1.0]])
    for result in calls.ended().values():
        assert isinstance(result, tf.errors.InvalidArgumentError) and "bad" in str(result)
    np.testing.assert_array_equal(run([[1, 2], [4, 8]]), [[1, 0.5], [0.25, 0.125]])
    sess.close()


def test_parts_of_other_shapes_fail() -> None:
    sess, run = _batched(_rows, 1, 2, _LONG, shape=None)
    calls = _Calls(run)
    for width in (2, 3):
        calls.start(width, np.ones([1, width]))
    for result in calls.ended().values():
        assert "Dimensions of inputs should match: shape[0] = [1," in str(result)
    sess.close()


def test_too_many_waiting_batches_are_refused() -> None:
    entered, leave = threading.Semaphore(0), threading.Event()

    def held(a: Any) -> Any:
        entered.release()
        leave.wait()
        return a

    sess, run = _batched(
        lambda a: tf.py_func(held, [a], tf.float32), 1, 1, 0, max_enqueued_batches=2
    )
    calls = _Calls(run)
    calls.start(0, [[0, 0]])
    entered.acquire()
    for key in (1, 2, 3):  # two wait, and one of the three is one too many
        calls.start(key, [[key, key]])
    wait_until(lambda: len(calls.results) == 1)
    leave.set()
    results = calls.ended()
    refused = [r for r in results.values() if isinstance(r, tf.errors.UnavailableError)]
    assert len(refused) == 1 and "batch scheduling queue to which this" in str(refused[0])
    assert all(np.all(r == k) for k, r in results.items() if isinstance(r, np.ndarray))
    sess.close()


def test_a_deadline_ends_a_wait_and_takes_the_rows_out() -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.nondifferentiable_batch_function(1, 3, _LONG)(_rows)(x)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.DeadlineExceededError, match="Timed out"):
            sess.run(y, {x: [[1, 2]]}, options=tf.RunOptions(timeout_in_ms=50))
        calls = _Calls(lambda fed: sess.run(y, {x: fed})[0])
        calls.start(0, [[1, 2]])
        calls.start(1, [[1, 2], [3, 4]])
        assert all(np.all(r == 3) for r in calls.ended().values())


def test_closing_the_session_ends_waiting_steps() -> None:
    sess, run = _batched(_rows, 1, 4, _LONG)
    calls = _Calls(run)
    calls.start(0, [[1, 2]])
    calls.start(1, [[1, 2]])
    time.sleep(0.1)
    sess.close()
    kinds = (tf.errors.CancelledError, RuntimeError)
    assert all(isinstance(r, kinds) for r in calls.ended().values())
    assert len(calls.results) == 2

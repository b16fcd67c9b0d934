"""Coordinators, looper threads, queue runners: stops, errors, and the end of the process."""

from __future__ import annotations

import sys
import threading

import pytest

import penstock as tf
from penstock.foundation.formats.schema import QueueRunnerDef
from tests.suite import warm
from tests.suite.clock import PATIENCE


def test_first_error_wins_and_join_raises_it() -> None:
    coord = tf.train.Coordinator()

    def fail(text: str, late: bool) -> None:
        with coord.stop_on_exception():
            if late:
                coord.wait_for_stop()
            raise ValueError(text)

    threads = [threading.Thread(target=fail, args=a) for a in (("first", False), ("second", True))]
    for thread in threads:
        thread.start()
    assert coord.wait_for_stop(PATIENCE)
    with pytest.raises(ValueError, match="first"):
        coord.join(threads)
    assert coord.joined
    with pytest.raises(ValueError, match="first"):
        coord.raise_requested_exception()


def test_out_of_range_is_a_clean_stop() -> None:
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join([])
    assert coord.should_stop()
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined


def test_live_threads_are_an_error_after_the_grace_period() -> None:
    coord, end = tf.train.Coordinator(), threading.Event()
    thread = threading.Thread(target=end.wait, daemon=True)
    thread.start()
    coord.request_stop()
    with pytest.raises(RuntimeError, match="still running"):
        coord.join([thread], stop_grace_period_secs=0.05)
    coord.join([thread], stop_grace_period_secs=0.05, ignore_live_threads=True)
    end.set()


def test_looper_thread_runs_until_the_stop() -> None:
    coord, rounds = tf.train.Coordinator(), []

    def one_round(step: int) -> None:
        rounds.append(step)
        if len(rounds) == 3:
            coord.request_stop()

    looper = tf.train.LooperThread.loop(coord, 0.001, one_round, args=(7,))
    coord.join()
    assert rounds == [7, 7, 7] and not looper.is_alive()


def test_error_of_a_runner_reaches_join() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        queue = tf.FIFOQueue(2, tf.int32, shapes=[[]])
        given = tf.placeholder(tf.int32, [])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(given)]))
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.OutOfRangeError):  # the cancel op closed the queue
            sess.run(queue.dequeue())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Placeholder"):
            coord.join(threads)


def test_starting_twice_makes_no_second_threads() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.train.range_input_producer(3)
        coord = tf.train.Coordinator()
        first = tf.train.start_queue_runners(sess, coord)
        assert len(first) == 2 and tf.train.start_queue_runners(sess, coord) == []
        coord.request_stop()
        coord.join(first)


def test_queue_runner_def_goes_both_ways() -> None:
    with tf.Graph().as_default() as graph:
        with tf.name_scope("in"):
            tf.train.range_input_producer(3)
        runner = graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)[0]
        made = runner.to_proto()
        assert "queue_closed_exception_types: OUT_OF_RANGE" in str(made)
        assert QueueRunnerDef.FromString(made.SerializeToString()) == made
        again = tf.train.QueueRunner.from_proto(made)
        assert again.name == runner.name == "in/input_producer"
        assert again.enqueue_ops == runner.enqueue_ops
        assert again.queue_closed_exception_types == (tf.errors.OutOfRangeError,)
        assert runner.to_proto("elsewhere") is None
        assert runner.to_proto("in").queue_name == "input_producer"


def test_meta_graph_with_runners_runs() -> None:
    with tf.Graph().as_default():
        number = tf.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        tf.identity(tf.train.batch([number], 2), name="batch")
        exported = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.train.import_meta_graph(exported)
        sess.run(tf.local_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        batch = graph.get_tensor_by_name("batch:0")
        assert [sess.run(batch).tolist() for _ in range(2)] == [[0, 1], [2, 3]]
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(batch)
        coord.request_stop()
        coord.join(threads)


_ENDS = """
import sys, penstock as tf
number = tf.train.range_input_producer(5).dequeue()
batch = tf.train.batch([number], 2, num_threads=2)
sess = tf.Session()
{start}
print(len(sess.run(batch)))
{end}
"""


_RUNNERS = "tf.train.start_queue_runners(sess)"
_COORDINATED = "c = tf.train.Coordinator(); t = tf.train.start_queue_runners(sess, c)"


@pytest.mark.long
@pytest.mark.parametrize(
    ("start", "end"),
    [
        (_RUNNERS, "pass"),
        pytest.param(_RUNNERS, "sess.close()", marks=pytest.mark.long),
        pytest.param(_COORDINATED, "pass", marks=pytest.mark.long),
        pytest.param(_COORDINATED, "sess.close()", marks=pytest.mark.long),
        (_COORDINATED, "c.request_stop(); c.join(t); sess.close()"),
    ],
)
def test_process_ends_in_silence(start: str, end: str) -> None:
    code = _ENDS.format(start=start, end=end)
    done = warm.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "2\n", "")

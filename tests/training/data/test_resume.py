"""A process killed in mid-epoch goes on at the next element after the checkpoint.

What was trained on after the last checkpoint and before the kill is done again, as its effects on
the variables are lost, too; so the sequence up to the checkpoint and from there on is that of a run
which nobody interrupted, elements and variables alike.

Queues are different, in TensorFlow as here: no checkpoint holds a queue's elements or a producer's
place.  A new process starts its queues anew, while variables (a counter of epochs in a local or
global variable) go on.
"""

from __future__ import annotations

import random
import signal
import sys
from pathlib import Path

import pytest

import penstock as tf
from tests.suite import warm
from tests.suite.clock import PATIENCE
from tests.training.data import resume_worker

ROOT = Path(__file__).parents[3]
STEPS = -(-resume_worker.ELEMENTS * resume_worker.EPOCHS // resume_worker.BATCH)


def run(folder: Path, steps: int, save_every: int) -> list[str]:
    """The lines of one process; it kills itself after so many steps, if it gets there."""
    done = warm.run(
        [
            sys.executable, "-m", "tests.training.data.resume_worker", folder, str(steps),
            str(save_every),
        ],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    killed = 0 <= steps <= len(lines)
    assert done.returncode == (-signal.SIGKILL if killed else 0), done.stderr[-2000:]
    return lines


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The lines of a run that nobody interrupts."""
    lines = run(tmp_path_factory.mktemp("whole"), -1, 1000)
    assert len(lines) == STEPS
    elements = [int(word) for line in lines for word in line.split()[1:-2]]
    wanted = [3 * x + 1 for x in range(resume_worker.ELEMENTS)] * resume_worker.EPOCHS
    assert sorted(elements) == sorted(wanted)
    return lines


def killed_and_resumed(folder: Path, whole: list[str], draw: random.Random, times: int = 3) -> None:
    """Kills processes at random steps until one ends; each goes on where the checkpoint was."""
    save_every = draw.choice([1, 2, 3, 5])
    at = 0  # the step of the newest checkpoint
    for kills in range(100):
        steps = draw.randint(save_every + 1, 16) if kills < times else -1
        lines = run(folder, steps, save_every)
        assert lines == whole[at : at + len(lines)]
        if steps < 0 or len(lines) < steps:
            assert at + len(lines) == STEPS
            return
        # The step that ended in the kill was not saved.
        at = (at + len(lines) - 1) // save_every * save_every
        assert tf.train.latest_checkpoint(str(folder)) == str(folder / f"model-{at}")


@pytest.mark.long
def test_a_killed_process_goes_on_at_the_next_element(tmp_path: Path, whole: list[str]) -> None:
    killed_and_resumed(tmp_path, whole, random.Random(1), times=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 10))
def test_random_kills(seed: int, tmp_path: Path, whole: list[str]) -> None:
    killed_and_resumed(tmp_path, whole, random.Random(seed))


def test_queues_start_anew_and_variables_go_on(tmp_path: Path) -> None:
    """Elements in a queue are not saved: after a restore the producer is at its start."""

    def some(count: int, restored: str | None) -> tuple[list[int], int, str]:
        with tf.Graph().as_default(), tf.Session() as session:
            value = tf.train.range_input_producer(10, shuffle=False).dequeue()
            seen = tf.Variable(0, name="seen")
            count_up = tf.assign_add(seen, 1)
            saver = tf.train.Saver()
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            if restored:
                saver.restore(session, restored)
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            found = [int(session.run([value, count_up])[0]) for _ in range(count)]
            path = saver.save(session, str(tmp_path / "model"))
            number = int(session.run(seen))
            coordinator.request_stop()
            session.close()
            coordinator.join(threads, stop_grace_period_secs=PATIENCE)
            return found, number, path

    found, number, path = some(4, None)
    assert (found, number) == ([0, 1, 2, 3], 4)
    found, number, _ = some(3, path)
    assert (found, number) == ([0, 1, 2], 7)

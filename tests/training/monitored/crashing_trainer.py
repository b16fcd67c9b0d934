"""A training program that is killed at any moment and started again.

``crashing_trainer.py FOLDER LAST_STEP`` trains to that step, with a checkpoint every few steps.
Each step adds its own number to a variable, so the sum tells whether a step was lost or done twice.
It writes the final step and sum to ``FOLDER/done``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import penstock as tf


def main(folder: str, last_step: int) -> None:
    step = tf.train.get_or_create_global_step()
    total = tf.get_variable("total", [], tf.int64, tf.zeros_initializer(), trainable=False)
    # Larger than a block of the file system, so that a save can be cut in two.
    ballast = tf.get_variable("ballast", [300, 1000], initializer=tf.zeros_initializer())
    with tf.control_dependencies([tf.assign_add(ballast, tf.ones([300, 1000]))]):
        added = tf.assign_add(total, step.read_value() + 1)
    with tf.control_dependencies([added]):
        train = tf.assign_add(step, 1)
    ends = ballast[0, 0], ballast[-1, -1]
    hooks = [tf.train.StopAtStepHook(last_step=last_step)]
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder,
        hooks=hooks,
        save_checkpoint_steps=7,
        save_summaries_steps=None,
        save_summaries_secs=None,
    ) as sess:
        while not sess.should_stop():
            sess.run(train)
        values = sess._tf_sess().run([step, total, *ends])
    Path(folder, "done").write_text(" ".join(str(int(v)) for v in values))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

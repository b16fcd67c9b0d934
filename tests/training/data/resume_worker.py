"""A training program that is killed: ``resume_worker FOLDER STEPS SAVE_EVERY``.

It iterates over a shuffled, mapped, batched and repeated dataset and trains on it, and saves the
iterator's position with the model's variables every SAVE_EVERY steps.  Each step writes one line to
stdout: the step, the elements, the value of the model's variable.  It goes on from the newest
checkpoint in FOLDER, if there is one, and ends with the data.  STEPS: after so many steps it kills
itself (SIGKILL), right after the step's line; negative: never.
"""

from __future__ import annotations

import os
import signal
import sys

import penstock as tf

ELEMENTS, EPOCHS, BATCH = 50, 3, 4


def main(folder: str, steps: int, save_every: int) -> None:
    data = tf.data.Dataset.range(ELEMENTS).shuffle(13, seed=7).repeat(EPOCHS)
    data = data.map(lambda x: x * 3 + 1, num_parallel_calls=2).batch(BATCH).prefetch(2)
    iterator = data.make_initializable_iterator()
    tf.add_to_collection(
        tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator)
    )
    elements = iterator.get_next()
    total = tf.Variable(0, dtype=tf.int64, name="total")
    step = tf.train.get_or_create_global_step()
    trained = tf.assign(total, total * 7 % 1_000_003 + tf.reduce_sum(elements))
    with tf.control_dependencies([trained]):
        counted = tf.assign_add(step, 1)
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), iterator.initializer])
        newest = tf.train.latest_checkpoint(folder)
        if newest:
            saver.restore(session, newest)
        done = 0
        while True:
            try:
                found, value, number = session.run([elements, trained, counted])
            except tf.errors.OutOfRangeError:
                return
            print(number, *found, "total", value, flush=True)
            done += 1
            if done == steps:
                os.kill(os.getpid(), signal.SIGKILL)
            if number % save_every == 0:
                saver.save(session, os.path.join(folder, "model"), number, write_meta_graph=False)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

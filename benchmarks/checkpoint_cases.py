"""Saving and restoring as TF1 programs: one source for Penstock and both TensorFlows.

The model is ``data.checkpoint_shapes``: 1 GB of float32. Files lie in the system's temporary
directory. A save writes new files, removed outside the measured time; nobody syncs them to the
disk, which is what each of the libraries does by default. A restore reads files that were just
written (so from the page cache) into variables that hold values already.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, Callable, Dict

import numpy as np

from benchmarks import data, graph_cases
from benchmarks.program import Program


def remove_files(directory: str) -> None:
    """Empties a directory of files, and waits until the system has nothing left to write out.

    Else whoever comes next shares the disk with the writes of whoever came before.
    """
    for name in os.listdir(directory):
        os.remove(os.path.join(directory, name))
    os.sync()


def settle_files(directory: str) -> int:
    """Has the system write out what is in a directory; gives the size of it in bytes."""
    total = 0
    for name in os.listdir(directory):
        descriptor = os.open(os.path.join(directory, name), os.O_RDONLY)
        os.fsync(descriptor)
        total += os.fstat(descriptor).st_size
        os.close(descriptor)
    return total


def _variables(tf: Any, shapes: Dict[str, Any]) -> Dict[str, Any]:
    return {
        name: tf.Variable(tf.random_uniform(shape, seed=1), name=name)
        for name, shape in shapes.items()
    }


def save(tf: Any) -> Program:
    """Writes a checkpoint; the value is the size of its files in GB."""
    directory = tempfile.mkdtemp(prefix="benchmark-")
    prefix = os.path.join(directory, "model")
    with tf.Graph().as_default():
        _variables(tf, data.checkpoint_shapes())
        saver = tf.train.Saver()
        session = tf.Session()
        session.run(tf.global_variables_initializer())

    def step() -> float:
        saver.save(session, prefix, write_meta_graph=False)
        return sum(entry.stat().st_size for entry in os.scandir(directory)) / 1e9

    def close() -> None:
        session.close()
        shutil.rmtree(directory)

    return Program(step, close, between=lambda: remove_files(directory))


def restore(tf: Any) -> Program:
    """Reads a checkpoint of known values; the value is that of the last variable."""
    directory = tempfile.mkdtemp(prefix="benchmark-")
    prefix = os.path.join(directory, "model")
    with tf.Graph().as_default():
        variables = _variables(tf, data.checkpoint_shapes())
        last = list(variables.values())[-1]
        known = tf.assign(last, tf.cast(tf.range(int(last.shape[0])), tf.float32))
        other = tf.assign(last, tf.zeros_like(last))
        saver = tf.train.Saver()
        session = tf.Session()
        session.run(tf.global_variables_initializer())
    session.run(known.op)
    saver.save(session, prefix, write_meta_graph=False)
    session.run(other.op)
    settle_files(directory)

    def step() -> Any:
        saver.restore(session, prefix)
        return session.run(last)

    def close() -> None:
        session.close()
        shutil.rmtree(directory)

    return Program(step, close)


def background(tf: Any) -> Program:
    """The training step of ``cnn``; beside it, 512 MB of other variables are saved."""
    directory = tempfile.mkdtemp(prefix="benchmark-")
    prefix = os.path.join(directory, "model")
    graph = tf.Graph()
    with graph.as_default():
        variables = _variables(tf, data.background_shapes())
        saver = tf.train.Saver(list(variables.values()))
        initialize = tf.variables_initializer(list(variables.values()))
        session = tf.Session()
        session.run(initialize)
    training = graph_cases.cnn(tf)

    def beside() -> Callable[[], bool]:
        remove_files(directory)
        save: Any = saver.async_save(session, prefix, write_meta_graph=False)
        done: Callable[[], bool] = save.done
        return done

    def close() -> None:
        training.close()
        saver.restore(session, prefix)  # waits for the last save, and reads it
        value = session.run(next(iter(variables.values())))
        session.close()
        shutil.rmtree(directory)
        if not np.isfinite(value).all():
            raise ValueError("the saved values are not finite")

    return Program(training.step, close, beside=beside)


CASES: Dict[str, Callable[[Any], Program]] = {
    case.__name__: case for case in (save, restore, background)
}
CASES["restore_mapped"] = restore

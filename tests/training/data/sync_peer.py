"""The half of ``test_sync_conformance`` that runs in TensorFlow: sequences in, results out."""

import json
import os
import sys
import threading
from pathlib import Path

import tensorflow as tf
from sync_sequences import NOT_RUN, plain

v1 = tf.compat.v1


def operand(given, made):
    if isinstance(given, int):
        return made[given]
    if given and isinstance(given[0], list):
        return [operand(g, made) for g in given]
    dtype, value = given
    return tf.constant(value, getattr(tf, dtype))


def attribute(kind, value):
    if kind == "type":
        return getattr(tf, value)
    if kind == "types":
        return [getattr(tf, v) for v in value]
    if kind == "shape":
        return tf.TensorShape(value)
    return value


BLOCKED = object()


def bounded(session, wanted, options):
    """``session.run``, or ``BLOCKED``: no deadline ends the wait of a staging op in TensorFlow."""
    result = [BLOCKED]

    def work():
        try:
            result[0] = session.run(wanted, options=options)
        except Exception as error:
            result[0] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(6)
    if isinstance(result[0], Exception):
        raise result[0]
    return result[0]


def build(steps):
    made = []
    for step in steps:
        inputs = {k: operand(v, made) for k, v in step["inputs"].items()}
        attrs = {k: attribute(*v) for k, v in step["attrs"].items()}
        with tf.control_dependencies([tf.nest.flatten(made[n])[0] for n in step.get("after", ())]):
            made.append(getattr(tf.raw_ops, step["op"])(**inputs, **attrs))
    return made


def run(steps):
    results = []
    config = v1.ConfigProto()
    # It takes away pushes that no pop of the step follows, whether they would fail or not.
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    # Not closed: a blocked step would block that, too.
    session = v1.Session(graph=v1.Graph(), config=config)
    with session.graph.as_default():
        made = build(steps)  # all of it first: a session takes long to see that its graph has grown
    options = v1.RunOptions(timeout_in_ms=5000)
    for step, out in zip(steps, made):
        if step["op"].endswith(NOT_RUN):
            results.append(None)
            continue
        try:
            wanted = tf.nest.flatten(out) if isinstance(out, tuple) else out
            fetched = bounded(session, wanted, options)
            if fetched is BLOCKED:
                return [*results, "blocked"] + [None] * (len(steps) - len(results) - 1)
            if isinstance(fetched, list) and len(fetched) == 1:
                fetched = fetched[0]
            results.append(plain(fetched))
        except tf.errors.OpError as error:
            results.append(type(error).__name__)
    return results


def run_apart(steps):
    """``run`` in a child process, which a step that blocks cannot keep from ending."""
    reading, writing = os.pipe()
    child = os.fork()  # before this process has made a session, so that TF has no threads yet
    if not child:
        os.close(reading)
        try:
            with os.fdopen(writing, "w") as out:
                json.dump(run(steps), out)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as given:
        text = given.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else ["crashed"] + [None] * (len(steps) - 1)


if __name__ == "__main__":
    sequences = json.loads(Path(sys.argv[1]).read_text())
    Path(sys.argv[2]).write_text(json.dumps([run_apart(s) for s in sequences]))

"""The half of `test_control_flow_conformance.py` that runs in TensorFlow.

    python control_flow_peer.py FOLDER NAME...

For each program: its values as TensorFlow computes them, its nodes, and what TensorFlow computes
from the graph that Penstock made (``FOLDER/NAME.pickle``), all into ``FOLDER/answers.pickle``.
"""

import os
import pickle
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import tensorflow as tf  # noqa: E402

if hasattr(tf, "compat"):
    tf = tf.compat.v1
    tf.logging.set_verbosity("ERROR")
tf.disable_v2_behavior()

sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..")))
from tests.library.autodiff import control_flow_programs as programs  # noqa: E402
from tests.library.autodiff.control_flow_random import named  # noqa: E402


def nodes():
    """Name, type, inputs and control inputs of each node, in order."""
    return [
        (op.name, op.type, [t.name for t in op.inputs], sorted(c.name for c in op.control_inputs))
        for op in tf.get_default_graph().get_operations()
    ]


def feeds():
    found = {}
    for name, value in programs.FEEDS.items():
        try:
            found[tf.get_default_graph().get_tensor_by_name(name + ":0")] = value
        except KeyError:
            pass
    return found


def run(fetches):
    wanted = [f for f in fetches if f is not None]
    with tf.Session() as session:
        if tf.get_default_graph().get_collection("variables"):
            session.run(tf.global_variables_initializer())
        values = iter(session.run(wanted, feeds()))
    return [None if f is None else next(values) for f in fetches]


def ours(name):
    with tf.Graph().as_default():
        fetches = programs.dense(tf, named(name)(tf))
        made = nodes()
        return run(fetches), made


def theirs(carried):
    """What TensorFlow computes from a GraphDef of Penstock."""
    with tf.Graph().as_default() as graph:
        definition = tf.GraphDef.FromString(carried["graph"])
        tf.import_graph_def(definition, name="")
        wanted = [graph.get_tensor_by_name(n) for n in carried["fetches"] if n is not None]
        with tf.Session() as session:
            if carried["init"]:
                session.run(graph.get_operation_by_name(carried["init"]))
            values = iter(session.run(wanted, feeds()))
    return [None if n is None else next(values) for n in carried["fetches"]]


def main(folder, names):
    answers = {}
    for name in names:
        answers[name] = {"values": told(ours, name), "carried": told(carried, name)}

    with open(os.path.join(folder, "answers.pickle"), "wb") as stream:
        pickle.dump(answers, stream, protocol=4)


def told(function, name):
    """What ``function`` gives, or what it raises as text."""
    try:
        return function(name)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def carried(name):
    path = os.path.join(sys.argv[1], name + ".pickle")
    if not os.path.exists(path):
        return None
    with open(path, "rb") as stream:
        return theirs(pickle.load(stream))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])

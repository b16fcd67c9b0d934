"""Builds and runs one program of ``sources``, with Penstock or with any TensorFlow 1.x.

The programs import nothing that is not given to them, and keep to Python 3.7, so that exactly the
same text is run by every system.  ``build(tf, np)`` returns a dict:

* ``loss``, ``train``: the tensor and the operation of a step,
* ``feeds``: one feed dict a step,
* ``final``: tensors fetched after the last step, with ``final_feed`` or the last step's feed,
* ``init``, ``initial``: the initializer if the program makes it, and values loaded over it,
* ``config``: fields of ConfigProto,
* ``facts``: what the program found out while it was built,
* ``after``: a function of (tf, np, session) that returns more facts.
"""

import hashlib
import importlib.util
import os
import re

import numpy as np

# What TensorFlow builds with conditionals, for which Penstock has nodes of its own for now: the
# initial value of a moving average, and Assert.
CONDITIONAL = re.compile(
    r"""(.*/)?(cond|case)(_\d+)?/
    | (\S*/)?(Is|Var)\w*Initialized\w*\ =
    | \S+/ExponentialMovingAverage/Assign\ =
    | \S*/Assert/Assert""",
    re.VERBOSE,
)
HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "sources")


def names():
    """The names of all programs."""
    return sorted(name[:-3] for name in os.listdir(SOURCES) if name.endswith(".py"))


def load(name):
    """Returns the module of a program, outside ``sys.modules``."""
    spec = importlib.util.spec_from_file_location(name, os.path.join(SOURCES, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def summary(value):
    """A small array whole, a larger one as shape, sum, norm and a product with a fixed ramp."""
    array = np.asarray(value, np.float64)
    if array.size <= 12:
        return {"shape": list(array.shape), "values": array.ravel().tolist()}
    ramp = np.linspace(-1.0, 1.0, array.size)
    return {
        "shape": list(array.shape),
        "sum": float(array.sum()),
        "norm": float(np.sqrt(np.square(array).sum())),
        "ramp": float(array.ravel().dot(ramp)),
    }


def nodes(graph):
    """One line a node, in order: name, type, inputs, then control inputs (which are a set).

    Conditionals are left out.
    """
    lines = []
    for op in graph.get_operations():
        inputs = [t.name for t in op.inputs]
        controls = ["^" + c.name for c in op.control_inputs if "/Assert/Assert" not in c.name]
        given = ", ".join(inputs + sorted(controls))
        line = f"{op.name} = {op.type}({given})"
        if not CONDITIONAL.match(line):
            lines.append(line)
    return lines


def by_scope(lines):
    """The names of nodes: ``[["scope", "name name ..."], ...]``, a row for each run of a scope."""
    rows = []
    for line in lines:
        scope, _, name = line.partition(" = ")[0].rpartition("/")
        if rows and rows[-1][0] == scope:
            rows[-1][1] += " " + name
        else:
            rows.append([scope, name])
    return rows


def digest(lines):
    """A short digest of all nodes with their types and inputs."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def steps(session, built):
    """Trains; returns the loss before each step."""
    losses = []
    for feed in built["feeds"]:
        losses.append(float(session.run(built["loss"], feed)))
        session.run(built["train"], feed)
    return losses


def initialize(tf, session, built):
    """Runs the initializers and loads the values that random ones would make different."""
    session.run(built.get("init", None) or tf.global_variables_initializer())
    for variable, value in built.get("initial", {}).items():
        variable.load(np.asarray(value, variable.dtype.base_dtype.as_numpy_dtype), session)


def graph_lines(tf, name):
    """Builds one program only; returns ``nodes`` of its graph."""
    with tf.Graph().as_default() as graph:
        load(name).build(tf, np)
        return nodes(graph)


def run(tf, name):
    """Returns losses, variables, final values, facts and names of nodes of one program."""
    with tf.Graph().as_default() as graph:
        built = load(name).build(tf, np)
        lines = nodes(graph)
        if "init" not in built:
            built["init"] = tf.global_variables_initializer()
        config = tf.ConfigProto(**built.get("config", {}))
        with tf.Session(graph=graph, config=config) as session:
            initialize(tf, session, built)
            losses = steps(session, built)
            values = session.run({v.name: v for v in tf.global_variables()})
            variables = {name: summary(value) for name, value in values.items()}
            feed = built.get("final_feed", built["feeds"][-1])
            final = session.run(built["final"], feed)
            facts = dict(built.get("facts", {}))
            if "after" in built:
                facts.update(built["after"](tf, np, session))
    return {
        "losses": losses,
        "variables": variables,
        "final": {key: summary(value) for key, value in final.items()},
        "facts": facts,
        "names": by_scope(lines),
        "graph": digest(lines),
    }


def plain(value):
    """An array as what any version of NumPy and Python can unpickle."""
    return value.dtype.name, value.shape, value.tobytes()


def array(packed):
    """What ``plain`` packed."""
    dtype, shape, data = packed
    return np.frombuffer(data, dtype).reshape(shape).copy()


def carry(tf, name):
    """A program as what another system needs to run it: a GraphDef, and names and values.

    Returns ``(carried, losses)``: the losses are those of this system.
    """
    with tf.Graph().as_default() as graph:
        built = load(name).build(tf, np)
        if "init" not in built:
            built["init"] = tf.global_variables_initializer()
        initial = []
        for variable, value in built.get("initial", {}).items():
            value = np.asarray(value, variable.dtype.base_dtype.as_numpy_dtype)
            initializer = variable.initializer
            initial.append([initializer.name, initializer.inputs[1].name, plain(value)])
        carried = {
            "graph": graph.as_graph_def().SerializeToString(),
            "init": built["init"].name,
            "initial": initial,
            "loss": built["loss"].name,
            "train": built["train"].name,
            "feeds": [
                {tensor.name: plain(np.asarray(value)) for tensor, value in feed.items()}
                for feed in built["feeds"]
            ],
        }
        with tf.Session(graph=graph) as session:
            initialize(tf, session, built)
            return carried, steps(session, built)


def run_carried(tf, carried):
    """Runs the steps of another system's program from its GraphDef; returns the losses."""
    definition = tf.GraphDef()
    definition.ParseFromString(carried["graph"])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(definition, name="")
        with tf.Session(graph=graph) as session:
            session.run(carried["init"])
            for initializer, value_name, value in carried["initial"]:
                session.run(initializer, {value_name: array(value)})
            feeds = [{k: array(v) for k, v in feed.items()} for feed in carried["feeds"]]
            return steps(session, dict(carried, feeds=feeds))

"""Whole programs, run through the TF1 API: the same code for Penstock and for TensorFlow.

A job is a plain dict with an ``id`` and a ``kind``:

    text      ``source`` (see ``random_programs``) run with each of ``feeds``
    autodiff  ``name`` of a program of ``tests/library/autodiff``, with its gradients
    arrays    ``name``, ``number``: a case of ``tests/library/control_flow/tensor_array_programs``
    graph     a GraphDef that Penstock made, with what to feed and to fetch

``run_job`` gives ``{"id", "values"}``: arrays packed as bytes in nestings of lists and dicts; or
``{"id", "error"}``.  It runs under Python 3.7 as well.
"""

import numpy as np

from tests.conformance.jobs import describe, pack
from tests.library.autodiff import control_flow_programs, control_flow_random
from tests.library.control_flow import tensor_array_programs


def packed(value):
    """Arrays in a nesting as plain Python."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, dict):
        return {key: packed(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [packed(item) for item in value]
    return {"array": pack(value)}


def fetch(session, fetches, feeds):
    """The values of those fetches that are there."""
    wanted = [f for f in fetches if f is not None]
    values = iter(session.run(wanted, feeds))
    return [None if f is None else next(values) for f in fetches]


def build_text(tf, source):
    """Builds a program from its text: feeds by name, and fetches."""
    scope = {}
    exec(compile(source, "<program>", "exec"), scope)
    feeds, fetches = scope["program"](tf)
    return feeds, [f if f is None else tf.convert_to_tensor(f) for f in fetches]


def run_text(tf, session, built, all_feeds):
    """What a program gives for each of its feeds in turn, and what its variables hold after."""
    placeholders, fetches = built
    variables = tf.global_variables()
    if variables:
        session.run([v.initializer for v in variables])
    found = []
    for feeds in all_feeds:
        given = {placeholders[name]: value for name, value in feeds.items()}
        found.append(fetch(session, fetches, given))
        if variables:
            found[-1] += session.run(variables)
    return found


def build_autodiff(tf, name):
    """A named program with gradients: fetches."""
    return control_flow_programs.dense(tf, control_flow_random.named(name)(tf))


def run_autodiff(tf, session, fetches):
    """The values of a named program."""
    graph = tf.get_default_graph()
    names = {op.name for op in graph.get_operations()}
    feeds = {k + ":0": v for k, v in control_flow_programs.FEEDS.items() if k in names}
    variables = tf.global_variables()
    if variables:
        session.run([v.initializer for v in variables])
    return fetch(session, fetches, feeds)


def run_graph(tf, session_of, job):
    """What a graph from a GraphDef gives for each of its feeds."""
    found = []
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(job["graph"]), name="")
        with session_of(tf) as session:
            session.run([graph.get_operation_by_name(name) for name in job["init"]])
            for feeds in job["feeds"]:
                found.append(fetch(session, job["fetches"], feeds))
    return found


def run_arrays(tf, session_of, job):
    """A case with TensorArrays."""
    run = {
        "sequences": tensor_array_programs.run_sequence,
        "gradients": tensor_array_programs.run_gradient,
        "functionals": tensor_array_programs.run_functionals,
    }[job["name"]]
    return jsonable(run(tf, session_of, job["number"]))


def jsonable(value):
    """Lists of numbers as arrays."""
    if isinstance(value, dict):
        return {key: jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        flat = np.array(value, dtype=object).ravel().tolist() if value else []
        if all(isinstance(item, (int, float)) for item in flat):
            return np.array(value, np.float64)
        return [jsonable(item) for item in value]
    return np.float64(value) if isinstance(value, (int, float)) else value


def run(tf, session_of, job):
    """The values of a job, not packed."""
    if job["kind"] == "graph":
        return run_graph(tf, session_of, job)
    if job["kind"] == "arrays":
        return run_arrays(tf, session_of, job)
    with tf.Graph().as_default():
        if job["kind"] == "text":
            built = build_text(tf, job["source"])
            with session_of(tf) as session:
                return run_text(tf, session, built, job["feeds"])
        fetches = build_autodiff(tf, job["name"])
        with session_of(tf) as session:
            return run_autodiff(tf, session, fetches)


def run_job(tf, session_of, job):
    """What a job gives, or its error; never raises."""
    try:
        return {"id": job["id"], "values": packed(run(tf, session_of, job))}
    except Exception as error:
        return {"id": job["id"], "error": describe(error, "run")}

"""Programs run by Penstock and by TensorFlow 1.15 alike: their nodes, values and errors compared.

A module of programs has ``PROGRAMS``: name -> function of the package (``tf``) that returns a list
of tensors, or that and a feed; and ``ERRORS``: name -> function that raises.  TensorFlow runs it as
a script that calls ``answer``, so this file and the module work under Python 3.7 as well.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from tests.peers import ROOT, TF115, needs

# ---- running -------------------------------------------------------------------------------------


def error_of(tf, function):
    """Type of the error that a program raises."""
    with tf.Graph().as_default():
        try:
            function(tf)
        except Exception as raised:
            return type(raised).__name__
        return None


def run(tf, function):
    """The nodes and values of a program; or why there are none."""
    try:
        return json.loads(json.dumps(_run(tf, function)))
    except Exception as raised:
        return {"error": f"{type(raised).__name__}: {str(raised)[:300]}"}


def _run(tf, function):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        made = function(tf)
        made, feed = made if isinstance(made, tuple) else (made, {})
        nodes = [_plain(op) for op in _needed(graph, made)]
        values = [np.asarray(v) for v in session.run(made, feed)]
    kinds = [[str(v.dtype), list(v.shape)] for v in values]
    parts = [[v.real.astype("float64").tolist(), v.imag.astype("float64").tolist()] for v in values]
    return {"nodes": nodes, "kinds": kinds, "values": parts}


def _needed(graph, made):
    """The operations that the tensors need, in order; TensorFlow leaves others behind as well."""
    waiting = [tensor.op for tensor in made]
    found = set()
    while waiting:
        op = waiting.pop()
        if op.name not in found:
            found.add(op.name)
            waiting += [t.op for t in op.inputs] + list(op.control_inputs)
    return [op for op in graph.get_operations() if op.name in found]


def _plain(op):
    """One operation as numbers and text."""
    shapes = [o.shape.as_list() if o.shape.ndims is not None else None for o in op.outputs]
    return [op.name, op.type, [i.name for i in op.inputs], [o.dtype.name for o in op.outputs],
            [c.name for c in op.control_inputs], shapes]  # fmt: skip


# ---- TensorFlow's side ---------------------------------------------------------------------------


def answer(programs, errors):
    """Runs all programs with TensorFlow, and writes what it finds to the file that is named."""
    import tensorflow
    from tensorflow.python.framework import ops

    def refuse(*_):
        raise TypeError("a tensor has no value yet")

    # TensorFlow 1.15 expects this error of lists that hold tensors; NumPy 1.20 raises another.
    ops.Tensor.__array__ = refuse
    found = {
        "programs": {k: run(tensorflow, v) for k, v in programs.items()},
        "errors": {k: error_of(tensorflow, v) for k, v in errors.items()},
    }
    Path(sys.argv[1]).write_text(json.dumps(found))


def ask(module, path):
    """What TensorFlow 1.15 finds, in one process; skips where it is absent."""

    needs(TF115)
    command = [str(TF115), "-m", module, str(path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return json.loads(path.read_text())


# ---- comparing -----------------------------------------------------------------------------------


def check(ours, theirs, *, nodes=True, shapes=True):
    """Asserts that nodes and values are the same; static shapes may say more than TensorFlow's.

    Args:
      ours, theirs: what ``run`` has found.
      nodes: whether nodes are compared.
      shapes: whether their static shapes are.
    """
    from tests.ops.tolerance import GRADIENT_FACTOR, difference

    assert "error" not in theirs, theirs
    assert "error" not in ours, ours
    if nodes:
        assert [n[:5] for n in ours["nodes"]] == [n[:5] for n in theirs["nodes"]]
    if nodes and shapes:
        for one, other in zip(ours["nodes"], theirs["nodes"]):
            agree = [_refines(a, b) for a, b in zip(one[5], other[5])]
            assert all(agree), (one, other)
    assert ours["kinds"] == theirs["kinds"]
    for kind, value, wanted in zip(ours["kinds"], ours["values"], theirs["values"]):
        dtype = {"float16": "half", "complex64": "float32"}.get(kind[0], kind[0])
        told = difference(np.array(wanted), np.array(value), dtype, factor=GRADIENT_FACTOR)
        assert told is None, told


def _refines(dims, vaguer):
    if vaguer is None:
        return True
    if dims is None or len(dims) != len(vaguer):
        return False
    return all(b is None or a == b for a, b in zip(dims, vaguer))

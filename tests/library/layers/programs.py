"""Programs of layers, run by Penstock and by TensorFlow 1.15 (Python 3.7): graphs and values.

A module of programs has ``PROGRAMS``: name -> function of the package that returns the tensors to
compare.  Open dims of placeholders are fed with 3 rows.
"""

import hashlib
import json
import sys

import numpy as np


def values(shape, seed=0):
    return np.random.RandomState(seed).uniform(-1, 1, shape).astype("float32")


# ---- what is compared ----------------------------------------------------------------------------

# The message of PreventGradient is a text of each project.
_HIDDEN = {"_output_shapes", "_gradient_op_type", "message"}


def _attrs(tf, node):
    found = {}
    for key in sorted(node.attr):
        if key in _HIDDEN:
            continue
        if key == "value" and node.op == "Const":
            # The same values have several forms as a message.
            array = tf.make_ndarray(node.attr[key].tensor)
            found[key] = repr(array.ravel()[:20].tolist()) + str(array.shape)
            continue
        text = node.attr[key].SerializeToString(deterministic=True)
        found[key] = hashlib.sha1(text).hexdigest()[:12]
    return found


def _collections(graph):
    found = {}
    for key in sorted(map(str, graph.get_all_collection_keys())):
        if key.startswith("__") or key in ("cond_context", "while_context"):
            continue
        found[key] = [getattr(item, "name", str(item)) for item in graph.get_collection(key)]
    return found


def _shape(tensor):
    return None if tensor.shape.ndims is None else tensor.shape.as_list()


def dump(tf, function, run=True):
    """Nodes, collections and, if asked, values of a program; or its error."""
    graph = tf.Graph()
    with graph.as_default():
        try:
            made = function(tf)
        except Exception as raised:
            return {"error": [type(raised).__name__, str(raised)[:200]]}
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        nodes = [
            [n.name, n.op, list(n.input), n.device, _attrs(tf, n)]
            for n in graph.as_graph_def().node
        ]
        found = {
            "nodes": nodes,
            "collections": _collections(graph),
            "outputs": [[t.name, t.dtype.name, _shape(t)] for t in made],
        }
        if not run:
            return json.loads(json.dumps(found))
        try:
            found["values"] = _values(tf, graph, made)
        except Exception as raised:
            found["failure"] = str(raised)[:300]
        return json.loads(json.dumps(found))


def _values(tf, graph, made):
    feed = {}
    for op in graph.get_operations():
        if op.type == "Placeholder":
            tensor = op.outputs[0]
            shape = [3 if d is None else d for d in tensor.shape.as_list()]
            if tensor.dtype.name == "float32":
                feed[tensor] = values(shape, 7)
            elif tensor.dtype.name == "bool":
                feed[tensor] = np.ones(shape, bool)
            else:
                feed[tensor] = np.random.RandomState(5).randint(0, 3, shape)
    with tf.Session(graph=graph) as session:
        # A session has no value of the random nodes in common with TensorFlow's.
        session.run(tf.global_variables_initializer())
        for index, variable in enumerate(tf.global_variables()):
            if variable.dtype.is_floating:
                given = values(variable.shape.as_list(), index) + 1.5
                variable.load(given, session)
        random = any("Random" in op.type or op.type == "TruncatedNormal" for op in _needed(made))
        found = session.run(made, feed)
        updates = [u for u in graph.get_collection("update_ops") if not random]
        session.run(updates, feed)
        found += session.run(tf.global_variables())
    if random:
        return [list(np.shape(v)) for v in found[: len(made)]]
    return [np.asarray(v, dtype="float64").ravel()[:40].tolist() for v in found]


def _needed(made):
    waiting, seen = [t.op for t in made], set()
    while waiting:
        op = waiting.pop()
        if op not in seen:
            seen.add(op)
            waiting += [t.op for t in op.inputs]
            waiting += list(op.control_inputs)
    return seen


def compared(ours, theirs):
    """What differs between two dumps: lines of text; none where they agree."""
    if "error" in ours or "error" in theirs:
        # TensorFlow's words come first, more may follow.
        kinds = [e.get("error", ["", ""])[0] for e in (ours, theirs)]
        words = [e.get("error", ["", ""])[1][:50] for e in (ours, theirs)]
        if kinds[0] == kinds[1] and words[0] == words[1]:
            return []
        return [f"ours {str(ours)[:300]}", f"theirs {str(theirs)[:300]}"]
    lines = []
    mine, wanted = ours["nodes"], theirs["nodes"]
    for a, b in zip(mine, wanted):
        if a != b:
            lines.append(f"node: ours {_less(a, b)} | theirs {_less(b, a)}")
    if len(mine) != len(wanted):
        lines.append(f"nodes: ours {len(mine)}, theirs {len(wanted)}")
        lines += [f"  more: {n[:3]}" for n in (mine[len(wanted) :] + wanted[len(mine) :])[:10]]
    for key in ("collections", "outputs"):
        if ours[key] != theirs[key]:
            lines.append(f"{key}: ours {ours[key]} | theirs {theirs[key]}")
    if "failure" in ours or "failure" in theirs:
        if "failure" not in theirs:
            lines.append(f"failure {ours['failure']}")
    elif not all(
        len(a) == len(b) and np.allclose(a, b, rtol=1e-4, atol=1e-5)
        for a, b in zip(ours["values"], theirs["values"])
    ):
        lines.append(f"values: ours {ours['values']} | theirs {theirs['values']}")
    return lines


def _less(node, other):
    attrs = {k: v for k, v in node[4].items() if other[4].get(k) != v}
    return node[:4] + [attrs]


def main(modules):
    import importlib

    import tensorflow
    from tensorflow.python.framework import ops

    def refuse(*_):
        raise TypeError("a tensor has no value yet")

    # TensorFlow 1.15 expects this error of lists that hold tensors; NumPy 1.20 raises another.
    ops.Tensor.__array__ = refuse
    found = {}
    for name in modules:
        module = importlib.import_module(name)
        for key, function in module.PROGRAMS.items():
            short = name.rpartition(".")[2].partition("_")[0]
            run = not hasattr(module, "GRAPHS_ALONE")
            found[f"{short}.{key}"] = dump(tensorflow, function, run=run)
    with open(sys.argv[1], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[2:])

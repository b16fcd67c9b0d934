"""Writes ``expected.json`` and ``expected_graphs.json``: what TensorFlow 1.15 computes and builds.

Run it with the Python of the TensorFlow 1.15 environment, from the root of the repository::

    .venv-tf115/bin/python tests/training/train/make_expected.py

The graphs are kept compactly: per program, one string with a node a line.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__))))
import programs
import tensorflow as tf


def styles():
    return (("ref", False), ("resource", True))


def main():
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    values = {"train": {}, "averages": {}, "schedules": {}}
    graphs = {"train": {}, "averages": {}, "schedules": {}}
    for style, use_resource in styles():
        for case in programs.optimizers(tf):
            key = case + "/" + style
            values["train"][key] = programs.train(tf, case, use_resource)
            graphs["train"][key] = programs.nodes(tf, case, use_resource, counted=True)
        graphs["train"]["sgd/" + style + "/uncounted"] = programs.nodes(
            tf, "sgd", use_resource, counted=False
        )
        lines, result = programs.averages(tf, use_resource)
        graphs["averages"][style], values["averages"][style] = lines, result
    for name in programs.schedules(tf):
        values["schedules"][name] = programs.schedule_values(tf, name)
        graphs["schedules"][name] = programs.schedule_nodes(tf, name)
    folder = os.path.dirname(os.path.abspath(__file__))
    for name, content in (("expected.json", values), ("expected_graphs.json", graphs)):
        with open(os.path.join(folder, name), "w") as out:
            json.dump(content, out, indent=1, sort_keys=True)
            out.write("\n")


if __name__ == "__main__":
    main()

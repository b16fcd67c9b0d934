"""Writes ``expected.json``: what TensorFlow 1.15 computes and builds for every program.

Run it with the Python of the TensorFlow 1.15 environment, from the root of the repository::

    .venv-tf115/bin/python tests/programs/make_expected.py [program ...]

Named programs are made again, the others kept.
"""

import json
import os
import sys

import tensorflow as tf

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import program  # noqa: E402

TARGET = os.path.join(HERE, "expected.json")


def main(chosen):
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    expected = {}
    if chosen and os.path.exists(TARGET):
        with open(TARGET) as file:
            expected = json.load(file)
    for name in chosen or program.names():
        expected[name] = program.run(tf, name)
    with open(TARGET, "w") as out:
        json.dump(expected, out, indent=0, sort_keys=True)
        out.write("\n")


if __name__ == "__main__":
    main(sys.argv[1:])

"""Writes what TensorFlow 1.15 makes of ``pipelines.py`` (graphs) and ``reading.py`` (values).

Run it with the Python of the TensorFlow 1.15 environment, from the root of the repository::

    .venv-tf115/bin/python tests/training/data/make_expected.py
"""

# Python 3.7 of TensorFlow 1.15 runs this too; closures are called at once.
# ruff: noqa: E402, UP031

import faulthandler
import json
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import pipelines
import reading
import tensorflow as tf


def main():
    faulthandler.dump_traceback_later(100, exit=True)
    tf.compat.v1.logging.set_verbosity(tf.compat.v1.logging.ERROR)
    graphs = {name: pipelines.describe(tf, name) for name in sorted(pipelines.GRAPHS)}
    values = {}
    for name in sorted(reading.PROGRAMS):
        values[name] = reading.run(tf, name, tempfile.mkdtemp())
    for kind, content in (("graphs", graphs), ("values", values)):
        with open(os.path.join(HERE, "expected_%s.json" % kind), "w") as out:
            json.dump(content, out, indent=1, sort_keys=True)
            out.write("\n")


if __name__ == "__main__":
    main()

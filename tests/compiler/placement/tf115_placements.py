"""Runs in TensorFlow 1.15: where it places each program's nodes, as JSON in the file named.

The placer's log goes to the C++ side's stderr, which is caught by its file descriptor; it needs
TF_CPP_MIN_LOG_LEVEL=0.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile

import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from programs import DEVICES, PROGRAMS

_LINE = re.compile(r"^\S+ \S+ I \S+ (\S+): \((\w+)\): (/job:localhost\S+)$")


def placed(name):
    """``{node: device}``, or ``{"error": [class, message]}``."""
    config = tf.ConfigProto(
        device_count={"CPU": DEVICES}, log_device_placement=True,
        allow_soft_placement="soft" in name,
    )  # fmt: skip
    saved = os.dup(2)
    with tf.Graph().as_default(), tempfile.TemporaryFile() as log:
        os.dup2(log.fileno(), 2)
        try:
            PROGRAMS[name](tf)
            probe = tf.no_op(name="probe")
            with tf.Session(config=config) as session:
                session.run(probe)
        except tf.errors.OpError as error:
            return {"error": [type(error).__name__, error.message]}
        finally:
            os.dup2(saved, 2)
            os.close(saved)
        log.seek(0)
        found = filter(None, map(_LINE.match, log.read().decode().splitlines()))
        return {match.group(1): match.group(3) for match in found}


with open(sys.argv[1], "w") as out:
    json.dump({name: placed(name) for name in PROGRAMS}, out)

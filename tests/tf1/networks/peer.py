"""TensorFlow 1.15's side: answers requests, a JSON line each, until there are no more.

``python -m tests.tf1.networks.peer``; a request is ``["observed" or "restored", network, path]``.
"""

import json
import os
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")

import tensorflow as tf  # noqa: E402
import tensorflow.contrib.slim.nets  # noqa: E402
from tensorflow.python.framework import ops  # noqa: E402

from tests.tf1.networks import observe  # noqa: E402
from tests.tf1.networks.all import NETWORKS  # noqa: E402


def _refuse(*_):
    raise TypeError("a tensor has no value yet")


# TensorFlow 1.15 expects this error of lists that hold tensors; NumPy 1.20 raises another.
ops.Tensor.__array__ = _refuse
tf.logging.set_verbosity(tf.logging.ERROR)
answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what layers print is no answer
for line in sys.stdin:
    what, name, path = json.loads(line)
    try:
        answer = getattr(observe, what)(tf, NETWORKS[name], path)
    except Exception as raised:
        answer = {"error": f"{type(raised).__name__}: {raised}"}
    answers.write(json.dumps(answer) + "\n")

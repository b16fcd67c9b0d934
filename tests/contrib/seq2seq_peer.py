"""Runs the decoders' cases in TensorFlow 1.15: ``python seq2seq_peer.py OUT CASE...``."""

import os
import pickle
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(here)))

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow.contrib  # noqa: E402

from tests.contrib import legacy_seq2seq_cases, seq2seq_cases  # noqa: E402, F401

_prod = np.prod


def prod(*args, **options):
    """TensorFlow 1.15 expects the error that older NumPy raised of symbolic tensors."""
    try:
        return _prod(*args, **options)
    except NotImplementedError as error:
        raise TypeError(str(error)) from error


np.prod = prod
tf.logging.set_verbosity(tf.logging.ERROR)
found = {}
for name in sys.argv[2:]:
    try:
        found[name] = seq2seq_cases.observe(tf, name)
    except Exception as error:  # a case that TensorFlow refuses is reported with its reason
        found[name] = {"error": repr(error)}
with open(sys.argv[1], "wb") as file:
    pickle.dump(found, file, protocol=2)

"""Runs cases in TensorFlow 1.15: ``python tf1_peer.py OUT MODULE CASE...`` writes a pickle."""

import os
import pickle
import sys
import warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
warnings.filterwarnings("ignore")
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(here))))

import importlib  # noqa: E402

import tensorflow as tf  # noqa: E402
import tensorflow.contrib  # noqa: E402

tf.logging.set_verbosity(tf.logging.ERROR)
out, names = sys.argv[1], sys.argv[3:]
module = importlib.import_module("tests.library.recurrent." + sys.argv[2])
found = {}
for name in names:
    try:
        found[name] = module.observe(tf, name)
    except Exception as error:  # a case that TensorFlow refuses is reported with its reason
        found[name] = {"error": repr(error)}
with open(out, "wb") as file:
    pickle.dump(found, file, protocol=2)

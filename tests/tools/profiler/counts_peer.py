"""The half of the comparison that runs in TensorFlow 1.15: prints the counts as JSON."""

import json
import os
import sys

import tensorflow as tf

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import models

found = {}
for name, build in models.MODELS.items():
    with tf.Graph().as_default() as graph:
        build(tf)
        found[name] = models.counts(tf, graph)
print("COUNTS " + json.dumps(found))

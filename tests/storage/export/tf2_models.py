"""TensorFlow 2's half of ``test_tf2_models``: SavedModels of ``tf.saved_model.save``."""

import json
import sys

import numpy as np
import tensorflow as tf


class Model(tf.Module):
    def __init__(self):
        super().__init__()
        self.w = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2), name="w")
        self.b = tf.Variable([0.5, -0.5], name="b")
        self.calls = tf.Variable(0, name="calls")

    @tf.function
    def inner(self, x):
        parts = tf.split(x, 3, axis=1)
        return parts[2] + parts[0], tf.matmul(x, self.w) + self.b

    @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
    def __call__(self, x):
        self.calls.assign_add(1)
        side, y = self.inner(x)
        return {"y": tf.nn.relu(y), "side": side, "calls": self.calls.read_value()}


model = Model()
x = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]], np.float32)
tf.saved_model.save(model, sys.argv[1], signatures=model.__call__)
results = [{k: v.numpy().tolist() for k, v in model(x).items()} for _ in range(2)]
print(json.dumps(results))

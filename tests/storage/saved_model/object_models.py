"""Objects that are saved and loaded by Penstock and both TensorFlows in the same words.

``python object_models.py save FOLDER`` writes a SavedModel of each, ``load FOLDER`` prints what the
functions of each give, as JSON; TensorFlow 1.15 runs it too, hence Python 3.7.
"""

import json
import os
import sys

import numpy as np

X = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, 4.0]], np.float32)


def made(tf, folder):
    """The objects by name, each with its signatures, or None."""

    def variable(value, name, **kwargs):
        return tf.Variable(np.array(value, np.float32), name=name, **kwargs)

    class Dense(tf.Module):
        def __init__(self, rows, columns):
            super(Dense, self).__init__()
            values = np.arange(rows * columns).reshape(rows, columns)
            self.w = variable(values / 7.0 - 0.5, "w")
            self.b = variable([0.1] * columns, "b")

        @tf.function
        def __call__(self, x, rectified=False):
            y = tf.matmul(x, self.w) + self.b
            return tf.nn.relu(y) if rectified else y

    class Net(tf.Module):
        def __init__(self):
            super(Net, self).__init__()
            self.layers = [Dense(3, 2), Dense(2, 2)]
            self.by_name = {"scale": variable(2.0, "scale"), "shift": variable(1.0, "shift")}
            self.steps = tf.Variable(0, name="steps", trainable=False, dtype=tf.int64)
            self.three = tf.constant(3.0)

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32, name="x")])
        def serve(self, x):
            for layer in self.layers:
                x = layer(x, rectified=True)
            return {"y": x * self.by_name["scale"], "z": x + self.three}

        @tf.function(input_signature=[])
        def step(self):
            self.steps.assign_add(1)
            self.steps.assign(self.steps * 2)
            return self.steps.read_value()

        @tf.function
        def nested(self, pair, scale=2.0, *, minus):
            return [pair["a"] * scale, pair["b"] - minus]

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def halve(self, x):
            n = tf.constant(0)
            while x > 1.0:
                x = x / 2.0
                n = n + 1
            if x > 0.75:
                x = x * 10.0
            return x, n

    net = Net()
    net.layers[0](tf.constant(X))
    net.layers[1](tf.constant(X[:, :2]), True)
    net.nested({"a": tf.constant([1.0]), "b": tf.constant([2, 3])}, minus=tf.constant(1))
    net.nested({"a": tf.constant([1.0]), "b": tf.constant([2, 3])}, 0.5, minus=tf.constant(1))

    root = tf.train.Checkpoint(v=variable([1.0, 2.0], "v"))
    root.add = tf.function(lambda x: x + root.v)
    concrete = root.add.get_concrete_function(tf.TensorSpec([2], tf.float32, name="x"))

    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write("one\ntwo\nthree\n")
    words = tf.Module()
    words.file = asset(tf, path)
    words.read = tf.function(lambda: tf.io.read_file(words.file.asset_path), input_signature=[])
    return {
        "net": (net, None),
        "root": (root, {"adding": concrete}),
        "words": (words, None),
    }


def asset(tf, path):
    """A file that is saved with an object."""
    if hasattr(tf.saved_model, "Asset"):
        return tf.saved_model.Asset(path)
    try:
        from tensorflow.python.training.tracking.tracking import TrackableAsset
    except ImportError:
        from penstock.python.training.tracking.tracking import TrackableAsset
    return TrackableAsset(path)


def called(tf, load, folder):
    """What the functions of the loaded objects give."""
    net = load(os.path.join(folder, "net"))
    x = tf.constant(X)
    found = [net.serve(x), net.serve(x=x), net.layers[0](x), net.layers[1](x[:, :2], True)]
    found += [net.step(), net.step(), net.steps, net.by_name["shift"]]
    pair = {"a": tf.constant([1.0]), "b": tf.constant([2, 3])}
    found += [net.nested(pair, minus=tf.constant(1)), net.nested(pair, 0.5, minus=tf.constant(1))]
    found += [net.halve(20.0), net.halve(tf.constant(0.8))]
    found.append(net.signatures["serving_default"](x=x) if net.signatures else None)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(net.layers[0](x) ** 2)
    found += tape.gradient(loss, [net.layers[0].w, net.layers[0].b])
    root = load(os.path.join(folder, "root"))
    found.append(root.add(tf.constant([1.0, 1.0])))
    found.append(root.signatures["adding"](x=tf.constant([3.0, 1.0])))
    root.v.assign([5.0, 5.0])
    found.append(root.add(tf.constant([1.0, 1.0])))
    words = load(os.path.join(folder, "words"))
    found.append(words.read())
    assert path_of(words.file).startswith(os.path.join(folder, "words", "assets"))
    return [plain(tf, one) for one in found]


def path_of(loaded):
    return getattr(loaded, "asset_path", loaded).numpy().decode()


def plain(tf, value):
    if isinstance(value, dict):
        return {k: plain(tf, v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(tf, v) for v in value]
    value = value.numpy() if hasattr(value, "numpy") else value
    if isinstance(value, bytes):
        return value.decode()
    return np.asarray(value).tolist()


def save_all(tf, folder):
    for name, (item, signatures) in made(tf, folder).items():
        tf.saved_model.save(item, os.path.join(folder, name), signatures=signatures)


def main(what, folder):
    import tensorflow as tf

    if tf.__version__.startswith("1."):
        tf.enable_v2_behavior()
    if what == "save":
        save_all(tf, folder)
    else:
        load = getattr(tf.saved_model, "load_v2", tf.saved_model.load)
        print(json.dumps(called(tf, load, folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])

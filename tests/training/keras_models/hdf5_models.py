"""A model in HDF5 files, written and read by Penstock and by TensorFlow 1.15 (Python 3.7).

``python hdf5_models.py save FOLDER`` writes ``model.h5`` and ``weights.h5`` and prints what the
model gives and three steps of its training; ``load FOLDER`` prints the same of what it reads.
"""

import json
import sys

import numpy as np

X = np.random.RandomState(0).normal(size=[16, 3]).astype("float32")
Y = np.random.RandomState(1).normal(size=[16, 2]).astype("float32")


def network(tf):
    layers = tf.keras.layers
    inputs = tf.keras.Input([3], name="given")
    h = layers.Dense(4, activation="relu", name="first")(inputs)
    h = layers.BatchNormalization(name="norm")(h)
    inner = tf.keras.Sequential([layers.Dense(3, input_shape=[4], name="in")], name="inner")
    return tf.keras.Model(inputs, layers.Dense(2, name="last")(inner(h)))


def save(tf, folder):
    model = network(tf)
    model.compile(tf.keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    model.fit(X, Y, epochs=3, verbose=0, shuffle=False)
    model.reset_metrics()
    model.save(folder + "/model.h5")
    model.save_weights(folder + "/weights.h5")
    return found(model)


def load(tf, folder):
    other = network(tf)
    other.load_weights(folder + "/weights.h5")
    result = found(tf.keras.models.load_model(folder + "/model.h5"))
    np.testing.assert_allclose(other.predict(X), result[0], rtol=1e-4, atol=1e-5)
    return result


def found(model):
    """What it gives before three steps is what both must agree on, and so are the steps."""
    before = model.predict(X).tolist()
    steps = [[float(v) for v in model.train_on_batch(X, Y)] for _ in range(3)]
    return [before] + steps


def read_as_bytes():
    """TensorFlow 1.15 expects of h5py what h5py gave before version 3."""
    import h5py

    given = h5py.AttributeManager.__getitem__

    def get(self, name):
        value = given(self, name)
        if isinstance(value, np.ndarray) and value.dtype == object:
            return [x.encode() if isinstance(x, str) else x for x in value]
        return value.encode() if isinstance(value, str) else value

    h5py.AttributeManager.__getitem__ = get


if __name__ == "__main__":
    import tensorflow

    read_as_bytes()
    print(json.dumps({"save": save, "load": load}[sys.argv[1]](tensorflow, sys.argv[2])))

"""Programs of Keras whose samples, steps or outputs count differently: masks, weights, classes.

They run with TensorFlow 1.15 and with Penstock alike; ``told_golden.json`` has what TensorFlow
1.15 has returned.
"""

import os
import tempfile

import numpy as np

RNG = np.random.RandomState(0)
WORDS = np.array([[1, 2, 0], [3, 0, 0], [1, 1, 2]])
SEQUENCES = RNG.rand(3, 3, 1).astype("f")
MARKS = RNG.randint(0, 2, (3, 3, 1)).astype("f")
OF_STEPS = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.5]])
OF_SAMPLES = np.array([1.0, 2.0, 3.0])


def reader(tf, activation=None, masked=True, sequences=True):
    """Words to a number, for each word or for all."""
    layers, same = tf.keras.layers, tf.keras.initializers.Constant(0.3)
    return tf.keras.Sequential([
        layers.Embedding(5, 2, mask_zero=masked, embeddings_initializer=same, input_length=3),
        layers.SimpleRNN(
            2, return_sequences=sequences, kernel_initializer=same, recurrent_initializer=same
        ),
        layers.Dense(1, kernel_initializer=same, activation=activation, name="d"),
    ])  # fmt: skip


def evaluated(model, x, y, weights=None, **compiled):
    """Names of what is told, and the values over two batches."""
    model.compile("sgd", compiled.pop("loss", "mse"), **compiled)
    found = model.evaluate(x, y, sample_weight=weights, verbose=0, batch_size=2)
    return [model.metrics_names, found]


def trained(tf, model, x, y, weights=None, fit=None, **compiled):
    """What two epochs tell."""
    model.compile(tf.keras.optimizers.SGD(0.1), compiled.pop("loss", "mse"), **compiled)
    history = model.fit(
        x, y, sample_weight=weights, verbose=0, epochs=2, shuffle=False, batch_size=2, **(fit or {})
    )
    return [model.metrics_names, history.history]


def refused(function):
    try:
        function()
    except ValueError as error:
        return str(error)[:60]
    return None


def two_outputs(tf, weights=None, **compiled):
    """Of a model with two outputs."""
    layers, same = tf.keras.layers, tf.keras.initializers.Constant(0.3)
    given = tf.keras.Input([3])
    outputs = [layers.Dense(n, name=name, kernel_initializer=same)(given)
               for n, name in ((1, "a"), (2, "b"))]  # fmt: skip
    x = np.arange(9.0).reshape(3, 3) / 9
    model = tf.keras.Model(given, outputs)
    return evaluated(model, x, [np.ones((3, 1)), np.ones((3, 2))], weights, **compiled)


def nested(tf, outer_loss="mse"):
    """A model that masks, as a layer of another."""
    inner = reader(tf)
    given = tf.keras.Input([3], dtype="int32")
    outer = tf.keras.Model(given, inner(given))
    return evaluated(outer, WORDS, SEQUENCES, loss=outer_loss, metrics=["mae"])


def masking_layer(tf):
    layers, same = tf.keras.layers, tf.keras.initializers.Constant(0.3)
    given = tf.keras.Input([3, 2])
    kept = layers.Masking(9.0)(given)
    both = layers.TimeDistributed(layers.Dense(1, kernel_initializer=same))(kept)
    x = np.arange(18.0).reshape(3, 3, 2) / 9
    x[0, 1] = x[2, 0] = 9.0
    return trained(tf, tf.keras.Model(given, both), x, SEQUENCES, metrics=["mae"])


def kept(tf):
    """How a model was compiled, in a file and out of it."""
    path = os.path.join(tempfile.mkdtemp(), "model")
    layers, same = tf.keras.layers, tf.keras.initializers.Constant(0.3)
    model = tf.keras.Sequential([layers.Dense(1, input_shape=[2], kernel_initializer=same)])
    x, y = np.arange(6.0).reshape(3, 2) / 6, np.ones((3, 1))
    told = trained(tf, model, x, y, OF_SAMPLES, weighted_metrics=["mae"])
    model.save(path, save_format="tf")
    again = tf.keras.models.load_model(path)
    return [told, again.metrics_names, again.evaluate(x, y, sample_weight=OF_SAMPLES, verbose=0)]


def of_steps(tf, **compiled):
    return evaluated(
        reader(tf, masked=False), WORDS, SEQUENCES, OF_STEPS, sample_weight_mode="temporal",
        **compiled,
    )  # fmt: skip


PROGRAMS = {
    "masked": lambda tf: evaluated(reader(tf), WORDS, SEQUENCES, metrics=["mae"]),
    "masked_not": lambda tf: evaluated(reader(tf, masked=False), WORDS, SEQUENCES),
    "masked_marks": lambda tf: evaluated(
        reader(tf, "sigmoid"), WORDS, MARKS, loss="binary_crossentropy", metrics=["accuracy"]
    ),
    "masked_inside": lambda tf: evaluated(
        reader(tf, sequences=False), WORDS, SEQUENCES[:, 0], metrics=["mae"]
    ),
    "masked_and_weighed": lambda tf: evaluated(reader(tf), WORDS, SEQUENCES, OF_SAMPLES),
    "masked_nested": nested,
    "masked_by_value": masking_layer,
    "masked_training": lambda tf: trained(tf, reader(tf), WORDS, SEQUENCES, metrics=["mae"]),
    "steps": of_steps,
    "steps_and_metrics": lambda tf: of_steps(tf, metrics=["mae", "mse"], weighted_metrics=["mae"]),
    "steps_masked": lambda tf: evaluated(
        reader(tf), WORDS, SEQUENCES, OF_STEPS, sample_weight_mode={"d": "temporal"}
    ),
    "steps_training": lambda tf: trained(
        tf, reader(tf), WORDS, SEQUENCES, OF_STEPS, sample_weight_mode=["temporal"],
        weighted_metrics=["mae"], fit={"validation_data": (WORDS, SEQUENCES, OF_STEPS)},
    ),
    "steps_split": lambda tf: trained(
        tf, reader(tf), WORDS, SEQUENCES, OF_STEPS, sample_weight_mode="temporal",
        metrics=["mse"], fit={"validation_split": 0.34},
    ),
    "weighted_metrics": lambda tf: evaluated(
        reader(tf, "sigmoid", sequences=False), WORDS, MARKS[:, 0], OF_SAMPLES,
        loss="binary_crossentropy", metrics=["acc"],
        weighted_metrics=["accuracy", tf.keras.metrics.BinaryAccuracy()],
    ),
    "weighted_metrics_by_class": lambda tf: trained(
        tf, reader(tf, sequences=False), WORDS, MARKS[:, 0], weighted_metrics=["mae"],
        fit={"class_weight": {0: 1.0, 1: 5.0}},
    ),
    "outputs": lambda tf: two_outputs(
        tf, [np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.0, 3.0])],
        weighted_metrics=[["mae"], ["mse"]],
    ),
    "outputs_by_name": lambda tf: two_outputs(
        tf, {"a": OF_SAMPLES}, metrics=["mae"], weighted_metrics={"b": ["mae"]}
    ),
    "kept": kept,
    "refused": lambda tf: [refused(one) for one in (
        lambda: evaluated(reader(tf), WORDS, SEQUENCES, OF_STEPS),
        lambda: evaluated(
            reader(tf), WORDS, SEQUENCES, OF_SAMPLES, sample_weight_mode="temporal"),
        lambda: evaluated(
            reader(tf, sequences=False), WORDS, SEQUENCES[:, 0], sample_weight_mode="temporal"),
        lambda: evaluated(reader(tf), WORDS, SEQUENCES, sample_weight_mode={"z": "temporal"}),
        lambda: evaluated(reader(tf), WORDS, SEQUENCES, weighted_metrics={"z": "mae"}),
        lambda: evaluated(reader(tf), WORDS, SEQUENCES, OF_SAMPLES[:2]),
        lambda: two_outputs(tf, [OF_SAMPLES]),
        lambda: two_outputs(tf, sample_weight_mode=["temporal", None]),
        lambda: two_outputs(tf, loss=["mse", None]),
    )],
}  # fmt: skip

"""Models of Keras as SavedModels and in checkpoints, their optimizers with them (``recorded``)."""

import os
import tempfile

import numpy as np

from tests.contrib.recorded import refused

X = np.arange(8.0).reshape(2, 4).astype("float32") / 8
Y = np.ones((2, 2), "float32")


def _model(tf, optimizer="adam"):
    keras = tf.keras
    model = keras.Sequential(
        [
            keras.layers.Dense(3, "relu", input_shape=(4,), name="hidden"),
            keras.layers.Dense(2, name="y"),
        ]
    )
    model.set_weights(
        [np.full(w.shape, 0.1 * (i + 1), "float32") for i, w in enumerate(model.get_weights())]
    )
    if optimizer is not None:
        model.compile(optimizer, "mse", metrics=["mae"])
    return model


def _fit(model):
    model.fit(X, Y, epochs=1, verbose=0)
    return model


def _keys(tf, path):
    return [name for name, _ in tf.train.list_variables(path)]


def _of_graphs(tf, folder):
    """Tags, signatures, and what the signatures give, of each graph of a SavedModel."""
    found = []
    for tag in ("train", "eval", "serve"):
        with tf.Session(graph=tf.Graph()) as session:
            meta = tf.saved_model.load(session, [tag], folder)
            key = "serving_default" if tag == "serve" else tag
            signature = meta.signature_def[key]
            feed = {signature.inputs["hidden_input"].name: X}
            if tag != "serve":
                feed[signature.inputs["y_target"].name] = Y
            outputs = sorted(signature.outputs)
            first = [k for k in outputs if not k.endswith("/value")]
            values = session.run([signature.outputs[k].name for k in first], feed)
            shown = [v for k, v in zip(first, values) if not k.endswith("update_op")]
            found.append([tag, signature.method_name, sorted(signature.inputs), outputs, shown])
            found.append([t.name for t in tf.trainable_variables()])
    return found


def case_saved_keras_model(tf):
    model = _fit(_model(tf))
    folder = os.path.join(tempfile.mkdtemp(), "model")
    tf.contrib.saved_model.save_keras_model(model, folder)
    loaded = tf.contrib.saved_model.load_keras_model(folder)
    found = [os.path.exists(os.path.join(folder, "assets", "saved_model.json"))]
    found.append(_keys(tf, os.path.join(folder, "variables", "variables")))
    found += [loaded.name, loaded.optimizer is None, loaded.predict(X), model.predict(X)]
    found.append(refused(lambda: tf.keras.experimental.export_saved_model(model, folder)))
    return found + _of_graphs(tf, folder)


def case_saved_for_serving_only(tf):
    model = _fit(_model(tf))
    folder = os.path.join(tempfile.mkdtemp(), "model")
    tf.keras.experimental.export_saved_model(model, folder, serving_only=True)
    loaded = tf.keras.experimental.load_from_saved_model(folder)
    found = [loaded.predict(X)]
    with tf.Session(graph=tf.Graph()) as session:
        signature = tf.saved_model.load(session, ["serve"], folder).signature_def["serving_default"]
        feed = {signature.inputs["hidden_input"].name: X}
        found.append(session.run(signature.outputs["y"].name, feed))
    return found


def case_what_cannot_be_saved(tf):
    save = tf.keras.experimental.export_saved_model

    class Own(tf.keras.Model):
        def call(self, inputs):
            return inputs

    folder = tempfile.mkdtemp()
    open_model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
    return [
        refused(lambda: save(Own(), folder + "/own"), "serving_only=True"),
        refused(lambda: save(open_model, folder + "/open"), "not yet been created"),
    ]


def case_weights_with_the_optimizer(tf):
    folder = tempfile.mkdtemp()
    found = []
    for name, optimizer in (
        ("adam", "adam"), ("rms", "rmsprop"), ("sgd", tf.keras.optimizers.SGD(0.1, momentum=0.9)),
        ("train", tf.train.AdamOptimizer(0.01)),
    ):  # fmt: skip
        path = os.path.join(folder, name)
        model = _model(tf, optimizer)
        model.save_weights(path + "0", save_format="tf")
        _fit(model).save_weights(path, save_format="tf")
        found += [_keys(tf, path + "0"), _keys(tf, path)]
    return found


def case_training_goes_on_after_loading_weights(tf):
    path = os.path.join(tempfile.mkdtemp(), "weights")
    model = _fit(_fit(_model(tf)))
    model.save_weights(path, save_format="tf")
    other = _model(tf)
    other.load_weights(path)
    found = [other.get_weights()]
    _fit(other), _fit(model)
    found += [model.get_weights(), other.get_weights()]
    return found + [int(tf.keras.backend.get_value(other.optimizer.iterations))]


def case_checkpoint_of_model_and_optimizer(tf):
    path = os.path.join(tempfile.mkdtemp(), "checkpoint")
    optimizer = tf.keras.optimizers.Adam(0.1)
    model = _fit(_model(tf, optimizer))
    with tf.keras.backend.get_session().as_default():
        tf.train.Checkpoint(model=model, optimizer=optimizer).write(path)
    return _keys(tf, path)


def case_estimator_of_a_trained_model(tf):
    """The optimizer is asked for its settings where it was trained."""
    model = _fit(_model(tf, tf.keras.optimizers.SGD(np.float32(0.5))))
    estimator = tf.keras.estimator.model_to_estimator(model)

    def input_fn():
        return {"hidden_input": tf.constant(X)}, tf.constant(Y)

    estimator.train(input_fn, steps=1)
    found = estimator.evaluate(input_fn, steps=1)
    return [found["loss"], estimator.get_variable_value("hidden/kernel")]

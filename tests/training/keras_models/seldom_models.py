"""Programs of Keras with what models seldom need: tensors as data, constraints, whole models.

They run with TensorFlow 1.15 and with Penstock alike, as graphs and eagerly; ``told_golden.json``
has what TensorFlow 1.15 has returned.
"""

import functools
import os
import tempfile

import numpy as np

from tests.training.keras_models.between_programs import CLASSES, X, Y, constant
from tests.training.keras_models.seldom_layers import fed, patterned, refused, rounded


def linear(tf, **more):
    """A model of one layer with known weights."""
    layer = tf.keras.layers.Dense(1, kernel_initializer=constant(tf, 0.2), input_shape=[4], **more)
    return tf.keras.Sequential([layer])


def compiled(tf, metrics=None, **more):
    model = linear(tf, **more)
    model.compile("sgd", "mse", metrics=metrics)
    return model


def radial(tf):
    made = []
    for size in (2, 3, 4, 5, 6):
        kernel = tf.constant(fed([size, size, 1, 2]))
        made.append(tf.keras.backend.get_value(tf.keras.constraints.RadialConstraint()(kernel)))
    layer = tf.keras.layers.Conv2D(2, 4, kernel_constraint="radial_constraint")
    model = tf.keras.Sequential([tf.keras.layers.InputLayer([5, 5, 1]), layer])
    model.set_weights(patterned(model.get_weights()))
    model.compile("sgd", "mse")
    x = fed([2, 5, 5, 1])
    made += [model.train_on_batch(x, np.ones([2, 2, 2, 2])), model.get_weights()[0]]
    found = tf.keras.constraints.serialize(tf.keras.constraints.get("radial_constraint"))
    wrong = refused(lambda: tf.keras.constraints.RadialConstraint()(tf.ones([3, 3, 2])))
    return rounded([made, found, wrong])


def means_of_batches(tf):
    logger = tf.keras.callbacks.BaseLogger(stateful_metrics=["mean"])
    logger.set_params({"metrics": ["loss", "mean", "other"]})
    logger.on_epoch_begin(0)
    for batch, loss in enumerate([1.0, 4.0, 2.0]):
        logger.on_batch_end(batch, {"size": 4 - batch, "loss": loss, "mean": loss, "batch": batch})
    logs = {}
    logger.on_epoch_end(0, logs)
    return [logs, logger.seen]


def rows_of_a_file(tf):
    import h5py

    path = os.path.join(tempfile.mkdtemp(), "rows.h5")
    with h5py.File(path, "w") as file:
        file["x"], file["y"] = X, Y
    matrix = tf.keras.utils.HDF5Matrix
    x, y = matrix(path, "x"), matrix(path, "y")
    part = matrix(path, "x", start=2, end=8, normalizer=lambda rows: rows * 2.0)
    model = compiled(tf)
    found = [
        model.fit(x, y, batch_size=5, epochs=2, shuffle=False, verbose=0).history,
        model.evaluate(x, y, verbose=0), model.predict(part), model.predict(x, batch_size=4),
        list(part.shape), part.ndim, int(part.size), len(part), part.dtype.name, part[1], part[1:3],
        part[[0, 2]], part[np.array([1, 3])],
    ]  # fmt: skip
    return [rounded(found), [refused(one)[0] for one in (
        lambda: part[7], lambda: part[2:7], lambda: part[[0, 6]], lambda: matrix(path, "z"),
    )]]  # fmt: skip


def turned_kernels(tf):
    layers = tf.keras.layers
    model = tf.keras.Sequential([
        layers.Conv2D(2, (2, 3), input_shape=[5, 5, 1]), layers.Conv2DTranspose(1, 2),
        layers.Flatten(), layers.Dense(1),
    ])  # fmt: skip
    model.set_weights(patterned(model.get_weights()))
    tf.keras.utils.convert_all_kernels_in_model(model)
    return model.get_weights()


def many_gpus(tf):
    """Without any: what is refused."""
    if tf.executing_eagerly():
        return None
    model, several = linear(tf), tf.keras.utils.multi_gpu_model
    return [refused(one) for one in (
        lambda: several(model, 1), lambda: several(model, [0]), lambda: several(model, 99),
    )]  # fmt: skip


def drawn(tf):
    """Without what draws."""
    model = linear(tf)
    return [refused(one) for one in (
        lambda: tf.keras.utils.model_to_dot(model), lambda: tf.keras.utils.plot_model(model),
    )]  # fmt: skip


def estimators(tf):
    """Models as estimators of scikit-learn."""
    keras = tf.keras
    wrappers = keras.wrappers.scikit_learn

    def told(rate=0.1, units=3, loss="categorical_crossentropy", activation="softmax"):
        model = keras.Sequential([keras.layers.Dense(
            units, activation, kernel_initializer=constant(tf, 0.1), input_shape=[4]
        )])  # fmt: skip
        model.compile(keras.optimizers.SGD(rate), loss, metrics=["accuracy"])
        return model

    class Built:
        def __call__(self, rate=0.5):
            return told(rate)

    class Own(wrappers.KerasClassifier):
        def __call__(self, units=3):
            return told(0.2, units)

    found = []
    names = np.array(["a", "b", "c"])[CLASSES]
    options = {"epochs": 3, "verbose": 0, "batch_size": 6, "shuffle": False}
    for made in (
        wrappers.KerasClassifier(told, rate=0.3, **options),
        wrappers.KerasClassifier(Built(), **options), Own(**options),
        wrappers.KerasClassifier(told, loss="sparse_categorical_crossentropy", **options),
    ):  # fmt: skip
        history = made.fit(X, names)
        found.append([
            history.history["loss"], made.predict(X).tolist(), made.predict_proba(X),
            made.score(X, names), made.n_classes_, sorted(made.get_params()),
        ])  # fmt: skip
    binary = wrappers.KerasClassifier(
        told, units=1, loss="binary_crossentropy", activation="sigmoid", **options
    )
    binary.fit(X, CLASSES > 0, epochs=1)
    found.append([binary.predict(X).tolist(), binary.predict_proba(X)])
    regressor = wrappers.KerasRegressor(told, units=1, loss="mse", activation=None, **options)
    regressor.fit(X, Y)
    found.append([regressor.predict(X), regressor.score(X, Y)])
    plain = wrappers.KerasClassifier(lambda: compiled(tf), **options)
    plain.fit(X, CLASSES)
    return [rounded(found), [refused(one) for one in (
        lambda: wrappers.KerasClassifier(told, other=2),
        lambda: wrappers.KerasClassifier(told).set_params(other=2),
        lambda: wrappers.KerasClassifier(told).fit(X, np.zeros([12, 2, 2])),
        lambda: plain.score(X, CLASSES),
        lambda: wrappers.KerasClassifier(),
    )]]  # fmt: skip


def given_tensors(tf):
    """What a step computes as the data of a model."""
    if tf.executing_eagerly():
        model = compiled(tf)
        history = model.fit(
            tf.constant(X), tf.constant(Y), batch_size=4, shuffle=False, epochs=2, verbose=0
        )
        return [history.history, model.evaluate(tf.constant(X), tf.constant(Y), verbose=0)]
    x, y = tf.constant(X) * 2.0, tf.constant(Y)
    model = compiled(tf, ["mae"])
    found = [
        model.fit(x, y, steps_per_epoch=2, epochs=2, verbose=0).history,
        model.evaluate(x, y, steps=3, verbose=0), model.predict(x, steps=2),
        model.fit([x], [y], steps_per_epoch=1, verbose=0).history,
        model.fit(X, Y, validation_data=(x, y), validation_steps=2, verbose=0,
                  shuffle=False).history,
        model.fit(x, y, steps_per_epoch=1, validation_data=(x, y), validation_steps=1,
                  verbose=0).history,
        model.train_on_batch(x, y), model.test_on_batch(x, y), model.predict_on_batch(x),
    ]  # fmt: skip
    return [rounded(found), [refused(one) for one in (
        lambda: model.fit(x, y, verbose=0),
        lambda: model.fit(x, y, batch_size=2, verbose=0),
        lambda: model.evaluate(x, y, verbose=0),
        lambda: model.predict(x),
        lambda: model.fit(x, y, steps_per_epoch=1, validation_data=(x, y), verbose=0),
    )]]  # fmt: skip


def validated_otherwise(tf):
    """Arrays to train on and a dataset to validate on."""
    data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    model = compiled(tf)
    found = [model.fit(X, Y, validation_data=data, shuffle=False, verbose=0).history]
    more = {"validation_data": data.repeat(), "validation_steps": 2}
    return found + [model.fit(X, Y, shuffle=False, verbose=0, **more).history]


def eagerly(tf):
    """Whether steps run call by call."""
    model = linear(tf)
    found = [model.run_eagerly]
    model.compile("sgd", "mse")
    found.append(model.run_eagerly)
    model.run_eagerly = True
    found.append(refused(lambda: model.run_eagerly))
    model.run_eagerly = False
    found.append(model.run_eagerly)
    asked = compiled(tf)
    found.append(refused(lambda: asked.compile("sgd", "mse", run_eagerly=True)))
    model.run_eagerly = None
    tf.config.experimental_run_functions_eagerly(True)
    found.append(model.run_eagerly)
    tf.config.experimental_run_functions_eagerly(False)
    return found


def weights_of_samples(tf):
    if tf.executing_eagerly():  # where TensorFlow makes tensors of a graph beside it
        return None
    model = compiled(tf)
    found = [[one is None for one in model.sample_weights]]
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    found.append([one is None for one in model.sample_weights])
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y, sample_weight=np.ones([12]))
    return found + [[one is None for one in model.sample_weights]]


def to_come(tf):
    """Weights that are asked for before there are any."""
    keras = tf.keras

    class Built(keras.Model):
        def __init__(self):
            super().__init__(name="built")
            self.last = keras.layers.Dense(1)

        def build(self, shape):
            self.more = self.add_weight("more", shape=[2])
            super().build(shape)

        def call(self, inputs):
            return self.last(inputs)

    class Plain(keras.Model):
        def __init__(self):
            super().__init__(name="plain")
            self.last = keras.layers.Dense(1)

        def call(self, inputs):
            return self.last(inputs)

    empty = keras.Sequential([keras.layers.Dense(1)], name="empty")
    outer = keras.Sequential([keras.Sequential([keras.layers.Dense(1)], name="inner")], name="o")
    found = []
    asked = [
        lambda one: one.weights, lambda one: one.trainable_weights,
        lambda one: one.non_trainable_weights, lambda one: one.get_weights(),
        lambda one: one.count_params(), lambda one: one.summary(print_fn=lambda _: None),
        lambda one: one.save_weights("/nowhere/weights.h5"),
    ]  # fmt: skip
    for model in (keras.Sequential(name="none"), empty, Built(), outer):
        found.append([refused(functools.partial(ask, model)) for ask in asked])
    found.append([refused(functools.partial(ask, Plain())) for ask in asked[:-1]])
    empty.build([None, 2])
    outer.build([None, 3])
    found.append([[one.shape.as_list() for one in model.weights] for model in (empty, outer)])
    return found


def wrong_inputs(tf):
    given, layer = tf.keras.Input, tf.keras.layers.InputLayer
    value = tf.constant([[1.0]])
    made = [
        given(batch_shape=[3, 4]).shape.as_list(),
        given(batch_input_shape=(None, 2)).shape.as_list(),
        given(shape=(), batch_shape=(2, 3)).shape.as_list(),
        given(shape=[2], batch_size=5).shape.as_list(),
        given(batch_shape=[3, 4], batch_size=5).shape.as_list(),
        given(batch_shape=[], shape=[4]).shape.as_list(), given([2], dtype="int32").dtype.name,
    ]  # fmt: skip
    errors = [refused(one) for one in (
        lambda: given(shape=[2], batch_shape=[3, 4]),
        lambda: given(shape=[2], batch_input_shape=[3, 4]),
        lambda: given(), lambda: given(batch_size=3), lambda: given([2], other=3),
        lambda: given([2], sparse=True, ragged=True), lambda: layer([2], other=3),
        lambda: layer([2], batch_input_shape=[3, 4]),
        lambda: given(tensor=value, dtype="int32"),
        lambda: tf.keras.Sequential([layer([2], input_dim=3)]),
    )]  # fmt: skip
    if tf.executing_eagerly():
        errors.append(refused(lambda: given(tensor=value)))
    return [made, errors]


def nothing(tf):
    """No samples, and batches of none."""
    model = compiled(tf)
    none = X[:0], Y[:0]
    found = [refused(one) for one in (
        lambda: model.fit(*none, verbose=0), lambda: model.evaluate(*none, verbose=0),
        lambda: model.fit(X, Y, batch_size=0, verbose=0),
        lambda: model.evaluate(X, Y, batch_size=0, verbose=0),
        lambda: model.predict(X, batch_size=0),
    )]  # fmt: skip
    # The words of most tell nothing: TensorFlow's are those of what breaks.
    return [one[0] for one in found] + [refused(lambda: model.predict(none[0]))[0]]


def early_ends(tf):
    """Data that ends before its epochs do."""

    def batches():
        for _ in range(3):
            yield X[:4], Y[:4]

    found = [compiled(tf).fit_generator(batches(), steps_per_epoch=2, epochs=4, verbose=0).history]
    if not tf.executing_eagerly():
        data = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
        x, y = data.make_one_shot_iterator().get_next()
        found.append(compiled(tf).fit(x, y, steps_per_epoch=2, epochs=4, verbose=0).history)
    return found


def step_by_step(tf):
    """Batches of a subclass, whose inputs are those of the first."""

    class Plain(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.last = tf.keras.layers.Dense(1, kernel_initializer=constant(tf, 0.2))

        def call(self, inputs):
            return self.last(inputs)

    model = Plain()
    model.compile("sgd", "mse")
    found = [model.train_on_batch(X, Y) for _ in range(3)]
    found += [model.test_on_batch(X, Y), np.array(model.predict_on_batch(X[:2])), model.predict(X)]
    return found + [[one.name for one in model.weights]]


def linear_models(tf):
    keras, same = tf.keras, constant(tf, 0.2)
    one = keras.experimental.LinearModel
    found = []
    for model, x in (
        (one(kernel_initializer=same), X),
        (one(2, "tanh", kernel_initializer=same, kernel_regularizer="l2"), [X, X[:, :2]]),
        (one(use_bias=False, kernel_initializer=same, name="free"), X),
    ):  # fmt: skip
        model.compile("sgd", "mse", metrics=["mae"])
        history = model.fit(x, Y, epochs=2, batch_size=4, shuffle=False, verbose=0).history
        names = [[weight.name, weight.shape.as_list()] for weight in model.weights]
        config = {k: v for k, v in model.get_config().items() if "initializer" not in k}
        config.pop("dtype")
        again = type(model).from_config(model.get_config())
        found.append([history, names, config, again.units, model.predict(x)])
    return found


def wide_and_deep(tf):
    keras, same = tf.keras, constant(tf, 0.2)
    found = []
    for optimizer in ("sgd", ["sgd", "adam"]):
        wide = keras.experimental.LinearModel(kernel_initializer=same)
        deep = keras.Sequential([
            keras.layers.Dense(3, "relu", kernel_initializer=same),
            keras.layers.Dense(1, kernel_initializer=same),
        ])  # fmt: skip
        model = keras.experimental.WideDeepModel(wide, deep, "sigmoid")
        model.compile(optimizer, "mse", metrics=["mae"])
        x = X if optimizer == "sgd" else [X, X[:, :2]]
        history = model.fit(x, Y, epochs=2, batch_size=4, shuffle=False, verbose=0).history
        names = [[weight.name, weight.shape.as_list()] for weight in model.weights]
        if tf.executing_eagerly():  # where TensorFlow counts in two graphs
            names = [shape for _, shape in names]
        found.append([history, names, model.predict(x), model.evaluate(x, Y, verbose=0)])
    return rounded(found) + [keras.experimental.terminate_keras_multiprocessing_pools()]


def sequences_of_columns(tf):
    column = tf.feature_column.sequence_numeric_column("a")
    rows = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
    made, lengths = tf.keras.experimental.SequenceFeatures([column])({"a": rows})
    return [tf.keras.backend.get_value(made), tf.keras.backend.get_value(lengths)]


PROGRAMS = {
    one.__name__: one
    for one in (
        radial, means_of_batches, rows_of_a_file, turned_kernels, many_gpus, drawn, estimators,
        given_tensors, validated_otherwise, eagerly, weights_of_samples, to_come, wrong_inputs,
        nothing, step_by_step, early_ends, linear_models, wide_and_deep, sequences_of_columns,
    )
}  # fmt: skip

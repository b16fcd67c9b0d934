"""Keras 2.3: what its layers, losses, callbacks and files make, from equal weights and data."""

import csv
import glob
import json
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import backend as K, layers as L, models, optimizers, regularizers

ANSWERS = {}


def fresh(seed=0):
    """A new graph, and numbers for it.

    Keras 2.3's Adam reads ``iterations`` in the step that counts it up, in no order: one thread
    makes TensorFlow take the same one each time.
    """
    K.clear_session()
    K.set_session(tf.Session(config=tf.ConfigProto(inter_op_parallelism_threads=1)))
    return np.random.RandomState(seed)


def give_weights(model, numbers):
    """The same values in both, whatever initializers draw."""
    model.set_weights([0.3 * numbers.randn(*w.shape) if w.ndim else w for w in model.get_weights()])
    for layer in model.layers:
        if isinstance(layer, L.BatchNormalization):
            size = layer.get_weights()[0].shape
            layer.set_weights([np.ones(size), np.zeros(size), np.zeros(size), np.ones(size)])


def plain(values):
    if isinstance(values, dict):
        return {key: plain(value) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [plain(value) for value in values]
    return np.asarray(values, np.float64).tolist() if not isinstance(values, str) else values


def small(array):
    """What tells an array from another one in few numbers."""
    flat = np.asarray(array, np.float64).ravel()
    return [float(flat.sum()), float(np.abs(flat).sum()), *flat[:4].tolist()]


def note(name, values):
    ANSWERS[name] = plain(values)


def trained(name, model, x, y, optimizer="sgd", loss="mse", metrics=None, numbers=None, **fit):
    give_weights(model, numbers)
    model.compile(optimizer, loss, metrics=metrics)
    before = model.evaluate(x, y, verbose=0)
    history = model.fit(x, y, epochs=2, batch_size=8, shuffle=False, verbose=0, **fit).history
    after = model.predict(x, batch_size=8)
    note(
        name,
        {
            "before": before,
            "history": history,
            "predicted": [small(one) for one in (after if isinstance(after, list) else [after])],
            "weights": [small(w) for w in model.get_weights()],
            "names": [w.name for w in model.weights],
            "params": model.count_params(),
            "metrics": model.metrics_names,
        },
    )


def sequential_cnn():
    numbers = fresh()
    model = models.Sequential(
        [
            L.Conv2D(4, (3, 3), activation="relu", input_shape=(12, 12, 3)),
            L.MaxPooling2D(),
            L.SeparableConv2D(6, 3, padding="same"),
            L.BatchNormalization(),
            L.Activation("elu"),
            L.GlobalAveragePooling2D(),
            L.Dense(5, activation="softmax"),
        ]
    )
    x, y = numbers.rand(24, 12, 12, 3), keras.utils.to_categorical(numbers.randint(0, 5, 24), 5)
    trained(
        "sequential_cnn",
        model,
        x,
        y,
        optimizers.SGD(0.1, momentum=0.9, nesterov=True),
        "categorical_crossentropy",
        ["accuracy"],
        numbers,
    )


def functional_cnn():
    numbers = fresh(1)
    given = L.Input((10, 10, 2))
    x = L.Conv2D(4, 3, padding="same", kernel_regularizer=regularizers.l2(0.01))(given)
    x = L.LeakyReLU(0.2)(x)
    y = L.DepthwiseConv2D(3, padding="same")(x)
    x = L.add([x, y])
    x = L.concatenate([x, L.UpSampling2D()(L.AveragePooling2D()(x))])
    x = L.Conv2DTranspose(3, 3, strides=2, padding="same")(x)
    x = L.Cropping2D(2)(L.ZeroPadding2D(1)(x))
    first = L.Dense(3, activation="softmax", name="kind")(L.Flatten()(x))
    second = L.Dense(1, name="size")(L.GlobalMaxPooling2D()(x))
    model = models.Model(given, [first, second])
    x = numbers.rand(16, 10, 10, 2)
    y = [numbers.randint(0, 3, (16, 1)), numbers.rand(16, 1)]
    give_weights(model, numbers)
    model.compile(
        optimizers.Adam(0.01),
        {"kind": "sparse_categorical_crossentropy", "size": "mae"},
        metrics={"kind": "acc", "size": "mse"},
        loss_weights={"kind": 1.0, "size": 0.5},
    )
    history = model.fit(
        x, y, epochs=2, batch_size=8, shuffle=False, verbose=0, validation_split=0.25
    ).history
    note(
        "functional_cnn",
        {
            "history": history,
            "predicted": [small(one) for one in model.predict(x)],
            "evaluated": model.evaluate(x, y, verbose=0),
            "metrics": model.metrics_names,
        },
    )


def recurrent():
    numbers = fresh(2)
    for kind, more in (
        ("LSTM", {}),
        ("GRU", {}),
        ("GRU", {"reset_after": True}),
        ("SimpleRNN", {}),
        ("LSTM", {"implementation": 1}),
        ("LSTM", {"unroll": True}),
        ("GRU", {"go_backwards": True}),
    ):
        fresh()
        model = models.Sequential(
            [
                L.Embedding(20, 6, input_length=7, mask_zero=True),
                getattr(L, kind)(5, return_sequences=True, **more),
                getattr(L, kind)(4, **more),
                L.Dense(1, activation="sigmoid"),
            ]
        )
        x, y = numbers.randint(0, 20, (16, 7)), numbers.randint(0, 2, (16, 1))
        key = "-".join([kind, *map(str, sorted(more))])
        trained("recurrent/" + key, model, x, y, "rmsprop", "binary_crossentropy", ["acc"], numbers)


def wrapped():
    numbers = fresh(3)
    model = models.Sequential(
        [
            L.TimeDistributed(L.Dense(4, activation="tanh"), input_shape=(6, 3)),
            L.Bidirectional(L.LSTM(3, return_sequences=True), merge_mode="concat"),
            L.Bidirectional(L.GRU(3), merge_mode="sum"),
            L.Dense(2),
        ]
    )
    trained(
        "wrapped",
        model,
        numbers.rand(16, 6, 3),
        numbers.rand(16, 2),
        "adagrad",
        "mse",
        ["mae"],
        numbers,
    )
    numbers = fresh(4)
    model = models.Sequential(
        [
            L.ConvLSTM2D(
                3, (2, 2), input_shape=(4, 5, 5, 1), return_sequences=False, padding="same"
            ),
            L.Flatten(),
            L.Dense(1),
        ]
    )
    trained(
        "conv_lstm",
        model,
        numbers.rand(8, 4, 5, 5, 1),
        numbers.rand(8, 1),
        "adamax",
        "logcosh",
        None,
        numbers,
    )


class Scaled(L.Layer):
    """A layer of the user's."""

    def __init__(self, units, **kwargs):
        self.units = units
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.kernel = self.add_weight(
            name="kernel", shape=(input_shape[1], self.units), initializer="uniform"
        )
        self.scale = self.add_weight(
            name="scale",
            shape=(self.units,),
            initializer="ones",
            constraint=keras.constraints.NonNeg(),
        )
        super().build(input_shape)

    def call(self, x):
        return K.dot(x, self.kernel) * K.square(self.scale)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], self.units)

    def get_config(self):
        return dict(super().get_config(), units=self.units)


def own_layers():
    numbers = fresh(5)
    given = L.Input((4,))
    x = Scaled(6)(given)
    x = L.Lambda(lambda t: K.concatenate([t, K.abs(t)], axis=-1))(x)
    x = L.PReLU()(x)
    x = L.Dense(3, activation=lambda t: K.hard_sigmoid(t), activity_regularizer="l1")(x)
    model = models.Model(given, x)

    def loss(y_true, y_pred):
        return K.mean(K.square(y_true - y_pred), axis=-1) + 0.1 * K.mean(K.abs(y_pred), axis=-1)

    trained(
        "own_layers",
        model,
        numbers.rand(16, 4),
        numbers.rand(16, 3),
        "nadam",
        loss,
        ["mse"],
        numbers,
    )


def weighted():
    numbers = fresh(6)
    model = models.Sequential([L.Dense(4, activation="relu", input_dim=5), L.Dense(3)])
    model.add(L.Activation("softmax"))
    x, y = numbers.rand(24, 5), keras.utils.to_categorical(numbers.randint(0, 3, 24), 3)
    give_weights(model, numbers)
    model.compile(
        "adadelta", "categorical_crossentropy", metrics=["accuracy"], weighted_metrics=["accuracy"]
    )
    a = model.fit(x, y, epochs=2, verbose=0, shuffle=False, class_weight={0: 1.0, 1: 2.0, 2: 0.5})
    b = model.fit(x, y, epochs=1, verbose=0, shuffle=False, sample_weight=numbers.rand(24))
    c = [model.train_on_batch(x, y), model.test_on_batch(x, y), small(model.predict_on_batch(x))]
    note("weighted", [a.history, b.history, c])


def losses_and_metrics():
    numbers = fresh(7)
    y, p = numbers.rand(6, 4).astype("float32"), numbers.rand(6, 4).astype("float32")
    y, p = y / y.sum(1, keepdims=True), p / p.sum(1, keepdims=True)
    found = {}
    for name in (
        "mse",
        "mae",
        "mape",
        "msle",
        "squared_hinge",
        "hinge",
        "categorical_hinge",
        "logcosh",
        "kullback_leibler_divergence",
        "poisson",
        "cosine_proximity",
        "categorical_crossentropy",
        "binary_crossentropy",
    ):
        found[name] = K.eval(keras.losses.get(name)(K.constant(y), K.constant(p)))
    for name, kw in (
        ("BinaryAccuracy", {}),
        ("CategoricalAccuracy", {}),
        ("AUC", {}),
        ("Precision", {}),
        ("Recall", {}),
        ("TopKCategoricalAccuracy", {"k": 2}),
        ("MeanSquaredError", {}),
        ("CosineSimilarity", {}),
        ("KLDivergence", {}),
        ("RootMeanSquaredError", {}),
        ("SensitivityAtSpecificity", {"specificity": 0.5}),
    ):
        metric = getattr(keras.metrics, name)(**kw)
        labels = (y > 0.3).astype("float32")
        update = metric(K.constant(labels), K.constant(p))
        found[name] = K.eval(update)
    note("losses_and_metrics", found)


def followed():
    numbers = fresh(8)
    folder = tempfile.mkdtemp()
    model = models.Sequential(
        [L.Dense(4, activation="tanh", input_dim=3), L.Dropout(0.0), L.Dense(1)]
    )
    give_weights(model, numbers)
    model.compile(optimizers.SGD(0.5), "mse", metrics=["mae"])
    x = numbers.rand(32, 3)
    y = x.sum(1, keepdims=True) + 0.1 * numbers.rand(32, 1)
    log, rates = os.path.join(folder, "log.csv"), []
    history = model.fit(
        x,
        y,
        epochs=8,
        batch_size=8,
        shuffle=False,
        verbose=0,
        validation_data=(x[:8], y[:8]),
        callbacks=[
            keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "{epoch:02d}.h5"), save_best_only=True
            ),
            keras.callbacks.EarlyStopping(patience=2, min_delta=0.001),
            keras.callbacks.CSVLogger(log),
            keras.callbacks.TensorBoard(
                os.path.join(folder, "board"), histogram_freq=1, write_graph=True, write_grads=True
            ),
            keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, min_delta=0.01),
            keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9),
            keras.callbacks.LambdaCallback(
                on_epoch_end=lambda epoch, logs: rates.append(
                    float(K.get_value(model.optimizer.lr))
                )
            ),
        ],
    )
    with open(log) as lines:
        rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(lines)]
    events = glob.glob(os.path.join(folder, "board", "events*"))
    tags = sorted(
        {
            value.tag
            for path in events
            for event in tf.train.summary_iterator(path)
            for value in event.summary.value
        }
    )
    note(
        "followed",
        {
            "history": {k: list(map(float, v)) for k, v in history.history.items()},
            "rows": rows,
            "rates": rates,
            "epochs": history.epoch,
        },
    )
    ANSWERS["followed"]["tags"] = tags
    saved = sorted(os.path.basename(p) for p in glob.glob(os.path.join(folder, "*.h5")))
    ANSWERS["followed"]["saved"] = saved
    again = models.load_model(os.path.join(folder, saved[-1]))
    note("followed/again", small(again.predict(x)))


def kept():
    numbers = fresh(9)
    folder = tempfile.mkdtemp()
    given = L.Input((6, 3))
    x = L.Bidirectional(L.GRU(3, return_sequences=True))(given)
    x = L.BatchNormalization()(L.GlobalAveragePooling1D()(x))
    x = Scaled(4)(x)
    inner = models.Sequential([L.Dense(3, activation="relu", input_shape=(4,)), L.Dense(2)])
    model = models.Model(given, inner(x))
    give_weights(model, numbers)
    model.compile(optimizers.Adam(0.02, amsgrad=True), "mse")
    x, y = numbers.rand(16, 6, 3), numbers.rand(16, 2)
    model.fit(x, y, epochs=1, batch_size=8, shuffle=False, verbose=0)
    path, weights = os.path.join(folder, "model.h5"), os.path.join(folder, "weights.h5")
    model.save(path)
    model.save_weights(weights)
    known = {"Scaled": Scaled}
    again = models.load_model(path, custom_objects=known)
    same = bool(np.allclose(again.predict(x), model.predict(x), atol=1e-6))
    further = again.fit(x, y, epochs=1, batch_size=8, shuffle=False, verbose=0).history
    third = models.model_from_json(model.to_json(), known)
    third.load_weights(weights, by_name=True)
    note(
        "kept",
        {
            "same": same,
            "further": further,
            "json": small(third.predict(x)),
            "optimizer": [small(w) for w in again.optimizer.get_weights()],
            "names": [w.name for w in model.weights],
        },
    )
    ANSWERS["kept"]["config"] = json.loads(model.to_json())["config"]["name"]


def images():
    numbers = fresh(10)
    x = numbers.rand(24, 8, 8, 3)
    y = numbers.randint(0, 2, (24, 1))
    model = models.Sequential(
        [L.Conv2D(3, 3, input_shape=(8, 8, 3)), L.Flatten(), L.Dense(1, activation="sigmoid")]
    )
    give_weights(model, numbers)
    model.compile("sgd", "binary_crossentropy", metrics=["accuracy"])
    maker = keras.preprocessing.image.ImageDataGenerator(
        featurewise_center=True, horizontal_flip=True, width_shift_range=0.2
    )
    maker.fit(x)
    flow = maker.flow(x, y, batch_size=8, shuffle=False, seed=3)
    history = model.fit_generator(
        flow,
        steps_per_epoch=3,
        epochs=2,
        verbose=0,
        shuffle=False,
        validation_data=maker.flow(x, y, shuffle=False, seed=3),
        validation_steps=1,
        workers=0,
    )
    scores = model.evaluate_generator(
        maker.flow(x, y, batch_size=8, shuffle=False, seed=5), steps=3, workers=0
    )
    # One thread draws the next batches while a step runs.
    model.fit_generator(flow, steps_per_epoch=3, epochs=1, verbose=0, workers=2)
    note("images", {"history": history.history, "scores": scores})


def backend():
    numbers = fresh(11)
    x = K.variable(numbers.rand(3, 4))
    y = K.placeholder((3, 4))
    total = K.variable(0.0)
    step = K.function(
        [y],
        [K.sum(x * y), K.gradients(K.sum(K.square(x * y)), [x])[0]],
        updates=[(total, total + K.sum(y))],
    )
    first = step([np.ones((3, 4))])
    step([np.full((3, 4), 2.0)])
    sparse = K.placeholder((2, 4), sparse=True)
    note(
        "backend",
        {
            "first": [small(one) for one in first],
            "total": K.get_value(total),
            "batch_dot": small(
                K.eval(
                    K.batch_dot(
                        K.constant(numbers.rand(2, 3, 4)), K.constant(numbers.rand(2, 4, 5))
                    )
                )
            ),
            "sparse": K.is_sparse(sparse) * 1,
            "uid": [K.get_uid("z"), K.get_uid("z")],
            "conv1d": small(
                K.eval(
                    K.conv1d(
                        K.constant(numbers.rand(1, 6, 2)),
                        K.constant(numbers.rand(3, 2, 2)),
                        padding="causal",
                    )
                )
            ),
            "resized": small(
                K.eval(
                    K.resize_images(
                        K.constant(numbers.rand(1, 2, 2, 1)),
                        2,
                        2,
                        "channels_last",
                        interpolation="bilinear",
                    )
                )
            ),
            "foldl": K.eval(K.foldl(lambda a, b: a * 2 + b, K.constant([1.0, 2.0, 3.0]))),
            "switch": small(K.eval(K.switch(K.constant(numbers.rand(3)) > 0.5, x, -x))),
            "ctc": small(
                K.eval(
                    K.ctc_batch_cost(
                        K.constant([[1, 2], [0, 1]]),
                        K.softmax(K.constant(numbers.rand(2, 5, 4))),
                        K.constant([[5], [4]]),
                        K.constant([[2], [1]]),
                    )
                )
            ),
            "decoded": small(
                K.get_value(
                    K.ctc_decode(
                        K.softmax(K.constant(5 * numbers.rand(2, 5, 4))), K.constant([5, 4])
                    )[0][0]
                )
            ),
        },
    )


for run in (
    sequential_cnn,
    functional_cnn,
    recurrent,
    wrapped,
    own_layers,
    weighted,
    losses_and_metrics,
    followed,
    kept,
    images,
    backend,
):
    run()
print(json.dumps(ANSWERS))

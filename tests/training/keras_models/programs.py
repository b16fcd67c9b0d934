"""Programs of Keras models, which run with TensorFlow 1.15 and with Penstock alike.

Each returns what JSON can hold; ``golden.json`` has what TensorFlow 1.15 has returned.
"""

import contextlib
import io
import re

import numpy as np

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def data():
    random = np.random.RandomState(0)
    x = random.rand(20, 4).astype("f")
    return x, np.eye(3)[random.randint(0, 3, 20)].astype("f")


def give_weights(model):
    random = np.random.RandomState(1)
    model.set_weights([random.rand(*w.shape.as_list()) - 0.4 for w in model.weights])


def classifier(tf, activation="softmax"):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(5, activation="relu", input_shape=(4,)), layers.Dense(3, activation)]
    )
    give_weights(model)
    return model


def printed(function):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        function()
    return re.sub(r"\d+(s|ms|us)(/sample)?\b", r"T\2", said.getvalue())


def of_optimizer(make):
    def run(tf):
        x, y = data()
        model = classifier(tf)
        model.compile(make(tf), "categorical_crossentropy", metrics=["accuracy"])
        h = model.fit(x, y, batch_size=8, epochs=3, shuffle=False, validation_split=0.2, verbose=0)
        own = hasattr(model.optimizer, "get_slot_names")
        return {
            "history": h.history, "weights": model.get_weights(), "metrics": model.metrics_names,
            "variables": [v.name for v in tf.global_variables()],
            "optimizer": [v.name for v in model.optimizer.weights] if own else None,
            "config": model.optimizer.get_config() if own else None,
            "predicted": model.predict(x), "evaluated": model.evaluate(x, y, verbose=0),
        }  # fmt: skip

    return run


for _name in ("sgd", "rmsprop", "adagrad", "adadelta", "adam", "adamax", "nadam"):
    PROGRAMS["optimizer_" + _name] = of_optimizer(lambda tf, name=_name: name)
_OPTIMIZERS = {
    "nesterov": ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}),
    "momentum_decay": ("SGD", {"lr": 0.1, "momentum": 0.9, "decay": 0.1}),
    "centered": ("RMSprop", {"learning_rate": 0.01, "momentum": 0.5, "centered": True}),
    "amsgrad": ("Adam", {"learning_rate": 0.1, "amsgrad": True, "clipnorm": 0.1}),
    "clipvalue": ("Adam", {"learning_rate": 0.1, "decay": 0.1, "clipvalue": 0.01}),
    "adagrad_class": ("Adagrad", {"learning_rate": 0.1}),
}
for _name, (_kind, _given) in _OPTIMIZERS.items():
    PROGRAMS["optimizer_" + _name] = of_optimizer(
        lambda tf, kind=_kind, given=_given: getattr(tf.keras.optimizers, kind)(**given)
    )
PROGRAMS["optimizer_of_train"] = of_optimizer(lambda tf: tf.train.AdamOptimizer(0.01))

LOSSES = (
    "mse", "mae", "mape", "msle", "hinge", "squared_hinge", "categorical_hinge", "logcosh",
    "kullback_leibler_divergence",
    "poisson", "cosine_similarity", "binary_crossentropy", "categorical_crossentropy",
)  # fmt: skip


def of_loss(loss, activation):
    def run(tf):
        x, y = data()
        model = classifier(tf, activation)
        model.compile("sgd", loss, metrics=[loss])
        h = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
        return {"history": h.history, "batch": model.train_on_batch(x, y)}

    return run


for _name in LOSSES:
    PROGRAMS["loss_" + _name] = of_loss(_name, "sigmoid")
PROGRAMS["loss_of_softmax"] = of_loss("categorical_crossentropy", "softmax")
PROGRAMS["loss_of_relu"] = of_loss("categorical_crossentropy", "relu")
PROGRAMS["loss_binary_of_tanh"] = of_loss("binary_crossentropy", "tanh")

CLASSES = (
    "MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredLogarithmicError", "BinaryCrossentropy", "CategoricalCrossentropy", "Hinge",
    "SquaredHinge", "CategoricalHinge", "Poisson", "LogCosh", "KLDivergence", "CosineSimilarity",
)  # fmt: skip


@program
def loss_classes(tf):
    x, y = data()
    found = {}
    weights = np.arange(20, dtype="f")
    for name in CLASSES:
        kind = getattr(tf.keras.losses, name)
        p = tf.constant(x[:, :3])
        made = [kind()(y, p), kind()(y, p, sample_weight=weights), kind(reduction="none")(y, p),
                kind(reduction="sum")(y, p)]  # fmt: skip
        found[name] = tf.keras.backend.get_session().run(made)
    return found


METRICS = (
    "Accuracy", "BinaryAccuracy", "CategoricalAccuracy", "TopKCategoricalAccuracy",
    "MeanSquaredError", "MeanAbsoluteError", "MeanAbsolutePercentageError",
    "MeanSquaredLogarithmicError", "BinaryCrossentropy", "CategoricalCrossentropy", "Hinge",
    "SquaredHinge", "CategoricalHinge", "Poisson", "LogCoshError", "KLDivergence",
    "CosineSimilarity",
)  # fmt: skip


@program
def metric_classes(tf):
    x, y = data()
    found = {}
    for name in METRICS:
        kind = getattr(tf.keras.metrics, name)
        metric = kind(k=2) if name.startswith("Top") else kind()
        weights = tf.keras.backend.get_session  # initializes what the metric has
        update = metric.update_state(y, x[:, :3], sample_weight=np.arange(20, dtype="f"))
        result = metric.result()
        session = weights()
        session.run(update)
        session.run(update)
        names = [v.name.split("/")[-1].rstrip(":0123456789_") for v in metric.weights]
        found[name] = [session.run(result), metric.name, names]
    return found


@program
def sparse_targets(tf):
    x, y = data()
    model = classifier(tf)
    k = tf.keras.metrics
    model.compile(
        tf.keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy",
        metrics=["accuracy", k.SparseCategoricalAccuracy(), k.SparseTopKCategoricalAccuracy(k=2)],
    )  # fmt: skip
    h = model.fit(x, y.argmax(1), batch_size=7, epochs=2, shuffle=False, verbose=0)
    return {"history": h.history, "names": model.metrics_names}


@program
def weighted_samples(tf):
    x, y = data()
    model = classifier(tf)
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    weights = np.linspace(0, 2, 20)
    h = model.fit(x, y, 8, 2, 0, shuffle=False, sample_weight=weights)
    i = model.fit(x, y, 8, 2, 0, shuffle=False, class_weight={0: 1.0, 1: 0.5, 2: 3.0})
    return [h.history, i.history, model.evaluate(x, y, verbose=0, sample_weight=weights)]


@program
def regularized(tf):
    x, y = data()
    layers = tf.keras.layers
    model = tf.keras.Sequential()
    model.add(layers.Dense(
        5, kernel_regularizer="l2", activity_regularizer="l1", input_shape=(4,)))  # fmt: skip
    model.add(layers.Dense(3, "softmax", kernel_constraint="max_norm"))
    give_weights(model)
    model.compile("sgd", "categorical_crossentropy")
    h = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    return [h.history, model.get_weights()]


@program
def normalized(tf):
    x, y = data()
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Dense(5, input_shape=(4,)), layers.BatchNormalization(), layers.Dense(3, "softmax")]
    )
    give_weights(model)
    model.compile("sgd", "categorical_crossentropy")
    h = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
    return [h.history, model.get_weights(), [v.name for v in model.weights]]


def two_headed(tf):
    keras = tf.keras
    a, b = keras.Input((4,), name="a"), keras.Input((3,))
    shared = keras.layers.Dense(2)
    joined = keras.layers.concatenate([shared(a), keras.layers.Dense(2)(b)])
    out = [keras.layers.Dense(1, name="o1")(joined), shared(keras.layers.Dense(4)(joined))]
    model = keras.Model([a, b], out)
    give_weights(model)
    return model


@program
def functional(tf):
    x, y = data()
    model = two_headed(tf)
    model.compile("sgd", ["mse", "mae"], metrics={"o1": ["mae"]}, loss_weights=[1, 0.5])
    given = {"a": x, model.input_names[1]: y}
    h = model.fit(given, [x[:, :1], x[:, :2]], 6, 2, 0, shuffle=False)
    other = tf.keras.Model.from_config(model.get_config())
    other.set_weights(model.get_weights())
    config = model.get_config()
    return {
        "history": h.history, "names": model.metrics_names, "outputs": model.output_names,
        "inputs": model.input_names, "weights": [w.name for w in model.weights],
        "evaluated": model.evaluate([x, y], [x[:, :1], x[:, :2]], verbose=0),
        "predicted": model.predict([x, y]), "other": other.predict([x, y]), "name": model.name,
        "layers": [layer.name for layer in model.layers],
        "nodes": [[one["name"], one["inbound_nodes"]] for one in config["layers"]],
        "ends": [config["input_layers"], config["output_layers"]],
        "shapes": [model.input_shape, model.output_shape], "params": model.count_params(),
    }  # fmt: skip


@program
def nested(tf):
    x, y = data()
    inner = classifier(tf)
    given = tf.keras.Input((4,))
    outer = tf.keras.Model(given, tf.keras.layers.Dense(1)(inner(given)))
    give_weights(outer)
    outer.compile("adam", "mse")
    h = outer.fit(x, y[:, 0], 8, 2, 0, shuffle=False)
    return [h.history, [w.name for w in outer.weights], printed(outer.summary)]


@program
def subclassed(tf):
    x, y = data()

    class Mine(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(4, kernel_initializer="ones")
            self.second = tf.keras.layers.Dense(3, "softmax", kernel_initializer="ones")

        def call(self, inputs):
            return self.second(self.first(inputs))

    model = Mine()
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    h = model.fit(x, y, 8, 2, 0, shuffle=False)
    return [h.history, model.predict(x), [w.name for w in model.weights], model.name]


@program
def embedded(tf):
    layers = tf.keras.layers
    found = []
    for optimizer in ("sgd", "adam", "rmsprop", "adagrad"):
        model = tf.keras.Sequential([layers.Embedding(7, 3, input_length=5), layers.Flatten()])
        give_weights(model)
        model.compile(optimizer, "mse")
        x = np.random.RandomState(3).randint(0, 7, (12, 5))
        h = model.fit(x, np.ones((12, 15)), 4, 2, 0, shuffle=False)
        found.append([h.history, model.get_weights()])
    return found


@program
def said(tf):
    x, y = data()
    model = classifier(tf)
    model.compile("sgd", "categorical_crossentropy", metrics=["accuracy", "mse"])

    def run():
        model.summary()
        model.fit(x, y, batch_size=10, epochs=2, shuffle=False, verbose=2, validation_split=0.5)
        model.fit(x, y, batch_size=20, shuffle=False)
        model.evaluate(x, y)
        two_headed(tf).summary()

    return printed(run)


@program
def called_back(tf):
    x, y = data()
    model = classifier(tf)
    keras = tf.keras
    model.compile(keras.optimizers.SGD(0.5), "categorical_crossentropy", metrics=["accuracy"])
    seen = []
    callbacks = [
        keras.callbacks.LambdaCallback(
            on_epoch_begin=lambda epoch, logs: seen.append(epoch),
            on_batch_end=lambda batch, logs: seen.append([batch, logs["size"], logs["loss"]]),
        ),
        keras.callbacks.EarlyStopping("val_loss", patience=1, verbose=1),
        keras.callbacks.ReduceLROnPlateau("val_loss", patience=1, verbose=1),
        keras.callbacks.LearningRateScheduler(lambda epoch: 0.5 * (epoch + 1.0), verbose=1),
    ]

    def run():
        h = model.fit(x, y, 8, 9, 0, callbacks, 0.2, shuffle=False)
        seen.append([h.history, h.epoch])

    return [printed(run), seen]


@program
def labelled(tf):
    pad = tf.keras.preprocessing.sequence.pad_sequences
    rows = [[1, 2, 3, 4], [5], []]
    return [
        pad(rows), pad(rows, 2), pad(rows, 3, padding="post", truncating="post", value=9),
        tf.keras.utils.to_categorical([0, 2, 1]), tf.keras.utils.to_categorical([[1], [0]], 4),
        tf.keras.utils.normalize(np.array([[3.0, 4.0], [0.0, 0.0]])),
    ]  # fmt: skip


def error(name, run):
    def tried(tf):
        try:
            run(tf)
        except Exception as found:
            return [type(found).__name__, str(found)[:28]]
        return None

    PROGRAMS["error_" + name] = tried


error("layer", lambda tf: classifier(tf).get_layer("missing"))
error("uncompiled", lambda tf: classifier(tf).fit(*data()))
error("shape", lambda tf: classifier(tf).predict(np.ones((2, 5))))
error("loss", lambda tf: classifier(tf).compile("sgd", "nonsense"))
error("metric", lambda tf: classifier(tf).compile("sgd", "mse", ["nonsense"]))
error("optimizer", lambda tf: classifier(tf).compile("nonsense", "mse"))
error("added", lambda tf: tf.keras.Sequential().add(3))
error("popped", lambda tf: tf.keras.Sequential().pop())
error("input", lambda tf: tf.keras.Input())
error("momentum", lambda tf: tf.keras.optimizers.SGD(momentum=2.0))
error("keyword", lambda tf: tf.keras.optimizers.SGD(speed=2.0))
error("padding", lambda tf: tf.keras.preprocessing.sequence.pad_sequences([[1]], padding="x"))

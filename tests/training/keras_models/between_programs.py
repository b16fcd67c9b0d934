"""Programs of Keras with more in a model than layers: operations, losses and metrics of its own.

They run with TensorFlow 1.15 and with Penstock alike, as graphs and eagerly; ``told_golden.json``
has what TensorFlow 1.15 has returned.
"""

import os
import tempfile

import numpy as np

from tests.training.keras_models.weighing_programs import refused

RNG = np.random.RandomState(0)
X = RNG.rand(12, 4).astype("f")
Y = RNG.rand(12, 1).astype("f")
CLASSES = RNG.randint(0, 3, (12,))
MATRIX = RNG.rand(4, 3).astype("f")


def constant(tf, value):
    return tf.keras.initializers.Constant(value)


def between(tf, function, more=None):
    """A model with ``function`` between its layers: its layers, losses, outputs, and its copies."""
    keras = tf.keras
    given = keras.Input([4])
    hidden = keras.layers.Dense(4, kernel_initializer=constant(tf, 0.2))(given)
    last = keras.layers.Dense(1, kernel_initializer=constant(tf, 0.1))
    model = keras.Model(given, last(function(hidden, given)))
    if more is not None:
        more(model, hidden, given)
    model.compile("sgd", "mse")
    history = model.fit(X, Y, epochs=2, batch_size=4, shuffle=False, verbose=0).history
    found = model.predict(X[:2])
    copies = [keras.models.model_from_json(model.to_json()), keras.models.clone_model(model)]
    for copy in copies:
        copy.set_weights(model.get_weights())
    alike = [bool(np.abs(copy.predict(X[:2]) - found).max() < 1e-6) for copy in copies]
    kinds = [type(layer).__name__ for layer in model.layers]
    return [kinds, history, found, alike, model.metrics_names]


_OPERATIONS = {
    "relu": lambda tf, h, x: tf.nn.relu(h),
    "numbers": lambda tf, h, x: 2.0 - h * 3.0,
    "sum": lambda tf, h, x: h + x,
    "concat": lambda tf, h, x: tf.concat([h, h, x], axis=-1),
    "stack": lambda tf, h, x: tf.stack([h, x], 1)[:, 0],
    "slice": lambda tf, h, x: h[:, :2],
    "reshape": lambda tf, h, x: tf.reshape(h, [-1, 2, 2])[:, 1],
    "split": lambda tf, h, x: tf.split(h, 2, axis=1)[1],
    "matmul": lambda tf, h, x: tf.matmul(h, tf.constant(MATRIX)),
    "matmul_array": lambda tf, h, x: tf.matmul(h, MATRIX),
    "reduce": lambda tf, h, x: tf.reduce_sum(h, axis=1, keepdims=True),
    "mixed": lambda tf, h, x: tf.square(h) + tf.sin(x) * tf.exp(-h),
    "where": lambda tf, h, x: tf.where(h > 0.3, h, tf.zeros_like(h)),
    "layer": lambda tf, h, x: tf.keras.layers.add([h, tf.tanh(x)]),
    "unstack": lambda tf, h, x: tf.unstack(h, axis=1)[0][:, None],
    "top_k": lambda tf, h, x: tf.nn.top_k(h, 2)[0],
    "gather": lambda tf, h, x: tf.gather(h, [0, 2], axis=1),
    "cast": lambda tf, h, x: tf.cast(tf.cast(h, tf.float64), tf.float32),
    "normalized": lambda tf, h, x: tf.nn.l2_normalize(h, 1),
    "bias": lambda tf, h, x: tf.nn.bias_add(h, [1.0, 2.0, 3.0, 4.0]),
}
_TOLD = {
    "loss": lambda tf, m, h, x: m.add_loss(tf.reduce_mean(h)),
    "loss_of_a_function": lambda tf, m, h, x: m.add_loss(
        lambda: tf.reduce_sum(m.layers[1].kernel) * 0.1
    ),
    "metric": lambda tf, m, h, x: m.add_metric(h, aggregation="mean", name="hm"),
    "both": lambda tf, m, h, x: (
        m.add_loss(tf.reduce_sum(h) * 0.01),
        m.add_metric(tf.reduce_max(x), name="largest", aggregation="mean"),
    ),
}


def autoencoder(tf):
    """With a loss of its own, and no other."""
    keras = tf.keras
    given = keras.Input([4])
    mean = keras.layers.Dense(2, kernel_initializer=constant(tf, 0.2))(given)
    spread = keras.layers.Dense(2, kernel_initializer=constant(tf, -0.1))(given)
    drawn = mean + tf.exp(spread * 0.5) * 0.3
    made = keras.layers.Dense(4, kernel_initializer=constant(tf, 0.1))(drawn)
    model = keras.Model(given, made)
    model.add_loss(-0.5 * tf.reduce_mean(spread - tf.square(mean) - tf.exp(spread) + 1.0))
    model.add_loss(tf.reduce_mean(tf.square(made - given)))
    model.compile("adam")
    return model.fit(X, epochs=2, batch_size=4, shuffle=False, verbose=0).history


def nested(tf):
    """A model with operations between its layers, as a layer after operations."""
    keras = tf.keras
    given, same = keras.Input([4]), keras.layers.Dense(4, kernel_initializer=constant(tf, 0.2))
    inner = keras.Model(given, same(tf.nn.relu(same(given)) + 1.0))
    outside = keras.Input([4])
    outer = keras.Model(outside, inner(outside * 2.0))
    return [outer.predict(X[:2]), [layer.name for layer in outer.layers]]


def told_by_layers(tf):
    class Telling(tf.keras.layers.Layer):
        def call(self, inputs):
            self.add_loss(tf.reduce_sum(inputs) * 0.01)
            self.add_metric(tf.reduce_mean(inputs), name="mean", aggregation="mean")
            return inputs

    last = tf.keras.layers.Dense(1, kernel_initializer=constant(tf, 0.1))
    model = tf.keras.Sequential([Telling(input_shape=[4]), last])
    model.compile("sgd", "mse")
    history = model.fit(X, Y, epochs=2, batch_size=4, shuffle=False, verbose=0).history
    return [history, model.metrics_names, model.evaluate(X, Y, verbose=0, batch_size=5)]


def classifier(tf):
    """A subclass whose layers do otherwise in training."""

    class Classifier(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(
                5, kernel_initializer=constant(tf, np.tile(MATRIX[:, :1], [1, 5]))
            )
            self.normal = tf.keras.layers.BatchNormalization()
            self.last = tf.keras.layers.Dense(
                3, "softmax", kernel_initializer=constant(tf, np.tile(MATRIX[0], [5, 1]))
            )

        def call(self, inputs, training=False):
            return self.last(self.normal(self.first(inputs), training=training))

    return Classifier()


def fitted(model, optimizer="sgd"):
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["acc"])
    history = model.fit(X, CLASSES, epochs=2, batch_size=4, shuffle=False, verbose=0).history
    return [history, model.evaluate(X, CLASSES, verbose=0), model.predict(X[:2])]


def subclass(tf):
    return fitted(classifier(tf))


def subclass_weights(tf):
    """Weights that are there before the variables."""
    path = os.path.join(tempfile.mkdtemp(), "weights")
    model = classifier(tf)
    fitted(model)
    model.save_weights(path)
    found, again = model.predict(X), classifier(tf)
    again.load_weights(path)
    again.compile("sgd", "sparse_categorical_crossentropy")
    return bool(np.abs(again.predict(X) - found).max() < 1e-6)


def rates(tf):
    """Rates that are asked for and set before the first step; rates by the step."""
    keras, found = tf.keras, []
    model = _classes(tf)
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
    keras.backend.set_value(model.optimizer.lr, 0.5)
    model.train_on_batch(X, CLASSES)
    found.append(keras.backend.get_value(model.optimizer.lr))
    found.append(keras.backend.get_value(model.optimizer.iterations))
    falling = keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)
    return [*found, fitted(_classes(tf), keras.optimizers.SGD(falling))]


def _classes(tf):
    layers = tf.keras.layers
    return tf.keras.Sequential([
        layers.Dense(3, "softmax", kernel_initializer=constant(tf, MATRIX), input_shape=[4])
    ])  # fmt: skip


def by_names(tf):
    """Metrics, constraints and losses by their less usual names."""
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(
            1, "sigmoid", kernel_initializer=constant(tf, 0.3), kernel_constraint="maxnorm",
            input_shape=[4],
        ),
    ])  # fmt: skip
    model.compile("sgd", lambda a, b: tf.reduce_mean(tf.abs(a - b)), metrics=["AUC", "Recall"])
    y = (CLASSES > 0).astype("f")[:, None]
    return [model.fit(X, y, epochs=2, shuffle=False, verbose=0).history, model.metrics_names]


def of_layer(tf, layer, shape, computed=True):
    """What a layer makes, its weights' names and shapes, a step of training, its configuration.

    TensorFlow computes no shape of dilated windows; hence ``computed``.
    """
    given = tf.keras.Input(shape)
    model = tf.keras.Model(given, layer(given))
    x = np.random.RandomState(1).rand(*[2] + shape).astype("f")
    found = model.predict(x)
    names = [[weight.name, weight.shape.as_list()] for weight in model.weights]
    model.compile("sgd", "mse")
    config = {k: v for k, v in layer.get_config().items() if "initializer" not in k}
    again = tf.keras.Model.from_config(model.get_config())
    told = [model.train_on_batch(x, np.ones_like(found)), plain_config(config)]
    shapes = [list(again.output_shape)]
    if computed:
        made = layer.compute_output_shape(tf.TensorShape([None] + shape))
        shapes.append(tf.TensorShape(made).as_list())
    return [found, names, told, shapes]


def plain_config(config):
    return {k: list(v) if k == "axis" else v for k, v in config.items() if k != "name"}


def depthwise(tf):
    layers = tf.keras.layers
    return [
        of_layer(tf, layers.DepthwiseConv2D(2, depthwise_initializer=constant(tf, 0.3)), [3, 3, 2]),
        of_layer(tf, layers.DepthwiseConv2D(
            (2, 3), strides=2, padding="same", depth_multiplier=3, activation="relu",
            depthwise_initializer=constant(tf, 0.3), use_bias=False,
        ), [5, 5, 2]),
        of_layer(tf, layers.DepthwiseConv2D(
            2, dilation_rate=2, depthwise_initializer=constant(tf, 0.3), depthwise_regularizer="l2",
        ), [5, 5, 2], computed=False),
        refused(lambda: layers.DepthwiseConv2D(2)(tf.keras.Input([3, 3]))),
    ]  # fmt: skip


def layer_normalization(tf):
    layers = tf.keras.layers
    return [
        of_layer(tf, layers.LayerNormalization(), [3]),
        of_layer(tf, layers.LayerNormalization(axis=[1, 2]), [2, 3]),
        of_layer(tf, layers.LayerNormalization(
            axis=-2, gamma_initializer=constant(tf, 2.0), beta_initializer=constant(tf, 0.3),
        ), [2, 3]),
        of_layer(tf, layers.LayerNormalization(center=False, scale=False, epsilon=0.1), [4]),
        refused(lambda: layers.LayerNormalization(axis="a")),
    ]  # fmt: skip


def _attended(tf, layer, masked, keys):
    shapes = [[3, 4], [2, 4], [2, 4]][: 3 if keys else 2]
    given = [tf.keras.Input(shape) for shape in shapes]
    passed = list(given)
    if masked:
        passed[:2] = [tf.keras.layers.Masking(0.0)(one) for one in passed[:2]]
    model = tf.keras.Model(given, layer(passed))
    rng = np.random.RandomState(2)
    fed = [rng.rand(*[2] + shape).astype("f") for shape in shapes]
    fed[0][0, 1] = fed[1][1, 0] = 0
    found = model.predict(fed)
    model.compile("sgd", "mse")
    names = [[weight.name, weight.shape.as_list()] for weight in model.weights]
    return [found, names, model.train_on_batch(fed, np.ones([2, 3, 4])), layer.get_config()]


def attention(tf):
    dots, sums = tf.keras.layers.Attention, tf.keras.layers.AdditiveAttention
    return [
        _attended(tf, dots(), False, False), _attended(tf, dots(use_scale=True), True, False),
        _attended(tf, dots(causal=True), False, True),
        _attended(tf, sums(use_scale=False), True, False),
        _attended(tf, sums(use_scale=False, causal=True), False, False),
        refused(lambda: dots()(tf.keras.Input([3, 4]))),
        refused(lambda: dots()([tf.keras.Input([3, 4])])),
    ]  # fmt: skip


def steps_of_arrays(tf):
    """Arrays and a number of steps; what a model tells before it is compiled."""
    layers = tf.keras.layers
    given = tf.keras.Input(4)
    model = tf.keras.Model(given, layers.Dense(1, kernel_initializer=constant(tf, 0.2))(given))
    found = [model.metrics_names, given.shape.as_list()]
    if tf.executing_eagerly():  # where TensorFlow 1.15 ends an epoch with the arrays
        return [found]
    model.compile("sgd", "mse", metrics=["mae"])
    history = model.fit(X, Y, steps_per_epoch=3, epochs=2, verbose=0).history
    weighed = model.fit(X, Y, sample_weight=np.arange(12.0), steps_per_epoch=1, verbose=0).history
    return [found, history, weighed]


def kept_states(tf):
    """Recurrent layers that go on from batch to batch."""
    layers, found = tf.keras.layers, []
    x = np.random.RandomState(0).rand(6, 2, 1).astype("f")
    y = np.random.RandomState(1).rand(6, 1).astype("f")
    for kind in (layers.LSTM, layers.GRU, layers.SimpleRNN):
        model = tf.keras.Sequential([
            kind(2, stateful=True, batch_input_shape=[2, 2, 1], kernel_initializer=constant(
                tf, 0.3), recurrent_initializer=constant(tf, 0.2)),
            layers.Dense(1, kernel_initializer=constant(tf, 0.3)),
        ])  # fmt: skip
        found += [model.predict(x[:2]), model.predict(x[:2])]
        model.reset_states()
        found += [model.predict(x), model.stateful, len(model.weights)]
        model.compile("sgd", "mse")
        found.append(model.fit(x, y, epochs=2, shuffle=False, verbose=0).history)
        found += [model.evaluate(x, y, verbose=0), model.evaluate(x, y, verbose=0)]
        if kind is not layers.LSTM:
            model.layers[0].reset_states([np.ones([2, 2])])
            found.append(model.predict(x[:2]))
        found.append(model.layers[0].get_config()["stateful"])
    found.append(refused(lambda: model.predict(x, batch_size=3)))
    found.append(refused(lambda: model.layers[0].reset_states([np.ones([2, 2])] * 2)))
    found.append(refused(lambda: layers.LSTM(2, stateful=True)(tf.keras.Input([2, 1]))))
    return found


def wrong_fits(tf):
    given = tf.keras.Input([4])
    model = tf.keras.Model(given, tf.keras.layers.Dense(1)(given))
    model.compile("sgd", "mse")
    return [refused(one) for one in (
        lambda: model.fit(X, Y, validation_data=(X,), verbose=0),
        lambda: model.fit(X, Y, class_weight={0: 1.0, 1: 2.0}, verbose=0),
        lambda: model.compile("sgd", ["mse", "mse"]),
    )]  # fmt: skip


def wrong(tf):
    keras = tf.keras
    given = keras.Input([4])
    model = keras.Model(given, keras.layers.Dense(1)(given))
    return [refused(one) for one in (
        lambda: model.add_metric(model.output, aggregation="sum", name="s"),
        lambda: model.add_metric(model.output, aggregation="mean"),
        lambda: model.add_metric(model.output, name="s"),
        lambda: model.add_metric(3.0, aggregation="mean", name="s"),
    )]  # fmt: skip


def _operation(function):
    return lambda tf: between(tf, lambda hidden, given: function(tf, hidden, given))


def _telling(function):
    def told(tf):
        return between(tf, lambda h, x: h, lambda m, h, x: function(tf, m, h, x))

    return told


PROGRAMS = dict(
    [("operation_" + name, _operation(one)) for name, one in _OPERATIONS.items()]
    + [("told_" + name, _telling(one)) for name, one in _TOLD.items()]
)
for _one in (
    autoencoder, nested, told_by_layers, subclass, subclass_weights, rates, by_names, wrong,
    depthwise, layer_normalization, attention, steps_of_arrays, wrong_fits,
    kept_states,
):  # fmt: skip
    PROGRAMS[_one.__name__] = _one

"""Programs of Keras with layers that few models have: weights of each place, images over time.

They run with TensorFlow 1.15 and with Penstock alike, as graphs and eagerly; ``told_golden.json``
has what TensorFlow 1.15 has returned.
"""

import numpy as np

from tests.training.keras_models.between_programs import plain_config


def refused(function):
    """The class of an error and the words that it begins with."""
    try:
        function()
    except Exception as error:
        return [type(error).__name__, str(error)[:50]]
    return None


def patterned(arrays):
    """Weights of these shapes that differ from place to place."""
    return [np.sin(np.arange(one.size) + 1.0).reshape(one.shape) * 0.5 for one in arrays]


def rounded(value):
    """Numbers with as many digits as are compared."""
    if isinstance(value, (list, tuple)):
        return [rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return rounded(value.tolist())
    return float(f"{value:.6g}") if isinstance(value, (float, np.floating)) else value


def fed(shape, seed=1):
    return np.random.RandomState(seed).rand(*shape).astype("f")


def told(tf, layer, shape, batch=None):
    """What a layer makes, its weights, a step of training, its configuration, its shapes."""
    given = tf.keras.Input(shape, batch_size=batch)
    made = layer(given)
    outputs = made if isinstance(made, list) else [made]
    model = tf.keras.Model(given, outputs)
    names = [[weight.name, weight.shape.as_list()] for weight in model.weights]
    model.set_weights(patterned(model.get_weights()))
    x = fed([2] + shape)
    found = [model.predict(x)]
    model.compile("sgd", "mse")
    ones = [np.ones(np.shape(one), "f") for one in (found[0] if len(outputs) > 1 else found)]
    found += [model.train_on_batch(x, ones), model.predict(x)]
    found = rounded(found)
    config = {k: v for k, v in layer.get_config().items() if "initializer" not in k}
    again = tf.keras.Model.from_config(model.get_config())
    counted = [layer.count_params(), again.count_params()]
    shapes = layer.compute_output_shape(tf.TensorShape([2] + shape))
    shapes = [tf.TensorShape(one).as_list() for one in (
        shapes if isinstance(shapes, list) else [shapes])]  # fmt: skip
    fixed = [one.shape.as_list() for one in outputs]
    return [names, found, plain_config(config), counted, shapes, fixed]


_FORMS = ("channels_last", "channels_first")


def local_steps(tf):
    """Sequences, each place with its own weights, however these lie."""
    made, one = [], tf.keras.layers.LocallyConnected1D
    for implementation in (1, 2, 3):
        for form in _FORMS:
            more = {"implementation": implementation, "data_format": form}
            made.append(told(tf, one(2, 3, **more), [5, 4]))
            made.append(told(tf, one(2, 2, strides=2, activation="relu", **more), [6, 3]))
            made.append(
                told(tf, one(3, 2, use_bias=False, kernel_regularizer="l2", **more), [4, 3])
            )
            if implementation > 1:
                made.append(told(tf, one(2, 3, padding="same", **more), [5, 4]))
                made.append(told(tf, one(2, 2, 2, padding="same", **more), [5, 4]))
    return made


def local_images(tf):
    """The same of images."""
    made, one = [], tf.keras.layers.LocallyConnected2D
    for implementation in (1, 2, 3):
        for form in _FORMS:
            more = {"implementation": implementation, "data_format": form}
            made.append(told(tf, one(2, 2, **more), [3, 4, 3]))
            made.append(told(tf, one(3, (2, 1), strides=(1, 2), use_bias=False, **more), [4, 4, 3]))
            if implementation > 1:
                made.append(told(tf, one(2, (3, 2), padding="same", **more), [4, 3, 4]))
                made.append(told(tf, one(1, 2, strides=2, padding="same", **more), [5, 5, 3]))
    return made


def wrong_local(tf):
    steps = tf.keras.layers.LocallyConnected1D
    images, given = tf.keras.layers.LocallyConnected2D, tf.keras.Input
    return [refused(one) for one in (
        lambda: steps(2, 3, padding="same"),
        lambda: images(2, 3, padding="SAME"),
        lambda: steps(2, 3, padding="any"),
        lambda: steps(2, 3, data_format="any"),
        lambda: steps(2, (3, 3)),
        lambda: images(2, 3, strides=(1, 2, 3)),
        lambda: steps(2, 3, padding="causal", implementation=2)(given([5, 2])),
        lambda: steps(2, 3)(given([5, None])),
        lambda: steps(2, 3)(given([5])),
        lambda: images(2, 3)(given([5, None, 2])),
        lambda: images(2, 3)(given([None, 5, 2])),
        lambda: images(2, 3)(given([5, 2])),
        lambda: images(2, 3, implementation=4)(given([5, 5, 2])),
        lambda: steps(2, 3, implementation=4)(given([5, 2])),
        lambda: steps(2, 3, other=4),
    )]  # fmt: skip


def images_over_time(tf):
    """An LSTM of convolutions, with all that it can be asked."""
    one = tf.keras.layers.ConvLSTM2D
    asked = [
        (one(2, 2), [2, 4, 4, 3]),
        (one(2, 3, padding="same", return_sequences=True), [3, 3, 4, 1]),
        (one(2, 2, data_format="channels_first", return_state=True), [2, 3, 4, 4]),
        (one(2, (3, 2), strides=2, padding="same", go_backwards=True), [3, 5, 4, 2]),
        (one(1, 2, dilation_rate=2, use_bias=False), [2, 5, 5, 2]),
        (one(2, 2, activation="relu", recurrent_activation="sigmoid", unit_forget_bias=False,
             kernel_regularizer="l2", return_sequences=True, return_state=True), [2, 4, 4, 1]),
        (one(2, 2, dropout=0.5, recurrent_dropout=0.3), [2, 4, 4, 1]),
    ]  # fmt: skip
    made = []
    for layer, shape in asked:
        found = told(tf, layer, shape)
        if layer.dropout:
            found[1] = found[1][:1]  # what is random goes no further
        made.append(found)
    return made


def masked_images(tf):
    """Steps that count for nothing, and states that are given."""
    value = tf.keras.backend.get_value
    x, layer = fed([2, 3, 4, 4, 1]), tf.keras.layers.ConvLSTM2D(2, 2, return_sequences=True)
    layer.build(tf.TensorShape([2, 3, 4, 4, 1]))
    layer.set_weights(patterned(layer.get_weights()))
    marks = tf.constant([[True, False, True], [True, True, False]])
    states = [tf.constant(fed([2, 3, 3, 2], seed)) for seed in (2, 3)]
    x = tf.constant(x)
    return rounded([
        value(layer(x, mask=marks)), value(layer(x, initial_state=states)),
        value(layer([x] + states)), value(layer(x)),
    ])  # fmt: skip


def images_from_batch_to_batch(tf):
    x, y = fed([6, 2, 3, 3, 1]), fed([6, 1], 2)
    layer = tf.keras.layers.ConvLSTM2D(2, 2, stateful=True, batch_input_shape=[2, 2, 3, 3, 1])
    model = tf.keras.Sequential([layer, tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
    model.set_weights(patterned(model.get_weights()))
    found = [model.predict(x), model.predict(x)]
    layer.reset_states()
    found.append(model.predict(x[:2]))
    layer.reset_states([np.ones([2, 2, 2, 2]), np.zeros([2, 2, 2, 2])])
    found.append(model.predict(x[:2]))
    model.compile("sgd", "mse")
    model.reset_states()
    found.append(model.fit(x, y, batch_size=2, epochs=2, shuffle=False, verbose=0).history)
    wrong = [
        refused(lambda: layer.reset_states([np.ones([2, 2, 2, 2])])),
        refused(lambda: layer.reset_states([np.ones([2, 2, 2, 2]), np.ones([2, 2, 2, 3])])),
    ]
    return rounded([found, len(model.weights), wrong])


def wrong_images(tf):
    one, given = tf.keras.layers.ConvLSTM2D, tf.keras.Input
    return [refused(run) for run in (
        lambda: one(2, 2, unroll=True),
        lambda: one(2, 2)(given([3, 3, 1])),
        lambda: one(2, 2)(given([2, 3, 3, None])),
        lambda: one(2, 2, padding="any"),
        lambda: one(2, 2, padding="causal")(given([2, 3, 3, 1])),
        lambda: one(2, (2, 2, 2)),
        lambda: one(2, 2).reset_states(),
        lambda: one(2, 2, other=2),
    )]  # fmt: skip


def peepholes(tf):
    cell = tf.keras.experimental.PeepholeLSTMCell
    layers = tf.keras.layers
    made = [
        told(tf, layers.RNN(cell(3)), [4, 2]),
        told(tf, layers.RNN([cell(2), cell(3)]), [4, 2]),
        told(tf, layers.RNN(cell(2, implementation=2), return_sequences=True, unroll=True), [3, 2]),
    ]
    for one in made:
        del one[2]["cell"]
    return made


def own_cells(tf):
    """Cells of a program's own: with the base class, and with no more than they need."""
    keras = tf.keras

    class Sums(keras.layers.AbstractRNNCell):
        def __init__(self, units, **kwargs):
            super().__init__(**kwargs)
            self.units = units

        @property
        def state_size(self):
            return self.units

        @property
        def output_size(self):
            return self.units

        def build(self, input_shape):
            self.kernel = self.add_weight(shape=(input_shape[-1], self.units), name="kernel")
            self.built = True

        def call(self, inputs, states):
            made = keras.backend.dot(inputs, self.kernel) + states[0]
            return made, made

    class Plain(keras.layers.Layer):
        state_size = 2

        def call(self, inputs, states):
            made = inputs + 0.5 * states[0]
            return made, [made]

    class Square(keras.layers.Layer):
        state_size = [tf.TensorShape([2, 2]), 2]
        output_size = tf.TensorShape([2, 2])

        def call(self, inputs, states):
            wide = inputs[:, :, None] * inputs[:, None, :] + states[0]
            return wide, [wide, states[1] + inputs]

    found = []
    for cell in (Sums(3), Plain(), Square()):
        for more in ({}, {"return_sequences": True, "return_state": True}):
            given = keras.Input([3, 2])
            layer = keras.layers.RNN(cell, **more)
            model = keras.Model(given, layer(given))
            model.set_weights(patterned(model.get_weights()))
            shapes = layer.compute_output_shape(tf.TensorShape([None, 3, 2]))
            shapes = shapes if isinstance(shapes, list) else [shapes]
            found.append([model.predict(fed([2, 3, 2])), [one.as_list() for one in shapes]])
    base = keras.layers.AbstractRNNCell()
    wrong = [refused(one) for one in (
        lambda: base.state_size, lambda: base.output_size, lambda: base.call(1, 2),
        lambda: keras.layers.LSTMCell(2).get_initial_state(), lambda: Sums(2).get_initial_state(),
    )]  # fmt: skip
    zeros = Sums(2).get_initial_state(batch_size=3, dtype="float32")
    return rounded([found, wrong, keras.backend.get_value(zeros)])


def of_cudnn(tf):
    """The weights and configurations of layers that TensorFlow runs with GPUs alone."""
    layers, found = tf.keras.layers, []
    for layer in (layers.CuDNNLSTM(3), layers.CuDNNGRU(2, return_sequences=True), layers.CuDNNLSTM(
        2, unit_forget_bias=False, bias_initializer="ones", return_state=True, time_major=True,
    )):  # fmt: skip
        layer.build(tf.TensorShape([None, 4, 5]))
        config = {k: v for k, v in layer.get_config().items() if "initializer" not in k}
        shapes = layer.compute_output_shape(tf.TensorShape([2, 4, 5]))
        shapes = shapes if isinstance(shapes, list) else [shapes]
        found.append([
            [[one.name, one.shape.as_list()] for one in layer.weights], plain_config(config),
            layer.get_weights()[2], [one.as_list() for one in shapes],
        ])  # fmt: skip
    masked = layers.Masking()(tf.keras.Input([4, 5]))
    return [found, refused(lambda: layers.CuDNNGRU(2)(masked))]


PROGRAMS = {
    one.__name__: one
    for one in (
        local_steps, local_images, wrong_local, images_over_time, masked_images,
        images_from_batch_to_batch, wrong_images, peepholes, own_cells, of_cudnn,
    )
}  # fmt: skip

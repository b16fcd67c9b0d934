"""Programs of Keras in which recurrent layers are given more than a sequence, and configurations.

They run with TensorFlow 1.15 and with Penstock alike, as graphs and eagerly; ``told_golden.json``
has what TensorFlow 1.15 has returned.
"""

import json

import numpy as np

from tests.training.keras_models.seldom_layers import fed, patterned, refused, rounded

LONG, SHORT = [2, 5, 3], [2, 4, 2]


def told(tf, model, *data):
    """Calls, outputs and parameters of a model, and how far those made of it are from it."""
    model.set_weights(patterned(model.get_weights()))
    outputs = _outputs(model, data)
    inputs = [tf.keras.Input(one.shape.as_list()[1:]) for one in model.inputs]
    made = [
        tf.keras.models.model_from_json(model.to_json()), tf.keras.models.clone_model(model),
        tf.keras.Model(inputs, model(inputs)),
    ]  # fmt: skip
    apart = []
    for other in made:
        other.set_weights(model.get_weights())
        found = _outputs(other, data)
        apart.append(max(float(abs(a - b).max()) for a, b in zip(outputs, found)))
    calls = [(layer["name"], _places(layer)) for layer in model.get_config()["layers"]]
    return rounded([calls, outputs, model.count_params(), apart])


def _outputs(model, data):
    found = model.predict(list(data))
    return found if isinstance(found, list) else [found]


def _places(layer):
    """Where the inputs of calls come from; Keras notes in passing that nothing else was given."""

    def of(value):
        if isinstance(value[0], str):
            return value[:3]
        return [of(one) for one in value]

    return [of(call) for call in layer["inbound_nodes"]]


def encoder_and_decoder(tf):
    """As in the tutorial of Keras: trained as one model, used as two."""
    layers = tf.keras.layers
    spoken, heard = layers.Input([None, 3], name="spoken"), layers.Input([None, 2], name="heard")
    _, *states = layers.LSTM(4, return_state=True, name="encoder")(spoken)
    decoder = layers.LSTM(4, return_sequences=True, return_state=True, name="decoder")
    dense = layers.Dense(2, activation="softmax", name="answer")
    hidden, _, _ = decoder(heard, initial_state=states)
    model = tf.keras.Model([spoken, heard], dense(hidden))
    found = [told(tf, model, fed(LONG), fed(SHORT))]
    model.compile("rmsprop", "categorical_crossentropy")
    wanted = np.eye(2)[np.array([[0, 1, 1, 0], [1, 0, 0, 1]])]
    found += [model.train_on_batch([fed(LONG), fed(SHORT)], wanted) for _ in range(2)]
    found.append([float(abs(one).sum()) for one in model.get_weights()])
    first = [layers.Input([4]), layers.Input([4])]
    hidden, *after = decoder(heard, initial_state=first)
    encoder = tf.keras.Model(spoken, states)
    step = tf.keras.Model([heard, *first], [dense(hidden), *after])
    known = encoder.predict(fed(LONG))
    for _ in range(2):
        answer, *known = step.predict([fed(SHORT)[:, :1], *known])
        found += [answer, *known]
    lines = []
    model.summary(print_fn=lines.append)
    return rounded([found, lines, step.layers[-1].input_shape, decoder.get_input_shape_at(0)])


def given_states(tf):
    layers = tf.keras.layers
    x, z = layers.Input(LONG[1:]), layers.Input(SHORT[1:])
    data = fed(LONG), fed(SHORT)
    _, *both = layers.Bidirectional(layers.LSTM(2, return_state=True))(x)
    two_ways = layers.Bidirectional(layers.LSTM(2))(z, initial_state=both)
    _, state = layers.GRU(4, return_state=True)(layers.Masking(0.3)(x))
    masked = layers.GRU(4, return_sequences=True)(layers.Masking(0.3)(z), initial_state=state)
    cells = [layers.LSTMCell(2), layers.GRUCell(3)]
    _, *several = layers.RNN(cells, return_state=True)(x)
    stacked = layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)])(z, initial_state=several)
    _, one = layers.SimpleRNN(4, return_state=True)(x)
    in_a_list = layers.SimpleRNN(4)([z, one])
    dense = layers.SimpleRNN(4)(z, initial_state=layers.Dense(4)(layers.Flatten()(x)))
    outputs = [two_ways, masked, stacked, in_a_list, dense]
    return [told(tf, tf.keras.Model([x, z], output), *data) for output in outputs]


def with_constants(tf):
    class Cell(tf.keras.layers.Layer):
        def __init__(self, units, seen, **more):
            super().__init__(**more)
            self.units = self.state_size = units
            self.seen = seen

        def build(self, shape):
            def add(name, size):
                return self.add_weight(name, [size, self.units], initializer="ones")

            self.ways = add("kernel", shape[-1]), add("again", self.units), add("seen", self.seen)
            self.built = True

        def call(self, inputs, states, constants):
            values = inputs, states[0], constants[0]
            output = tf.tanh(sum(0.1 * tf.matmul(v, w) for v, w in zip(values, self.ways)))
            return output, [output]

        def get_config(self):
            own = {"units": self.units, "seen": self.seen}
            return dict(super().get_config(), **own)

    layers = tf.keras.layers
    x, seen, state = layers.Input(LONG[1:]), layers.Input([2]), layers.Input([4])
    data = fed(LONG), fed([2, 2])
    layer = layers.RNN(Cell(4, 2))
    several = layers.RNN([Cell(4, 2), Cell(3, 2)], return_sequences=True)
    two_ways = layers.Bidirectional(layers.RNN(Cell(4, 2)))
    with tf.keras.utils.custom_object_scope({"Cell": Cell}):
        output = layer(x, constants=seen)
        found = [told(tf, tf.keras.Model([x, seen], output), *data)]
        again = layers.RNN.from_config(layer.get_config())
        found.append(told(tf, tf.keras.Model([x, seen], again([x, seen])), *data))
        begun = layers.RNN(Cell(4, 2))(x, initial_state=state, constants=seen)
        found.append(
            told(tf, tf.keras.Model([x, state, seen], begun), data[0], fed([2, 4]), data[1])
        )
        found.append(told(tf, tf.keras.Model([x, seen], several(x, constants=seen)), *data))
    wrong = [
        refused(lambda: layers.RNN(layers.GRUCell(4))(x, constants=seen)),
        refused(lambda: layers.LSTM(4)(x, constants=seen)),
        refused(lambda: layers.RNN(Cell(4, 2))(x, initial_state=tf.zeros([2, 4]), constants=seen)),
        refused(lambda: layers.Bidirectional(layers.LSTM(2))(x, initial_state=[state])),
        refused(lambda: layers.Bidirectional(
            layers.GRU(2), backward_layer=layers.GRU(2, go_backwards=True, return_sequences=True)
        )),
    ]  # fmt: skip
    return [found, layer.get_config()["num_constants"], two_ways.get_config()["layer"], wrong]


def arguments_from_layers(tf):
    """Tensors of layers that stand behind the first argument are inputs of a model, too."""

    class Scaled(tf.keras.layers.Layer):
        def call(self, inputs, by=None, twice=False):
            made = inputs if by is None else inputs * by
            return made * 2 if twice else made

    x, z = tf.keras.Input([3]), tf.keras.Input([3])
    with tf.keras.utils.custom_object_scope({"Scaled": Scaled}):
        found = []
        for by in (z, tf.keras.layers.Dense(3)(z), z + 1.0):
            output = tf.keras.layers.Dense(2)(Scaled()(x, by=by, twice=True))
            model = tf.keras.Model([x, z], output)
            model.set_weights(patterned(model.get_weights()))
            outputs = model.predict([fed([2, 3]), fed([2, 3])])
            again = tf.keras.models.model_from_json(model.to_json())
            again.set_weights(model.get_weights())
            apart = abs(again.predict([fed([2, 3]), fed([2, 3])]) - outputs).max()
            found.append([outputs, model.count_params(), len(model.layers), float(apart)])
    return rounded(found)


def wrapped(tf):
    """Layers around others, made anew from their configurations."""
    layers = tf.keras.layers
    made = [
        layers.TimeDistributed(layers.Dense(3)),
        layers.Bidirectional(layers.LSTM(2, return_sequences=True), merge_mode="sum"),
        layers.Bidirectional(layers.RNN([layers.GRUCell(2), layers.LSTMCell(3)])),
        layers.Bidirectional(layers.GRU(2), backward_layer=layers.GRU(3, go_backwards=True)),
    ]
    found = []
    for layer in made:
        config = layer.get_config()
        again = type(layer).from_config(dict(config))
        found.append([sorted(config), again.layer.get_config() == layer.layer.get_config()])
    x = layers.Input(LONG[1:])
    output = layers.TimeDistributed(layers.Dense(2))(made[1](made[0](x)))
    return [found, told(tf, tf.keras.Model(x, output), fed(LONG))]


def configurations(tf):
    """Layers as configurations, and the same ones made of these."""
    layers = tf.keras.layers
    found = []
    for name, given in _LAYERS:
        layer = getattr(layers, name)(**given)
        config = json.loads(json.dumps(layer.get_config(), default=float))
        again = type(layer).from_config(dict(config)).get_config()
        found.append([config, json.loads(json.dumps(again, default=float)) == config])
    return found


_POOLS = {"MaxPool%dD", "AvgPool%dD", "GlobalMaxPool%dD", "GlobalAveragePooling%dD"}
_LAYERS = [
    ("Dense", {"units": 3, "activation": "relu", "bias_constraint": "non_neg"}),
    ("Dropout", {"rate": 0.25, "noise_shape": [1, 4], "seed": 1}),
    ("Flatten", {"data_format": "channels_first"}), ("Reshape", {"target_shape": [2, -1]}),
    ("Permute", {"dims": [2, 1]}), ("RepeatVector", {"n": 3}),
    ("ActivityRegularization", {"l1": 0.5}), ("Masking", {"mask_value": 0.5}),
    ("SpatialDropout1D", {"rate": 0.25}), ("SpatialDropout2D", {"rate": 0.25}),
    ("SpatialDropout3D", {"rate": 0.25}),
    ("Conv1D", {"filters": 2, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}),
    ("Conv2D", {"filters": 2, "kernel_size": [3, 2], "strides": 2, "use_bias": False}),
    ("Conv3D", {"filters": 2, "kernel_size": 2}),
    ("Conv2DTranspose", {"filters": 2, "kernel_size": 3, "strides": 2, "output_padding": 1}),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": 3}),
    ("SeparableConv1D", {"filters": 2, "kernel_size": 3, "depth_multiplier": 2}),
    ("SeparableConv2D", {"filters": 2, "kernel_size": 3}), ("DepthwiseConv2D", {"kernel_size": 3}),
    ("UpSampling1D", {}), ("UpSampling2D", {"size": [2, 1], "interpolation": "bilinear"}),
    ("UpSampling3D", {}), ("ZeroPadding1D", {"padding": [1, 2]}), ("ZeroPadding2D", {"padding": 1}),
    ("ZeroPadding3D", {}), ("Cropping1D", {}), ("Cropping2D", {"cropping": [[1, 2], [0, 1]]}),
    ("Cropping3D", {}), *((name % rank, {}) for name in sorted(_POOLS) for rank in (1, 2, 3)),
    ("LocallyConnected1D", {"filters": 2, "kernel_size": 3}),
    ("LocallyConnected2D", {"filters": 2, "kernel_size": 3, "implementation": 2}),
    ("Embedding", {"input_dim": 5, "output_dim": 3, "mask_zero": True, "input_length": 4}),
    *((name, {}) for name in ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum")),
    ("Concatenate", {"axis": 1}), ("Dot", {"axes": 1, "normalize": True}),
    ("LeakyReLU", {"alpha": 0.25}), ("PReLU", {"shared_axes": [1]}), ("ELU", {"alpha": 0.5}),
    ("ThresholdedReLU", {"theta": 0.5}), ("Softmax", {"axis": 1}), ("ReLU", {"max_value": 6.0}),
    ("BatchNormalization", {"scale": False}), ("LayerNormalization", {}),
    ("GaussianNoise", {"stddev": 0.25}), ("GaussianDropout", {"rate": 0.25}),
    ("AlphaDropout", {"rate": 0.25}), ("SimpleRNN", {"units": 3, "time_major": True}),
    ("GRU", {"units": 3, "dropout": 0.25, "return_state": True}),
    ("LSTM", {"units": 3, "recurrent_dropout": 0.25, "stateful": True}),
    ("SimpleRNNCell", {"units": 3}), ("GRUCell", {"units": 3}), ("LSTMCell", {"units": 3}),
    ("ConvLSTM2D", {"filters": 2, "kernel_size": 3}),
    ("CuDNNLSTM", {"units": 3}), ("CuDNNGRU", {"units": 3, "return_sequences": True}),
    ("Attention", {"use_scale": True}), ("AdditiveAttention", {}),
]  # fmt: skip


PROGRAMS = {
    one.__name__: one
    for one in (
        encoder_and_decoder, given_states, with_constants, arguments_from_layers, wrapped,
        configurations,
    )
}  # fmt: skip

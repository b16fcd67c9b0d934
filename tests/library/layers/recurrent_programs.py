"""Programs of ``tf.keras.layers``: recurrent layers."""

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def _x(tf, time=4):
    return tf.placeholder(tf.float32, [None, time, 3])


def _layer(kind, **arguments):
    def made(tf):
        layer = getattr(tf.keras.layers, kind)(2, **arguments)
        found = layer(_x(tf))
        return found if isinstance(found, list) else [found]

    return made


for _kind in ("SimpleRNN", "LSTM", "GRU"):
    _key = _kind.lower()
    PROGRAMS[_key] = _layer(_kind)
    PROGRAMS[_key + "_sequences"] = _layer(_kind, return_sequences=True, return_state=True)
    PROGRAMS[_key + "_backwards"] = _layer(_kind, go_backwards=True, use_bias=False)
    PROGRAMS[_key + "_unrolled"] = _layer(_kind, unroll=True)
    PROGRAMS[_key + "_regularized"] = _layer(
        _kind, kernel_regularizer="l2", activity_regularizer="l1", name="r"
    )
PROGRAMS["lstm_2"] = _layer("LSTM", implementation=2, unit_forget_bias=False)
PROGRAMS["lstm_sigmoid"] = _layer("LSTM", recurrent_activation="sigmoid", activation="relu")
PROGRAMS["gru_reset_after"] = _layer("GRU", reset_after=True)


@program
def masked(tf):
    x = _x(tf)
    mask = tf.greater(x[:, :, 0], 0.0)
    return tf.keras.layers.LSTM(2, return_sequences=True)(x, mask=mask)


@program
def embedded(tf):
    ids = tf.placeholder(tf.int32, [None, 5])
    x = tf.keras.layers.Embedding(10, 3, mask_zero=True)(ids)
    return tf.keras.layers.GRU(2)(x)


@program
def open_time(tf):
    return tf.keras.layers.LSTM(2, return_sequences=True)(_x(tf, None))


@program
def stacked(tf):
    cells = [tf.keras.layers.LSTMCell(2), tf.keras.layers.GRUCell(3)]
    return tf.keras.layers.RNN(cells, return_sequences=True)(_x(tf))


@program
def given_states(tf):
    x = _x(tf)
    first = tf.keras.layers.GRU(2, return_state=True)
    output, state = first(x)
    return tf.keras.layers.GRU(2)(x, initial_state=state), output


@program
def bidirectional(tf):
    layer = tf.keras.layers.Bidirectional(tf.keras.layers.LSTM(2, return_sequences=True))
    return layer(_x(tf))


@program
def bidirectional_sum(tf):
    layer = tf.keras.layers.Bidirectional(tf.keras.layers.GRU(2), merge_mode="sum", name="both")
    y = layer(_x(tf))
    return y, tf.constant([v.name for v in layer.trainable_weights])


@program
def time_distributed(tf):
    layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(4, activation="relu"))
    return layer(_x(tf))


@program
def time_distributed_images(tf):
    x = tf.placeholder(tf.float32, [None, 2, 5, 5, 3])
    return tf.keras.layers.TimeDistributed(tf.keras.layers.Conv2D(2, 3))(x)


@program
def time_distributed_open(tf):
    return tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(4))(_x(tf, None))


@program
def time_distributed_batch(tf):
    x = tf.placeholder(tf.float32, [2, 3, 4])
    return tf.keras.layers.TimeDistributed(tf.keras.layers.Dense(4))(x)


@program
def error_merge_mode(tf):
    return tf.keras.layers.Bidirectional(tf.keras.layers.GRU(2), merge_mode="most")


@program
def error_rank(tf):
    return tf.keras.layers.LSTM(2)(tf.placeholder(tf.float32, [None, 3]))


@program
def error_unrolled(tf):
    return tf.keras.layers.LSTM(2, unroll=True)(_x(tf, None))

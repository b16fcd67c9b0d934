"""Networks made with ``tf.keras``, in a graph of the program's own."""

from tests.tf1.networks.observe import Network, classes, classified, numbers


def sequential(tf):
    keras = tf.keras
    x = tf.placeholder(tf.float32, [None, 10])
    model = keras.Sequential([
        keras.layers.Dense(8, activation="relu", input_shape=(10,)),
        keras.layers.Dropout(0.0),
        keras.layers.Dense(6, activation="tanh", kernel_regularizer="l2"),
        keras.layers.Dense(3),
    ])  # fmt: skip
    return classified(tf, {x: numbers([5, 10])}, model(x), classes(3, 5))


def images(tf):
    layers = tf.keras.layers
    x = tf.placeholder(tf.float32, [None, 16, 16, 3])
    image = tf.keras.Input([16, 16, 3])
    found = layers.Conv2D(6, 3, activation="relu")(image)
    found = layers.BatchNormalization()(found)
    found = layers.MaxPooling2D()(found)
    found = layers.SeparableConv2D(8, 3, padding="same")(found)
    found = layers.PReLU(shared_axes=[1, 2])(found)
    found = layers.GlobalAveragePooling2D()(found)
    model = tf.keras.Model(image, layers.Dense(4)(found))
    return classified(tf, {x: numbers([4, 16, 16, 3])}, model(x), classes(4, 4))


def two_inputs(tf):
    layers = tf.keras.layers
    feed = {
        tf.placeholder(tf.float32, [None, 6]): numbers([5, 6]),
        tf.placeholder(tf.float32, [None, 4]): numbers([5, 4], 2),
    }
    one, other = tf.keras.Input([6]), tf.keras.Input([4])
    found = layers.Concatenate()([layers.Dense(5)(one), layers.Dense(5)(other)])
    found = layers.Add()([found, layers.Dense(10, activation="sigmoid")(found)])
    model = tf.keras.Model([one, other], layers.Dense(2)(found))
    return classified(tf, feed, model(list(feed)), classes(2, 5))


def words_lstm(tf):
    layers = tf.keras.layers
    words = tf.placeholder(tf.int32, [None, 7])
    found = layers.Embedding(20, 6)(words)
    found = layers.LSTM(5, return_sequences=True)(found)
    found = layers.LSTM(4)(found)
    return classified(tf, {words: classes(20, [4, 7])}, layers.Dense(3)(found), classes(3, 4))


def bidirectional_gru(tf):
    layers = tf.keras.layers
    x = tf.placeholder(tf.float32, [None, 6, 4])
    found = layers.Bidirectional(layers.GRU(5))(x)
    return classified(tf, {x: numbers([4, 6, 4])}, layers.Dense(3)(found), classes(3, 4))


def text_convolutions(tf):
    layers = tf.keras.layers
    words = tf.placeholder(tf.int32, [None, 12])
    found = layers.Embedding(30, 8, name="table")(words)
    found = layers.Conv1D(6, 3, activation="relu")(found)
    found = layers.GlobalMaxPooling1D()(found)
    return classified(tf, {words: classes(30, [4, 12])}, layers.Dense(2)(found), classes(2, 4))


def decoder(tf):
    layers = tf.keras.layers
    x = tf.placeholder(tf.float32, [None, 9])
    found = layers.Reshape([3, 3, 4])(layers.Dense(36, activation="elu")(x))
    found = layers.UpSampling2D()(found)
    found = layers.Conv2DTranspose(3, 3, strides=2, padding="same")(found)
    found = layers.LeakyReLU(0.1)(found)
    return Network({x: numbers([3, 9])}, found, tf.reduce_mean(tf.square(found - 0.5)))


NETWORKS = {
    function.__name__: function
    for function in (
        sequential, images, two_inputs, words_lstm, bidirectional_gru, text_convolutions, decoder,
    )
}  # fmt: skip

"""Networks made with ``tf.layers`` and ``tf.contrib.layers``."""

from tests.tf1.networks.observe import Network, classes, classified, numbers


def perceptron(tf):
    x = tf.placeholder(tf.float32, [None, 20])
    hidden = tf.layers.dense(x, 16, tf.nn.relu, kernel_regularizer=tf.nn.l2_loss)
    hidden = tf.layers.dense(hidden, 8, tf.nn.tanh, name="second")
    return classified(tf, {x: numbers([6, 20])}, tf.layers.dense(hidden, 3), classes(3, 6))


def normalized_perceptron(tf):
    x = tf.placeholder(tf.float32, [None, 12])
    with tf.variable_scope("body"):
        hidden = tf.layers.batch_normalization(tf.layers.dense(x, 10), training=True)
        hidden = tf.nn.relu(hidden)
        hidden = tf.layers.batch_normalization(tf.layers.dense(hidden, 9), training=True)
    return classified(tf, {x: numbers([8, 12])}, tf.layers.dense(hidden, 4), classes(4, 8))


def digits(tf):
    x = tf.placeholder(tf.float32, [None, 784])
    images = tf.reshape(x, [-1, 28, 28, 1])
    found = tf.layers.conv2d(images, 8, 5, padding="same", activation=tf.nn.relu)
    found = tf.layers.max_pooling2d(found, 2, 2)
    found = tf.layers.conv2d(found, 16, [5, 5], padding="same", activation=tf.nn.relu)
    found = tf.layers.average_pooling2d(found, [2, 2], 2)
    found = tf.layers.dense(tf.layers.flatten(found), 32, activation=tf.nn.relu)
    found = tf.layers.dropout(found, 0.4, training=False)
    return classified(tf, {x: numbers([5, 784])}, tf.layers.dense(found, 10), classes(10, 5))


def normalized_digits(tf):
    images = tf.placeholder(tf.float32, [None, 16, 16, 3])
    found = images
    for number, filters in enumerate([6, 8]):
        with tf.variable_scope(f"block{number}"):
            found = tf.layers.conv2d(found, filters, 3, use_bias=False, name="conv")
            found = tf.layers.batch_normalization(found, training=True, momentum=0.9, name="bn")
            found = tf.nn.relu(found)
    logits = tf.layers.dense(tf.reduce_mean(found, [1, 2]), 5)
    return classified(tf, {images: numbers([6, 16, 16, 3])}, logits, classes(5, 6))


def separable(tf):
    images = tf.placeholder(tf.float32, [None, 14, 14, 4])
    found = tf.layers.separable_conv2d(images, 8, 3, depth_multiplier=2, activation=tf.nn.relu)
    found = tf.layers.separable_conv2d(found, 6, 3, strides=2, padding="same")
    logits = tf.layers.dense(tf.layers.flatten(found), 3)
    return classified(tf, {images: numbers([4, 14, 14, 4])}, logits, classes(3, 4))


def sentences(tf):
    words = tf.placeholder(tf.int32, [None, 12])
    table = tf.get_variable("embedding", [50, 8])
    vectors = tf.nn.embedding_lookup(table, words)
    found = [
        tf.reduce_max(tf.layers.conv1d(vectors, 6, size, activation=tf.nn.relu), 1)
        for size in (2, 3, 4)
    ]
    logits = tf.layers.dense(tf.concat(found, 1), 2)
    return classified(tf, {words: classes(50, [5, 12])}, logits, classes(2, 5))


def volumes(tf):
    blocks = tf.placeholder(tf.float32, [None, 6, 8, 8, 2])
    found = tf.layers.conv3d(blocks, 4, 3, padding="same", activation=tf.nn.elu)
    found = tf.layers.max_pooling3d(found, 2, 2)
    logits = tf.layers.dense(tf.layers.flatten(found), 3)
    return classified(tf, {blocks: numbers([3, 6, 8, 8, 2])}, logits, classes(3, 3))


def autoencoder(tf):
    images = tf.placeholder(tf.float32, [None, 12, 12, 2])
    code = tf.layers.conv2d(images, 6, 4, strides=2, padding="same", activation=tf.nn.relu)
    code = tf.layers.conv2d(code, 8, 3, strides=2, padding="same", activation=tf.nn.relu)
    found = tf.layers.conv2d_transpose(code, 6, 3, strides=2, padding="same")
    found = tf.layers.conv2d_transpose(tf.nn.relu(found), 2, 4, strides=2, padding="same")
    loss = tf.losses.mean_squared_error(images, found)
    return Network({images: numbers([4, 12, 12, 2])}, found, loss)


def twins(tf):
    one, other = (tf.placeholder(tf.float32, [None, 10], name=n) for n in ("one", "other"))

    def tower(x, reuse):
        with tf.variable_scope("tower", reuse=reuse):
            return tf.layers.dense(tf.layers.dense(x, 8, tf.nn.relu, name="a"), 4, name="b")

    apart = tf.reduce_sum(tf.square(tower(one, None) - tower(other, True)), 1)
    loss = tf.losses.hinge_loss(tf.constant([1.0, 0.0, 1.0, 0.0, 1.0]), apart - 1)
    return Network({one: numbers([5, 10]), other: numbers([5, 10], 3)}, apart, loss)


# ---- contrib.layers ------------------------------------------------------------------------------


def contrib_perceptron(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 20])
    found = layers.stack(x, layers.fully_connected, [16, 8], scope="fc")
    found = layers.layer_norm(found)
    logits = layers.fully_connected(found, 3, activation_fn=None, scope="logits")
    return classified(tf, {x: numbers([6, 20])}, logits, classes(3, 6))


def contrib_digits(tf):
    layers = tf.contrib.layers
    images = tf.placeholder(tf.float32, [None, 20, 20, 3])
    with tf.contrib.framework.arg_scope(
        [layers.conv2d],
        normalizer_fn=layers.batch_norm,
        normalizer_params={"decay": 0.9, "scale": True, "is_training": True},
        weights_regularizer=layers.l2_regularizer(0.01),
    ):
        found = layers.repeat(images, 2, layers.conv2d, 6, [3, 3], scope="conv")
        found = layers.max_pool2d(found, [2, 2], scope="pool")
        found = layers.conv2d(found, 8, [3, 3], 2, padding="VALID")
    logits = layers.fully_connected(layers.flatten(found), 4, activation_fn=None)
    return classified(tf, {images: numbers([5, 20, 20, 3])}, logits, classes(4, 5))


def contrib_words(tf):
    layers = tf.contrib.layers
    words = tf.placeholder(tf.int32, [None, 7])
    bag = layers.bow_encoder(words, 30, 6, scope="bag")
    sequence = layers.embed_sequence(words, 30, 5, scope="sequence")
    found = tf.concat([bag, tf.reduce_mean(sequence, 1)], 1)
    logits = layers.linear(found, 2)
    return classified(tf, {words: classes(30, [5, 7])}, logits, classes(2, 5))


def contrib_generator(tf):
    layers = tf.contrib.layers
    noise = tf.placeholder(tf.float32, [None, 10])
    found = tf.reshape(layers.fully_connected(noise, 3 * 3 * 8), [-1, 3, 3, 8])
    found = layers.conv2d_transpose(found, 6, 3, 2, normalizer_fn=layers.instance_norm)
    found = layers.conv2d_transpose(found, 4, 3, 2, normalizer_fn=layers.group_norm,
                                    normalizer_params={"groups": 2})  # fmt: skip
    found = layers.conv2d(found, 3, 3, activation_fn=tf.nn.tanh)
    return Network({noise: numbers([3, 10])}, found, tf.reduce_mean(tf.square(found - 0.5)))


NETWORKS = {
    function.__name__: function
    for function in (
        perceptron, normalized_perceptron, digits, normalized_digits, separable, sentences,
        volumes, autoencoder, twins, contrib_perceptron, contrib_digits, contrib_words,
        contrib_generator,
    )
}  # fmt: skip

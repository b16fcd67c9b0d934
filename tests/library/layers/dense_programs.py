"""Programs of ``tf.layers``: dense, flatten and dropout layers, scopes and sharing."""

PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


@program
def dense(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.layers.dense(x, 5, activation=tf.nn.relu)
    return tf.layers.dense(y, 3)


@program
def dense_named_and_shared(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    a = tf.layers.dense(x, 5, name="one")
    b = tf.layers.dense(x, 5, name="one", reuse=True)
    with tf.variable_scope("outer"):
        c = tf.layers.dense(x, 2)
    with tf.variable_scope("outer", reuse=True):
        d = tf.layers.dense(x, 2, name="dense")
    return a, b, c, d


@program
def dense_auto_reuse(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    made = []
    for _ in range(2):
        with tf.variable_scope("net", reuse=tf.AUTO_REUSE):
            h = tf.layers.dense(x, 5, tf.nn.tanh, name="h")
            made.append(tf.layers.dense(h, 5))
    return made


@program
def dense_regularized(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.layers.dense(
        x, 5, kernel_regularizer=lambda w: 0.1 * tf.nn.l2_loss(w), bias_regularizer=tf.nn.l2_loss,
        activity_regularizer=lambda t: tf.reduce_sum(t), kernel_constraint=lambda w: w * 0.5,
    )  # fmt: skip
    return [y, tf.losses.get_regularization_loss()]


@program
def dense_scope_defaults(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    with tf.variable_scope(
        "s", initializer=tf.ones_initializer(), regularizer=tf.nn.l2_loss, use_resource=True
    ):
        y = tf.layers.dense(x, 5, use_bias=False)
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        z = tf.layers.dense(x, 3)
    return y, z


@program
def dense_of_higher_rank(tf):
    x = tf.placeholder(tf.float32, [None, 6, 4])
    return tf.layers.dense(x, 5, tf.nn.relu)


@program
def dense_class(tf):
    layer = tf.layers.Dense(
        3, activation=tf.sigmoid, name="fc", bias_initializer=tf.ones_initializer()
    )
    x = tf.placeholder(tf.float32, [None, 4])
    a = layer(x)
    b = layer(x * 2)
    assert [v.name for v in layer.trainable_variables] == ["fc/kernel:0", "fc/bias:0"]
    other = tf.layers.Dense(3)
    return a, b, other(b), tf.layers.Dense(2, trainable=False)(b)


@program
def dense_twice_in_scopes(tf):
    layer = tf.layers.Dense(3)
    x = tf.placeholder(tf.float32, [None, 4])
    with tf.variable_scope("a"):
        a = layer(x)
    with tf.name_scope("b"):
        b = layer(x)
    with tf.name_scope("c"), tf.variable_scope("d"):
        c = tf.layers.dense(x, 2)
    return a, b, c


@program
def dense_float64(tf):
    x = tf.cast(tf.placeholder(tf.float32, [None, 4]), tf.float64)
    return tf.layers.dense(x, 5)


@program
def flatten_and_dropout(tf):
    x = tf.placeholder(tf.float32, [None, 4, 3])
    y = tf.layers.flatten(x)
    z = tf.layers.dropout(y, 0.4, training=True, seed=3)
    w = tf.layers.dropout(y, 0.4)
    return y, z, w, tf.layers.Flatten()(tf.placeholder(tf.float32, [None, 5]))


@program
def flatten_unknown(tf):
    a = tf.layers.flatten(tf.placeholder(tf.float32, [None, None, 3]))
    b = tf.layers.flatten(tf.placeholder(tf.float32, [2, 4, 3]))
    c = tf.layers.flatten(tf.placeholder(tf.float32, [None, 2, 4]), data_format="channels_first")
    return a, b, c


@program
def dropout_of_placeholder(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    training = tf.placeholder(tf.bool, [], name="training")
    return tf.layers.dropout(x, 0.5, training=training, noise_shape=[None, 1], name="drop")


@program
def own_layer(tf):
    class Scale(tf.layers.Layer):
        def build(self, shape):
            self.scale = self.add_weight("scale", shape[1:], initializer=tf.ones_initializer())
            self.offset = self.add_variable("offset", [], trainable=False)
            self.built = True

        def call(self, inputs):
            other = tf.get_variable("inside", [4])
            return inputs * self.scale + self.offset + other

    layer = Scale()
    x = tf.placeholder(tf.float32, [None, 4])
    return layer(x), layer(x)


@program
def keras_style(tf):
    x = tf.placeholder(tf.float32, [None, 4])
    with tf.layers.experimental.keras_style_scope():
        layers = [tf.layers.Dense(4, name="same") for _ in range(2)]
        plain = tf.layers.Dense(2)
    for layer in layers:
        x = layer(x)
    return plain(x)


@program
def error_rank(tf):
    return tf.layers.dense(tf.placeholder(tf.float32, [4]), 5)


@program
def error_rank_unknown(tf):
    return tf.layers.dense(tf.placeholder(tf.float32), 5)


@program
def error_open_depth(tf):
    return tf.layers.dense(tf.placeholder(tf.float32, [3, None]), 5)


@program
def error_int(tf):
    return tf.layers.dense(tf.placeholder(tf.int32, [3, 4]), 5)


@program
def error_other_depth(tf):
    layer = tf.layers.Dense(3)
    layer(tf.placeholder(tf.float32, [None, 4]))
    return layer(tf.placeholder(tf.float32, [None, 5]))


@program
def error_keyword(tf):
    return tf.layers.Dense(3, units_of="x")

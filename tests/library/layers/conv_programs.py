"""Programs of ``tf.layers``: convolutions and pooling."""

PROGRAMS = {}
SHAPES = {1: [None, 9, 3], 2: [None, 9, 8, 3], 3: [None, 7, 6, 5, 2]}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def _image(tf, rank, first=False):
    shape = SHAPES[rank]
    return tf.placeholder(tf.float32, [None, shape[-1]] + shape[1:-1] if first else shape)


def _conv(rank, **arguments):
    def made(tf):
        first = arguments.get("data_format") == "channels_first"
        function = getattr(tf.layers, f"conv{rank}d")
        return function(_image(tf, rank, first), 4, 3, **arguments)

    return made


for _rank in (1, 2, 3):
    _name = f"conv{_rank}d"
    PROGRAMS[_name] = _conv(_rank)
    PROGRAMS[_name + "_same"] = _conv(_rank, padding="SAME", strides=2, name="c")
    PROGRAMS[_name + "_no_bias"] = _conv(_rank, use_bias=False, trainable=False)


@program
def conv1d_dilated(tf):
    return tf.layers.conv1d(_image(tf, 1), 4, 3, dilation_rate=2)


@program
def conv1d_dilated_same(tf):
    return tf.layers.conv1d(_image(tf, 1), 4, 3, dilation_rate=2, padding="same")


@program
def conv2d_dilated(tf):
    return tf.layers.conv2d(_image(tf, 2), 4, 3, dilation_rate=(2, 1))


@program
def conv2d_dilated_same(tf):
    layer = tf.layers.Conv2D(4, 3, dilation_rate=(2, 3), padding="same")
    return layer(_image(tf, 2)), layer(_image(tf, 2))


@program
def conv2d_dilated_open(tf):
    x = tf.placeholder(tf.float32, [None, None, None, 3])
    x = tf.slice(x, [0, 0, 0, 0], [-1, -1, -1, 3])
    x.set_shape([None, None, None, 3])
    return tf.layers.conv2d(x, 4, 3, dilation_rate=2, padding="same")


@program
def conv3d_dilated(tf):
    return tf.layers.conv3d(_image(tf, 3), 4, 2, dilation_rate=2)


@program
def conv2d_full(tf):
    return tf.layers.conv2d(
        _image(tf, 2), 4, (3, 2), (1, 2), "same", activation=tf.nn.relu,
        kernel_initializer=tf.truncated_normal_initializer(stddev=0.1),
        bias_initializer=tf.constant_initializer(0.1), kernel_regularizer=tf.nn.l2_loss,
        activity_regularizer=tf.reduce_sum, name="conv",
    )  # fmt: skip


@program
def conv2d_reused(tf):
    x = _image(tf, 2)
    a = tf.layers.conv2d(x, 3, 3, padding="same", name="c")
    b = tf.layers.conv2d(a, 3, 3, padding="same", name="c", reuse=True)
    return a, b


@program
def conv2d_transpose(tf):
    a = tf.layers.conv2d_transpose(_image(tf, 2), 4, 3, 2, "same", activation=tf.nn.tanh)
    return a, tf.layers.conv2d_transpose(_image(tf, 2), 4, 3, 2, name="t")


@program
def conv3d_transpose(tf):
    a = tf.layers.conv3d_transpose(_image(tf, 3), 2, 2, 2, "same", activation=tf.nn.tanh)
    return a, tf.layers.conv3d_transpose(_image(tf, 3), 2, 2, 1, use_bias=False)


@program
def separable_conv2d(tf):
    a = tf.layers.separable_conv2d(_image(tf, 2), 4, 3, activation=tf.nn.relu)
    b = tf.layers.separable_conv2d(
        _image(tf, 2), 4, 3, 2, "same", depth_multiplier=2, use_bias=False,
        depthwise_regularizer=tf.nn.l2_loss, pointwise_regularizer=tf.nn.l2_loss,
    )  # fmt: skip
    return a, b


@program
def separable_conv2d_dilated(tf):
    return tf.layers.separable_conv2d(_image(tf, 2), 4, 3, dilation_rate=2)


@program
def separable_conv1d(tf):
    a = tf.layers.separable_conv1d(_image(tf, 1), 4, 3, activation=tf.nn.relu)
    return a, tf.layers.separable_conv1d(_image(tf, 1), 4, 3, 2, "same", name="s")


@program
def conv_channels_first(tf):
    # No CPU has kernels for it.
    return [
        getattr(tf.layers, f"conv{rank}d")(
            _image(tf, rank, True), 4, 3, data_format="channels_first", name=f"c{rank}"
        )
        for rank in (1, 2, 3)
    ]


@program
def pools(tf):
    made = []
    for rank in (1, 2, 3):
        for kind in ("max", "average"):
            function = getattr(tf.layers, f"{kind}_pooling{rank}d")
            made.append(function(_image(tf, rank), 3, 2))
            made.append(function(_image(tf, rank), 2, 1, padding="same", name=f"p{len(made)}"))
    return made


@program
def lenet(tf):
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], name="images")
    h = tf.layers.conv2d(x, 6, 5, padding="same", activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    h = tf.layers.conv2d(h, 16, 5, activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(inputs=h, pool_size=[2, 2], strides=2)
    h = tf.layers.flatten(h)
    h = tf.layers.dense(h, 32, tf.nn.relu)
    h = tf.layers.dropout(h, 0.4, training=False)
    logits = tf.layers.dense(h, 10)
    loss = tf.losses.sparse_softmax_cross_entropy(tf.zeros([3], tf.int32), logits)
    tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return logits, loss


@program
def error_rank(tf):
    return tf.layers.conv2d(_image(tf, 1), 4, 3)


@program
def error_channels(tf):
    return tf.layers.conv2d(tf.placeholder(tf.float32, [None, 4, 4, None]), 4, 3)


@program
def error_kernel_size(tf):
    return tf.layers.conv2d(_image(tf, 2), 4, (3, 3, 3))


@program
def error_padding(tf):
    return tf.layers.conv2d(_image(tf, 2), 4, 3, padding="full")


@program
def error_data_format(tf):
    return tf.layers.conv2d(_image(tf, 2), 4, 3, data_format="NHWC")


@program
def error_causal(tf):
    return tf.layers.conv2d(_image(tf, 2), 4, 3, padding="causal")


@program
def error_strides_and_dilation(tf):
    return tf.layers.conv2d(_image(tf, 2), 4, 3, 2, dilation_rate=2)


@program
def error_pool_strides(tf):
    return tf.layers.max_pooling2d(_image(tf, 2), 2, None)

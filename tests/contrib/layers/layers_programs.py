"""Programs of ``tf.contrib.layers``, for Penstock and TensorFlow 1.15 (see ``programs``)."""


def _images(tf, channels=3, size=8):
    return tf.placeholder(tf.float32, [None, size, size, channels], name="images")


def _rows(tf, width=6):
    return tf.placeholder(tf.float32, [None, width], name="rows")


def _ends(tf, collection="ends"):
    """The end points of a collection, whose names are nodes' names here."""
    found = tf.contrib.slim.utils.convert_collection_to_dict(collection)
    return [tf.identity(value, name="end_" + key.replace("/", "-")) for key, value in found.items()]


def fully(tf):
    return tf.contrib.layers.fully_connected(_rows(tf), 4)


def fully_all(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [2, 3, 5])
    made = layers.fully_connected(
        x,
        4,
        activation_fn=tf.nn.tanh,
        weights_regularizer=layers.l2_regularizer(0.1),
        biases_regularizer=layers.l1_regularizer(0.2),
        variables_collections={"weights": ["w"], "biases": ["b", "w"]},
        outputs_collections="ends",
        scope="mine",
    )
    return [made] + _ends(tf)


def fully_normalized(tf):
    layers = tf.contrib.layers
    return layers.fully_connected(
        _rows(tf),
        4,
        normalizer_fn=layers.batch_norm,
        normalizer_params={"scale": True, "is_training": True},
    )


def fully_reused(tf):
    layers = tf.contrib.layers
    x = _rows(tf)
    with tf.variable_scope("a"):
        one = layers.fully_connected(x, 4, scope="fc")
        two = layers.fully_connected(x, 4, scope="fc", reuse=True)
    with tf.variable_scope("a", reuse=True):
        return [one, two, layers.fully_connected(x, 4, scope="fc")]


def fully_partials(tf):
    layers = tf.contrib.layers
    x = _rows(tf)
    return [f(x, 2) for f in (layers.relu, layers.relu6, layers.elu, layers.linear)]


def fully_untrained(tf):
    return tf.contrib.layers.fully_connected(_rows(tf), 2, trainable=False, biases_initializer=None)


def fully_partitioned(tf):
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        return tf.contrib.layers.fully_connected(_rows(tf), 4, variables_collections=["v"])


def biased(tf):
    layers = tf.contrib.layers
    return layers.bias_add(
        _images(tf),
        activation_fn=tf.nn.relu,
        initializer=tf.constant_initializer(0.5),
        regularizer=layers.l2_regularizer(0.5),
        outputs_collections=["ends"],
    )


def legacy(tf):
    layers = tf.contrib.layers
    one = layers.legacy_fully_connected(_rows(tf), 4, activation_fn=tf.nn.relu)
    return [layers.legacy_linear(tf.placeholder(tf.float32, [None, 2, 5]), 3), one]


def conv(tf):
    return tf.contrib.layers.conv2d(_images(tf), 4, 3)


def conv_all(tf):
    layers = tf.contrib.layers
    made = layers.convolution2d(
        _images(tf),
        4,
        [3, 2],
        stride=2,
        padding="VALID",
        activation_fn=None,
        weights_initializer=layers.variance_scaling_initializer(seed=3),
        weights_regularizer=layers.l2_regularizer(0.1),
        biases_initializer=None,
        variables_collections=["v"],
        outputs_collections="ends",
        scope="c",
    )
    return [made] + _ends(tf)


def conv_rate(tf):
    return tf.contrib.layers.conv2d(_images(tf), 4, 3, rate=2)


def conv_others(tf):
    layers = tf.contrib.layers
    line = tf.placeholder(tf.float32, [None, 9, 2])
    cube = tf.placeholder(tf.float32, [None, 4, 4, 4, 2])
    return [layers.conv1d(line, 3, 2), layers.conv3d(cube, 3, 2), layers.convolution(line, 2, 3)]


def conv_normalized(tf):
    layers = tf.contrib.layers
    scope = [layers.conv2d, layers.fully_connected]
    with tf.contrib.framework.arg_scope(
        scope,
        normalizer_fn=layers.batch_norm,
        normalizer_params={"is_training": False, "decay": 0.9},
        weights_regularizer=layers.l2_regularizer(1e-3),
    ):
        with tf.contrib.framework.arg_scope([layers.conv2d], stride=2):
            net = layers.conv2d(_images(tf), 4, 3, scope="one")
            net = layers.conv2d(net, 4, 3, scope="two", activation_fn=None)
        return layers.fully_connected(layers.flatten(net), 3)


def conv_transposed(tf):
    layers = tf.contrib.layers
    cube = tf.placeholder(tf.float32, [2, 4, 4, 4, 2])
    return [
        layers.conv2d_transpose(_images(tf), 4, 3, stride=2, outputs_collections="ends"),
        layers.conv2d_transpose(_images(tf), 4, 3, normalizer_fn=layers.batch_norm),
        layers.conv3d_transpose(cube, 3, 2),
    ]


def conv_plane(tf):
    layers = tf.contrib.layers
    return [
        layers.conv2d_in_plane(_images(tf), 3, outputs_collections="ends"),
        layers.conv2d_in_plane(_images(tf), [2, 3], stride=2, normalizer_fn=layers.batch_norm),
    ]


def separable(tf):
    layers = tf.contrib.layers
    made = layers.separable_conv2d(
        _images(tf),
        4,
        3,
        depth_multiplier=2,
        variables_collections=["v"],
        weights_regularizer=layers.l2_regularizer(0.1),
        outputs_collections="ends",
    )
    return [made, layers.separable_conv2d(made, 5, [3, 3], 1, normalizer_fn=layers.batch_norm)]


def depthwise(tf):
    layers = tf.contrib.layers
    made = layers.separable_conv2d(
        _images(tf),
        None,
        3,
        depth_multiplier=2,
        weights_regularizer=layers.l2_regularizer(0.1),
        variables_collections=["v"],
        outputs_collections="ends",
    )
    return layers.separable_conv2d(
        made, None, [3, 3], 1, stride=2, normalizer_fn=layers.batch_norm, scope="dw"
    )


def pools(tf):
    layers = tf.contrib.layers
    x = _images(tf)
    cube = tf.placeholder(tf.float32, [None, 4, 4, 4, 2])
    made = [
        layers.max_pool2d(x, 2, outputs_collections="ends"),
        layers.avg_pool2d(x, [3, 3], stride=1, padding="SAME", scope="avg"),
        layers.max_pool3d(cube, 2),
        layers.avg_pool3d(cube, 2),
        tf.contrib.slim.pool(x, [2, 2], "MAX", outputs_collections="ends"),
        tf.contrib.slim.pool(x, 2, "AVG", dilation_rate=2, scope="p"),
    ]
    return made + _ends(tf)


def norm(tf):
    return tf.contrib.layers.batch_norm(_images(tf))


def norm_all(tf):
    layers = tf.contrib.layers
    made = layers.batch_norm(
        _images(tf),
        decay=0.9,
        scale=True,
        epsilon=0.01,
        activation_fn=tf.nn.relu,
        param_initializers={"gamma": tf.constant_initializer(0.5)},
        param_regularizers={"gamma": layers.l2_regularizer(0.1)},
        outputs_collections="ends",
        variables_collections={"gamma": ["g"], "moving_mean": ["m"]},
        scope="bn",
    )
    return [made] + _ends(tf)


def norm_forced(tf):
    return tf.contrib.layers.batch_norm(_images(tf), updates_collections=None, scale=True)


def norm_forced_placeholder(tf):
    training = tf.placeholder(tf.bool, [])
    return tf.contrib.layers.batch_norm(
        _images(tf), updates_collections=None, is_training=training, center=False
    )


def norm_placeholder(tf):
    return tf.contrib.layers.batch_norm(_images(tf), is_training=tf.placeholder(tf.bool, []))


def norm_elsewhere(tf):
    training = tf.placeholder(tf.bool, [])
    return [
        tf.contrib.layers.batch_norm(_images(tf), updates_collections="mine", scope="a"),
        tf.contrib.layers.batch_norm(
            _images(tf), updates_collections="mine", is_training=training, scope="b"
        ),
        tf.contrib.layers.batch_norm(
            _images(tf), updates_collections="mine", is_training=False, scope="c"
        ),
    ]


def norm_rows(tf):
    return tf.contrib.layers.batch_norm(_rows(tf), activation_fn=tf.nn.relu)


def norm_rows_placeholder(tf):
    training = tf.placeholder(tf.bool, [])
    return tf.contrib.layers.batch_norm(_rows(tf), is_training=training, scale=True)


def norm_debiased(tf):
    return tf.contrib.layers.batch_norm(_images(tf), zero_debias_moving_mean=True)


def norm_formula(tf):
    layers = tf.contrib.layers
    training = tf.placeholder(tf.bool, [])
    return [
        layers.batch_norm(_images(tf), fused=False, scope="a"),
        layers.batch_norm(_images(tf), fused=False, updates_collections=None, scope="b"),
        layers.batch_norm(
            _images(tf), fused=False, updates_collections=None, is_training=training, scope="c"
        ),
        layers.batch_norm(
            _rows(tf), fused=False, updates_collections="u", is_training=training, scope="d"
        ),
        layers.batch_norm(
            _images(tf),
            fused=False,
            updates_collections=None,
            data_format="NCHW",
            scale=True,
            is_training=False,
            scope="e",
        ),
    ]


def norm_weights(tf):
    weights = tf.abs(tf.placeholder(tf.float32, [None])) + 0.5
    return [
        tf.contrib.layers.batch_norm(_images(tf), batch_weights=weights, scale=True, scope="a"),
        tf.contrib.layers.batch_norm(
            _rows(tf), batch_weights=weights, data_format="NCHW", scope="b"
        ),
    ]


def norm_sequence(tf):
    x = tf.placeholder(tf.float32, [None, 7, 3])
    return [
        tf.contrib.layers.batch_norm(x),
        tf.contrib.layers.batch_norm(x, updates_collections=None),
    ]


def norm_reused(tf):
    x = _images(tf)
    one = tf.contrib.layers.batch_norm(x, scope="bn")
    return [one, tf.contrib.layers.batch_norm(x, scope="bn", reuse=True, is_training=False)]


def norm_renorm(tf):
    return tf.contrib.layers.batch_norm(_rows(tf), renorm=True)


def layer_norm(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 7, 3])
    made = [
        layers.layer_norm(_rows(tf), outputs_collections="ends"),
        layers.layer_norm(x, begin_norm_axis=-1, activation_fn=tf.nn.relu),
        layers.layer_norm(x, center=False, begin_params_axis=1, variables_collections=["v"]),
    ]
    return made + _ends(tf)


def instance_norm(tf):
    layers = tf.contrib.layers
    channels = tf.placeholder(tf.float32, [None, 3, 5, 5])
    return [
        layers.instance_norm(_images(tf), activation_fn=tf.nn.relu, outputs_collections="ends"),
        layers.instance_norm(channels, data_format="NCHW", scale=False),
    ]


def group_norm(tf):
    layers = tf.contrib.layers
    fixed = tf.placeholder(tf.float32, [2, 4, 4, 6])
    channels = tf.placeholder(tf.float32, [2, 6, 4, 4])
    return [
        layers.group_norm(_images(tf, 6), groups=3, outputs_collections="ends"),
        layers.group_norm(fixed, groups=2, activation_fn=tf.nn.relu),
        layers.group_norm(
            channels, groups=2, channels_axis=-3, reduction_axes=[-2, -1], mean_close_to_zero=True
        ),
    ]


def unit_norm(tf):
    x = tf.placeholder(tf.float32, [None, 7, 3])
    return [tf.contrib.layers.unit_norm(x, dim) for dim in (0, 1, 2)]


def dropped(tf):
    layers = tf.contrib.layers
    training = tf.placeholder(tf.bool, [])
    made = [
        layers.dropout(_rows(tf), outputs_collections="ends"),
        layers.dropout(_rows(tf), 0.8, is_training=False, scope="drop"),
        layers.dropout(_rows(tf), 0.8, noise_shape=[None, 1], is_training=training),
        layers.dropout(_rows(tf), tf.placeholder(tf.float32, [])),
    ]
    return made + _ends(tf)


def shaped(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [None, 7, 6])
    labels = tf.placeholder(tf.int32, [None])
    made = [
        layers.flatten(x, outputs_collections="ends"),
        layers.one_hot_encoding(labels, 4, outputs_collections="ends"),
        layers.one_hot_encoding(tf.placeholder(tf.int64, [None]), 4, 2.0, -1.0, scope="oh"),
        layers.softmax(x),
        layers.maxout(x, 2),
        layers.maxout(x, 7, axis=1, scope="m"),
    ]
    return made + _ends(tf)


def sequences(tf):
    layers = tf.contrib.layers
    x = tf.placeholder(tf.float32, [2, 4, 5, 3])
    sequence = layers.images_to_sequence(x)
    sparse = layers.dense_to_sparse(tf.placeholder(tf.int64, [None, 3]))
    return [
        sequence,
        layers.sequence_to_images(sequence, 4),
        sparse.values,
        layers.spatial_softmax(tf.placeholder(tf.float32, [None, None, None, 3])),
        layers.spatial_softmax(x, temperature=0.5, data_format="NCHW", name="s"),
    ]


def repeated(tf):
    layers = tf.contrib.layers
    net = layers.repeat(_images(tf), 2, layers.conv2d, 4, 3, scope="conv1")
    net = layers.repeat(net, 2, layers.conv2d, 4, 3)
    net = layers.stack(net, layers.conv2d, [(3, [1, 1]), (2, [3, 3])], padding="VALID")
    return layers.stack(layers.flatten(net), layers.fully_connected, [5, 4], scope="fc")


def embedded(tf):
    layers = tf.contrib.layers
    ids = tf.placeholder(tf.int64, [None, 4])
    return [
        layers.embed_sequence(ids, 10, 3),
        layers.embed_sequence(ids, 10, 3, unique=True, scope="e"),
        layers.embed_sequence(ids, scope="e", reuse=True),
        layers.bow_encoder(ids, 10, 3, sparse_lookup=False),
        layers.bow_encoder(ids, 10, 3, scope="bow"),
    ]


def regularized(tf):
    layers = tf.contrib.layers
    weights = [tf.Variable(tf.ones([3, 2]), name=f"w{i}") for i in range(2)]
    both = layers.sum_regularizer([layers.l1_regularizer(0.5), None, layers.l2_regularizer(0.3)])
    return [
        layers.apply_regularization(layers.l1_l2_regularizer(0.5, 0.3), weights),
        layers.apply_regularization(both, weights),
        layers.apply_regularization(layers.l2_regularizer(0.0), weights),
        layers.l1_regularizer(0.5, scope="mine")(weights[0]),
        layers.l1_l2_regularizer(0.0, 0.3)(weights[0]),
        layers.l1_l2_regularizer(0.4, 0.0, scope="s")(weights[0]),
    ]


def started(tf):
    layers = tf.contrib.layers
    made = []
    for number, shape in enumerate(([4], [4, 6], [3, 3, 4, 6])):
        for uniform in (False, True):
            for mode in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
                start = layers.variance_scaling_initializer(1.5, mode, uniform, seed=1)
                made.append(tf.get_variable(f"v{number}{uniform}{mode}", shape, initializer=start))
        made.append(tf.get_variable(f"x{number}", shape, initializer=layers.xavier_initializer()))
    return [tf.identity(v) for v in made]


def summarized(tf):
    layers = tf.contrib.layers
    y = layers.fully_connected(_rows(tf), 3, outputs_collections=tf.GraphKeys.ACTIVATIONS)
    layers.fully_connected(
        y,
        3,
        activation_fn=tf.nn.relu6,
        outputs_collections=tf.GraphKeys.ACTIVATIONS,
        variables_collections={"weights": [tf.GraphKeys.WEIGHTS]},
    )
    layers.summarize_activations()
    layers.summarize_collection(tf.GraphKeys.WEIGHTS)
    layers.summarize_tensor(tf.reduce_sum(y), tag="total")
    layers.summarize_tensor(tf.reduce_sum(y), tag="total")
    tf.contrib.slim.summarize_variables(name_filter=".*biases")
    return y


def _loss(tf):
    x = tf.contrib.layers.fully_connected(_rows(tf), 3, activation_fn=tf.nn.tanh)
    return tf.reduce_mean(tf.square(tf.contrib.layers.batch_norm(x)))


def optimized(tf):
    step = tf.train.get_or_create_global_step()
    return tf.contrib.layers.optimize_loss(_loss(tf), step, 0.1, "SGD")


def optimized_all(tf):
    layers = tf.contrib.layers
    step = tf.train.get_or_create_global_step()
    return layers.optimize_loss(
        _loss(tf),
        step,
        0.1,
        "Momentum",
        clip_gradients=1.0,
        gradient_multipliers={"fully_connected/weights:0": 2.0},
        learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 10, 0.9),
        summaries=layers.OPTIMIZER_SUMMARIES,
        update_ops=[],
        name="opt",
    )


def optimized_noisy(tf):
    step = tf.train.get_or_create_global_step()
    return tf.contrib.layers.optimize_loss(
        _loss(tf),
        step,
        tf.constant(0.1),
        tf.train.AdamOptimizer,
        gradient_noise_scale=0.1,
        increment_global_step=False,
        colocate_gradients_with_ops=True,
        update_ops=[],
    )


def optimized_given(tf):
    step = tf.train.get_or_create_global_step()
    loss = _loss(tf)
    return tf.contrib.layers.optimize_loss(
        loss,
        step,
        None,
        lambda: tf.train.GradientDescentOptimizer(0.5),
        update_ops=[],
        variables=tf.trainable_variables()[:1],
        summaries=["loss"],
    )


PROGRAMS = {
    key: value
    for key, value in list(globals().items())
    if callable(value) and not key.startswith("_")
}
